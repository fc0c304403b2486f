from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from anthropic.types import MessageParam
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageParam
from openai.types.responses import ResponseFunctionToolCall
from pydantic import TypeAdapter

from toolcrib.call import DIALECTS, Result
from toolcrib.dialects import format_of
from toolcrib.dialects.repair import INTERRUPTED, dialect_of_history, repair
from toolcrib.errors import ReplyError
from toolcrib.wire import Reply

Call = tuple[Any, str, Any]


def nothing(reply: Reply, ordinal: int) -> Result | None:
    return None


def user(dialect: str, words: str = "hi") -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": words}]} if dialect == "gemini" else {"role": "user", "content": words}


def asks(dialect: str, *calls: Call) -> list[dict[str, Any]]:
    """The assistant's message with calls (id, name, arguments)."""
    if dialect == "openai":
        written = [
            {
                "id": i,
                "type": "function",
                "function": {"name": n, "arguments": a if isinstance(a, str) else json.dumps(a)},
            }
            for i, n, a in calls
        ]
        return [{"role": "assistant", "content": None, "tool_calls": written}]
    if dialect == "openai-responses":
        return [
            {"type": "function_call", "call_id": i, "name": n, "arguments": a if isinstance(a, str) else json.dumps(a)}
            for i, n, a in calls
        ]
    if dialect == "anthropic":
        return [
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls],
            }
        ]
    return [{"role": "model", "parts": [{"functionCall": {"id": i, "name": n, "args": a}} for i, n, a in calls]}]


def answers(dialect: str, *answered: tuple[Any, str, str]) -> list[dict[str, Any]]:
    """The results (id, name, text), in one message where the dialect has one."""
    if dialect == "openai":
        return [{"role": "tool", "tool_call_id": i, "content": t} for i, _, t in answered]
    if dialect == "openai-responses":
        return [{"type": "function_call_output", "call_id": i, "output": t} for i, _, t in answered]
    if dialect == "anthropic":
        return [
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": i, "content": t} for i, _, t in answered],
            }
        ]
    parts = [{"functionResponse": {"id": i, "name": n, "response": {"result": t}}} for i, n, t in answered]
    return [{"role": "user", "parts": parts}]


def flat(dialect: str, history: list[dict[str, Any]]) -> list[tuple[str, Any, str]]:
    """A history as (kind, id, words), in order."""
    seen: list[tuple[str, Any, str]] = []
    for message in history:
        if dialect == "openai":
            seen += [("call", c["id"], c["function"]["arguments"]) for c in message.get("tool_calls", ())]
            if message["role"] == "tool":
                seen.append(("result", message["tool_call_id"], message["content"]))
            elif message["role"] != "assistant":
                seen.append(("other", None, str(message["content"])))
        elif dialect == "openai-responses":
            kind = message.get("type")
            if kind == "function_call":
                seen.append(("call", message["call_id"], message["arguments"]))
            elif kind == "function_call_output":
                seen.append(("result", message["call_id"], message["output"]))
            else:
                seen.append(("other", None, str(message.get("content", kind))))
        else:
            blocks = message.get("parts" if dialect == "gemini" else "content")
            for block in blocks if isinstance(blocks, list) else [{"text": blocks}]:
                if "functionCall" in block:
                    seen.append(
                        ("call", block["functionCall"].get("id"), json.dumps(block["functionCall"].get("args")))
                    )
                elif "functionResponse" in block:
                    response = block["functionResponse"]["response"]
                    seen.append(("result", block["functionResponse"].get("id"), next(iter(response.values()))))
                elif block.get("type") == "tool_use":
                    seen.append(("call", block["id"], json.dumps(block["input"])))
                elif block.get("type") == "tool_result":
                    seen.append(("result", block["tool_use_id"], block["content"]))
                else:
                    seen.append(("other", None, block["text"]))
    return seen


