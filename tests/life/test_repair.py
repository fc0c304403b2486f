"""A history is mended from the journal of whoever it belongs to, and of nobody else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolcrib import Crib, tool


@tool(read_only=True)
async def look(what: str) -> str:
    return f"saw {what}"


def asked(what: str, id: str) -> dict[str, Any]:
    function = {"name": "look", "arguments": json.dumps({"what": what})}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]}


async def test_a_missing_result_is_filled_with_what_happened(tmp_path: Path) -> None:
    async with Crib([look], db=f"sqlite:///{tmp_path}/crib.db") as crib:
        await crib.turn(user="ada", conversation="c").run(asked("one", "a"))
        await crib.turn(user="ada", conversation="c").run(asked("two", "a"))
        await crib.turn(user="ada", conversation="d").run(asked("three", "b"))
        history = [asked("one", "a"), asked("two", "x")]
        mended = await crib.repair(history, user="ada", conversation="c")
        assert [each.get("content") for each in mended] == [None, "saw one", None, mended[3]["content"]]
        assert "saw" not in mended[3]["content"], "what the journal does not know is not guessed"
        assert await crib.repair(mended, user="ada", conversation="c") == mended
        assert (await crib.repair([asked("three", "b")], user="ada"))[1]["content"] == "saw three"


async def test_no_id_in_a_history_reaches_another_users_calls(tmp_path: Path) -> None:
    async with Crib([look], db=f"sqlite:///{tmp_path}/crib.db") as crib:
        await crib.turn(user="ada", tenant="t", conversation="c").run(asked("secret", "a"))
        for who in ({}, {"user": "eve"}, {"user": "ada"}, {"tenant": "t"}, {"user": "eve", "conversation": "c"}):
            mended = await crib.repair([asked("secret", "a")], "openai", **who)  # type: ignore[arg-type]
            assert "saw" not in mended[1]["content"], who
        mended = await crib.repair([asked("secret", "a")], conversation="c")
        assert mended[1]["content"] == "saw secret", "the program names the conversation"
        mended = await crib.repair([asked("secret", "a")], user="ada", tenant="t")
        assert mended[1]["content"] == "saw secret"


async def test_an_id_that_names_several_calls_names_none(tmp_path: Path) -> None:
    async with Crib([look], db=f"sqlite:///{tmp_path}/crib.db") as crib:
        for what in ("one", "two"):
            await crib.turn(user="ada").run(asked(what, "call_0"))
        mended = await crib.repair([asked("two", "call_0")], user="ada")
        assert "saw" not in mended[1]["content"]
