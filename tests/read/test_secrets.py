from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from toolcrib.call import Tool
from toolcrib.read.preview import secret_name
from toolcrib.read.reader import Reader

VALUE = "hunter2-do-not-show"


@pytest.mark.parametrize(
    "name",
    ["password", "Password", "db_password", "userPassword", "token", "access_token", "accessToken", "api_key", "apiKey",
     "API_KEY", "x-api-key", "apikey", "secret", "client_secret", "clientSecret", "private_key", "passphrase",
     "credentials", "Authorization", "pwd"],
)  # fmt: skip
def test_names_of_secrets_are_known(name: str) -> None:
    assert secret_name(name)


@pytest.mark.parametrize(
    "name", ["city", "max_tokens", "tokens", "keyboard", "key", "monkey", "passenger", "compass", "secretary"]
)
def test_other_names_are_not_taken_for_secrets(name: str) -> None:
    assert not secret_name(name)


@pytest.mark.parametrize(
    "given",
    [
        {"password": [VALUE]}, {"password": {"x": VALUE}}, {"pin": [VALUE]}, {"password": VALUE, "n": "x"},
        {"pin": VALUE, "unknown": 1}, {"inner": {"token": [VALUE]}}, {"inner": [{"token": VALUE}]},
        {"inner": json.dumps({"token": [VALUE]})}, {"inner": "token: " + VALUE}, {"Password=": [VALUE]},
        {"n": {"api_key": VALUE}}, {"password": VALUE, "Password": VALUE},
    ],
)  # fmt: skip
def test_a_secret_is_never_echoed(schema_tool: Callable[..., Tool], given: dict[str, Any]) -> None:
    tool = schema_tool(
        {
            "password": {"type": "string"},
            "pin": {"type": "string", "format": "password"},
            "n": {"type": "integer"},
            "inner": {"type": "object", "properties": {"token": {"type": "string"}}},
        }
    )
    problem = Reader(tool).read(json.dumps(given)).problem
    assert problem is not None
    assert VALUE not in problem


@pytest.mark.parametrize(
    "text",
    ['{"password": "' + VALUE, '{"password": "' + VALUE + '"} x', "password=" + VALUE,
     f'{{"password":"{VALUE}","password":"x"}}',
     f'{{"password":"{VALUE}"}}{{"password":"x"}}', f'["password", "{VALUE}"]', json.dumps(f"password {VALUE}")],
)  # fmt: skip
def test_broken_text_that_may_hold_a_secret_is_not_quoted(schema_tool: Callable[..., Tool], text: str) -> None:
    problem = Reader(schema_tool({"password": {"type": "string"}})).read(text).problem
    assert problem is not None
    assert VALUE not in problem


def test_a_secret_that_is_marked_by_the_schema_alone_is_not_quoted_either(schema_tool: Callable[..., Tool]) -> None:
    reader = Reader(schema_tool({"phrase": {"type": "integer", "writeOnly": True}}))
    for text in (f'{{"phrase": "{VALUE}"}}', f'{{"phrase": "{VALUE}', f'{{"phrase: "{VALUE}"}}'):
        problem = reader.read(text).problem
        assert problem is not None
        assert VALUE not in problem


def test_a_note_on_a_secret_does_not_show_it(schema_tool: Callable[..., Tool]) -> None:
    reading = Reader(schema_tool({"otp": {"type": "integer"}})).read('{"otp": "918273"}')
    assert reading.arguments == {"otp": 918273}
    assert len(reading.notes) == 1
    assert "918273" not in reading.notes[0]


def test_what_a_validator_says_of_a_secret_is_scrubbed(python_tool: Callable[..., Tool]) -> None:
    def refuse(value: str) -> str:
        raise ValueError(f"{value} is too weak")

    tool = python_tool({"password": Annotated[str, AfterValidator(refuse)]})
    problem = Reader(tool).read(json.dumps({"password": VALUE})).problem
    assert problem is not None
    assert "is too weak" in problem
    assert VALUE not in problem


def test_a_problem_is_bounded_and_printable(schema_tool: Callable[..., Tool]) -> None:
    given = {f"name\n{index}\u202e": "x" * 10_000 for index in range(500)}
    problem = (
        Reader(schema_tool({"a": {"enum": ["y" * 50_000]}})).read(json.dumps({**given, "a": "z" * 50_000})).problem
    )
    assert problem is not None
    assert len(problem) <= 4000
    assert "\u202e" not in problem