def check(dialect: str, history: list[dict[str, Any]]) -> None:
    """Each message's calls are followed at once by exactly their results, in order; ids are unique."""
    pending: list[Any] = []
    ids: list[Any] = []
    answering = False
    for kind, id_, _ in flat(dialect, history):
        if kind == "call":
            assert not (answering and pending)
            answering = False
            pending.append(id_)
            ids.append(id_)
        elif kind == "result":
            answering = True
            assert pending
            assert pending.pop(0) == id_
        else:
            assert not pending
    assert not pending
    assert len(set(ids)) == len(ids)
    assert all(ids)


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def whole(dialect: str) -> list[dict[str, Any]]:
    return [
        user(dialect),
        *asks(dialect, ("c1", "f", {"a": 1}), ("c2", "g", {})),
        *answers(dialect, ("c1", "f", "one"), ("c2", "g", "two")),
        user(dialect, "more"),
        *asks(dialect, ("c3", "f", {})),
        *answers(dialect, ("c3", "f", "three")),
    ]


def test_a_history_in_order_stays_as_it_is_and_is_copied(dialect: str) -> None:
    history = whole(dialect)
    before = copy.deepcopy(history)
    mended = repair(history, dialect, nothing)
    assert mended == before == history
    assert all(one is not other for one, other in zip(mended, history, strict=True))
    assert repair([], dialect, nothing) == []


def test_missing_results_are_asked_for_and_else_said_to_be_unknown(dialect: str) -> None:
    asked: list[tuple[str, int]] = []

    def answer(reply: Reply, ordinal: int) -> Result | None:
        asked.append((reply.calls[ordinal].name, ordinal))
        content = ({"type": "text", "text": "from the book"},)
        return Result(code="ok", state="executed", call_id="k", content=content) if ordinal == 2 else None

    history = [
        user(dialect),
        *asks(dialect, ("c1", "f", {}), ("c2", "g", {}), ("c3", "h", {})),
        *answers(dialect, ("c2", "g", "two")),
        user(dialect, "and?"),
    ]
    mended = repair(history, dialect, answer)
    check(dialect, mended)
    said = [words for kind, _, words in flat(dialect, mended) if kind == "result"]
    assert INTERRUPTED in said[0]
    assert said[1:] == ["two", "from the book"]
    assert asked == [("f", 0), ("h", 2)]
    assert flat(dialect, mended)[-1] == ("other", None, "and?")
    assert repair(mended, dialect, nothing) == mended


def test_the_reply_asked_about_is_the_one_that_was_read(dialect: str) -> None:
    said = asks(dialect, ("c1", "f", {"a": 1}), ("c1", "g", {}))
    read = format_of(dialect).read(said if dialect == "openai-responses" else said[0])
    seen: list[Reply] = []
    repair(said, dialect, lambda reply, ordinal: seen.append(reply))
    assert {reply.digest for reply in seen} == {read.digest}


def test_results_move_next_to_their_calls_in_order_and_other_words_follow(dialect: str) -> None:
    history = [
        *asks(dialect, ("c1", "f", {}), ("c2", "g", {})),
        user(dialect, "wait"),
        *answers(dialect, ("c2", "g", "two")),
        *answers(dialect, ("c1", "f", "one")),
    ]
    mended = repair(history, dialect, nothing)
    check(dialect, mended)
    assert [words for _, _, words in flat(dialect, mended)][2:] == ["one", "two", "wait"]


def test_results_without_an_earlier_call_are_left_out(dialect: str) -> None:
    history = [
        *answers(dialect, ("c9", "f", "lost")),
        user(dialect),
        *asks(dialect, ("c1", "f", {})),
        *answers(dialect, ("c1", "f", "one")),
        *answers(dialect, ("c7", "h", "lost too")),
    ]
    mended = repair(history, dialect, nothing)
    check(dialect, mended)
    assert "lost" not in json.dumps(mended)


def test_a_result_never_answers_a_call_that_came_after_it(dialect: str) -> None:
    history = [*answers(dialect, ("c0", "f", "old")), user(dialect), *asks(dialect, ("c0", "f", {}))]
    mended = repair(history, dialect, nothing)
    check(dialect, mended)
    assert "old" not in json.dumps(mended)
    assert INTERRUPTED in json.dumps(mended)


def test_of_several_results_the_first_true_one_stays(dialect: str) -> None:
    stand_in = repair(asks(dialect, ("c1", "f", {})), dialect, nothing)
    late = answers(dialect, ("c1", "f", "true")) + answers(dialect, ("c1", "f", "again"))
    for history in (stand_in + late, stand_in[:1] + late + stand_in[1:]):
        said = [words for kind, _, words in flat(dialect, repair(history, dialect, nothing)) if kind == "result"]
        assert said == ["true"]


