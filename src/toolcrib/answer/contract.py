"""A tool's declared output schema, checked on what its body returned."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic_core import from_json, to_json


def violation(schema: dict[str, Any], value: Any) -> str | None:
    """What is wrong with the value, for the model; None when it keeps the contract."""
    validator = _validator(to_json(schema))
    error = next(iter(validator.iter_errors(value)), None)
    if error is None:
        return None
    where = ".".join(str(part) for part in error.instance_path) or "the answer"
    return f"{where} does not keep the tool's declared output schema"


@lru_cache(maxsize=1024)
def _validator(schema: bytes) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(from_json(schema))