def test_a_stand_in_gives_way_to_what_is_known_since(dialect: str) -> None:
    stand_in = repair(asks(dialect, ("c1", "f", {})), dialect, nothing)
    known = Result(code="ok", state="executed", call_id="k", content=({"type": "text", "text": "it ran"},))
    mended = repair(stand_in, dialect, lambda reply, ordinal: known)
    assert flat(dialect, mended)[1:] == [("result", "c1", "it ran")]


@pytest.mark.parametrize("ids", [("x", "x"), ("", ""), (None, None)])
def test_blank_and_repeated_ids_are_minted_on_both_sides(dialect: str, ids: tuple[Any, Any]) -> None:
    one, two = ids
    history = [
        *asks(dialect, (one, "f", {"n": 1}), (two, "f", {"n": 2})),
        *answers(dialect, (one, "f", "one"), (two, "f", "two")),
    ]
    mended = repair(history, dialect, nothing)
    if dialect == "gemini" and not one:
        assert [words for kind, _, words in flat(dialect, mended) if kind == "result"] == ["one", "two"]
        assert '"id"' not in json.dumps(mended)
    else:
        check(dialect, mended)
        assert [words for kind, _, words in flat(dialect, mended) if kind == "result"] == ["one", "two"]
    assert repair(mended, dialect, nothing) == mended


def test_an_id_used_again_in_a_later_message_is_told_apart(dialect: str) -> None:
    turn = [*asks(dialect, ("call_0", "f", {})), *answers(dialect, ("call_0", "f", "one"))]
    again = [*asks(dialect, ("call_0", "f", {"b": 1})), *answers(dialect, ("call_0", "f", "two"))]
    mended = repair([*turn, user(dialect), *again], dialect, nothing)
    check(dialect, mended)
    assert [words for kind, _, words in flat(dialect, mended) if kind == "result"] == ["one", "two"]
    assert flat(dialect, mended)[0][1] == "call_0"


@pytest.mark.parametrize(("written", "expected"), [(None, {}), ("null", {}), ("", {}), ('"{\\"a\\": 1}"', {"a": 1})])
def test_null_and_twice_encoded_arguments_become_an_object(dialect: str, written: Any, expected: Any) -> None:
    history = [*asks(dialect, ("c1", "f", {})), *answers(dialect, ("c1", "f", "one"))]
    first = history[0]
    if dialect == "openai":
        first["tool_calls"][0]["function"]["arguments"] = written
    elif dialect == "openai-responses":
        first["arguments"] = written
    elif dialect == "anthropic":
        first["content"][0]["input"] = written
    else:
        first["parts"][0]["functionCall"]["args"] = written
    mended = repair(history, dialect, nothing)
    assert json.loads(flat(dialect, mended)[0][2]) in (expected, None if dialect == "gemini" else expected)
    assert repair(mended, dialect, nothing) == mended


def test_system_words_and_unknown_messages_stay(dialect: str) -> None:
    strange = [{"role": "developer", "content": "d"}, {"role": "system", "content": "s"}, {"role": "odd", "x_y": [1]}]
    history = [*strange, *whole(dialect)]
    assert repair(history, dialect, nothing) == history


@pytest.mark.parametrize("wrong", [None, "[]", b"[]", {"messages": []}, 3, ["hi"], [None], [[{}]], [{"a": {1}}]])
def test_what_is_no_list_of_messages_is_named(dialect: str, wrong: Any) -> None:
    with pytest.raises(ReplyError, match="no history"):
        repair(wrong, dialect, nothing)
    with pytest.raises(ReplyError, match="no history"):
        dialect_of_history(wrong)


def test_the_dialect_of_a_history_is_seen(dialect: str) -> None:
    assert dialect_of_history(whole(dialect)) == dialect
    assert dialect_of_history([*whole(dialect)[:2]]) == dialect
    assert dialect_of_history([]) == "openai"
    assert dialect_of_history([{"role": "user", "content": "hi"}]) == "openai"
    assert (
        dialect_of_history([{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}]) == "openai-responses"
    )
    assert dialect_of_history([{"role": "user", "parts": [{"text": "hi"}]}]) == "gemini"


SIZES = st.lists(st.integers(0, 3), min_size=1, max_size=4)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(DIALECTS), SIZES, st.data())
def test_any_mangled_history_is_mended_once_and_for_all(dialect: str, sizes: list[int], data: st.DataObject) -> None:
    history: list[dict[str, Any]] = []
    count = 0
    for size in sizes:
        history.append(user(dialect, f"u{count}"))
        calls = [(f"c{count + n}", f"f{n}", {"n": count + n}) for n in range(size)]
        count += size
        if calls:
            history += asks(dialect, *calls) + answers(dialect, *((i, n, f"result of {i}") for i, n, _ in calls))
    picked = data.draw(st.lists(st.integers(0, len(history) - 1), max_size=len(history) + 3))
    keep = data.draw(st.booleans())
    mangled = [history[index] for index in (sorted(picked) if keep else picked)]
    before = copy.deepcopy(mangled)
    mended = repair(mangled, dialect, nothing)
    assert mangled == before
    check(dialect, mended)
    assert repair(mended, dialect, nothing) == mended
    seen = flat(dialect, mended)
    calls = [json.loads(words)["n"] for kind, _, words in seen if kind == "call"]
    results = [words for kind, _, words in seen if kind == "result"]
    for number, said in zip(calls, results, strict=True):
        assert said == f"result of c{number}" or INTERRUPTED in said
    others = [said for kind, _, said in flat(dialect, mangled) if kind == "other"]
    assert [said for kind, _, said in seen if kind == "other"] == others


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["call f", "call fg", "call ff", "f", "g", "f+g", "words", "f+words"]), max_size=9))
def test_gemini_histories_without_ids_are_mended_once_and_for_all(kinds: list[str]) -> None:
    history: list[dict[str, Any]] = []
    for number, kind in enumerate(kinds):
        if kind.startswith("call "):
            history.append({"role": "model", "parts": [{"functionCall": {"name": name}} for name in kind[5:]]})
            continue
        named = {name: {"functionResponse": {"name": name, "response": {"result": number}}} for name in "fg"}
        history.append({"role": "user", "parts": [named.get(part, {"text": part}) for part in kind.split("+")]})
    mended = repair(history, "gemini", nothing)
    assert repair(mended, "gemini", nothing) == mended
    for index, message in enumerate(mended):
        if message["role"] == "model":
            following = mended[index + 1]
            names = [part["functionCall"]["name"] for part in message["parts"]]
            given = [part["functionResponse"]["name"] for part in following["parts"] if "functionResponse" in part]
            assert given == names
    parts = [part for message in mended for part in message["parts"]]
    assert sum("functionCall" in part for part in parts) == sum("functionResponse" in part for part in parts)


def test_names_tell_apart_the_results_of_calls_that_share_an_id() -> None:
    said = asks("openai", ("x", "f", {}), ("x", "g", {}))
    two, one = ({"role": "tool", "tool_call_id": "x", "name": n, "content": n} for n in ("g", "f"))
    mended = repair([*said, two, one], "openai", nothing)
    assert [message["content"] for message in mended[1:]] == ["f", "g"]


def test_anthropic_puts_results_before_the_words_beside_them() -> None:
    (said,) = asks("anthropic", ("c1", "f", {}), ("c2", "g", {}))
    mixed = {"role": "user", "content": [
        {"type": "text", "text": "here"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "two"},
        {"type": "tool_result", "tool_use_id": "c1", "content": "one", "cache_control": {"type": "ephemeral"}},
    ]}  # fmt: skip
    mended = repair([said, mixed], "anthropic", nothing)
    assert mended[1]["content"] == [mixed["content"][2], mixed["content"][1], mixed["content"][0]]
    assert repair(mended, "anthropic", nothing) == mended
    TypeAdapter(list[MessageParam]).validate_python(mended)


def test_anthropic_leaves_provider_run_blocks_and_signatures_alone() -> None:
    said = {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
    ]}  # fmt: skip
    mended = repair([said], "anthropic", nothing)
    assert mended[0] == said
    assert mended[1]["content"][0]["is_error"] is True


def test_gemini_pairs_by_name_and_order_where_there_are_no_ids() -> None:
    said = {"role": "model", "parts": [
        {"functionCall": {"name": "f", "args": {"n": 1}}, "thoughtSignature": "AA=="},
        {"functionCall": {"name": "f", "args": {"n": 2}}},
        {"functionCall": {"name": "catalog_get"}},
    ]}  # fmt: skip
    given = {"role": "user", "parts": [
        {"functionResponse": {"name": "catalog.get", "response": {"result": "three"}}},
        {"text": "so"},
        {"functionResponse": {"name": "f", "response": {"result": "one"}}},
    ]}  # fmt: skip
    mended = repair([said, given], "gemini", nothing)
    assert mended[0] == said
    parts = mended[1]["parts"]
    assert [part["functionResponse"]["name"] for part in parts[:3]] == ["f", "f", "catalog_get"]
    assert parts[0]["functionResponse"]["response"] == {"result": "one"}
    assert INTERRUPTED in parts[1]["functionResponse"]["response"]["error"]
    assert parts[3] == {"text": "so"}
    assert len(mended) == 2
    assert repair(mended, "gemini", nothing) == mended
    for content in mended:
        types.Content.model_validate(content)


def test_gemini_takes_the_sdks_contents_and_their_field_names() -> None:
    content = types.Content(
        role="model",
        parts=[types.Part(function_call=types.FunctionCall(name="f", args={"a_b": 1}), thought_signature=b"\xff\xfe")],
    )
    mended = repair([content], "gemini", nothing)
    assert mended[0] == {
        "role": "model",
        "parts": [{"functionCall": {"name": "f", "args": {"a_b": 1}}, "thoughtSignature": "//4="}],
    }
    assert len(mended[1]["parts"]) == 1


def test_sdk_objects_of_openai_are_taken_as_they_are() -> None:
    message = ChatCompletionMessage.model_validate(asks("openai", ("c1", "f", {}))[0])
    mended = repair([{"role": "user", "content": "hi"}, message], "openai", nothing)
    check("openai", mended)
    TypeAdapter(list[ChatCompletionMessageParam]).validate_python(mended)
    item = ResponseFunctionToolCall(type="function_call", call_id="c1", name="f", arguments="{}")
    check("openai-responses", repair([item], "openai-responses", nothing))


def test_a_legacy_function_call_gets_a_function_message() -> None:
    said = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "null"}}
    mended = repair([said, {"role": "user", "content": "?"}], "openai", nothing)
    assert mended[0]["function_call"]["arguments"] == "{}"
    assert (mended[1]["role"], mended[1]["name"]) == ("function", "f")
    kept = repair(
        [said, {"role": "user", "content": "?"}, {"role": "function", "name": "f", "content": "1"}], "openai", nothing
    )
    assert [message["role"] for message in kept] == ["assistant", "function", "user"]


def test_an_empty_list_of_calls_is_left_out() -> None:
    assert repair([{"role": "assistant", "content": "a", "tool_calls": []}], "openai", nothing) == [
        {"role": "assistant", "content": "a"}
    ]


def test_reasoning_stays_with_what_it_led_to_and_goes_without_it() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "one"}
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
    fine = [reasoning, call, output, reasoning | {"id": "rs_2"}, message]
    assert repair(fine, "openai-responses", nothing) == fine
    dangling = [reasoning, call, user("openai-responses"), output, reasoning | {"id": "rs_3"}]
    assert repair(dangling, "openai-responses", nothing) == [reasoning, call, output, user("openai-responses")]
    assert repair([reasoning, user("openai-responses")], "openai-responses", nothing) == [user("openai-responses")]


def test_an_item_listed_twice_goes_once_and_a_reused_item_id_is_dropped() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "one"}
    assert repair([call, output, call, output], "openai-responses", nothing) == [call, output]
    other = call | {"call_id": "call_2", "arguments": '{"a":1}'}
    mended = repair([call, other, output], "openai-responses", nothing)
    assert [item.get("id") for item in mended[:2]] == ["fc_1", None]
    check("openai-responses", mended)


def test_items_of_other_tools_and_results_kept_by_reference_stay() -> None:
    others = [
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "computer_call", "id": "cu_1", "call_id": "k", "action": {}},
        {"type": "computer_call_output", "call_id": "k", "output": {}},
    ]
    assert repair(others, "openai-responses", nothing) == others
    kept = [
        {"type": "item_reference", "id": "fc_9"},
        {"type": "function_call_output", "call_id": "call_9", "output": "x"},
    ]
    assert repair(kept, "openai-responses", nothing) == kept
