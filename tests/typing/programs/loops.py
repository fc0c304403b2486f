"""Agent loops against the providers' own SDKs, for the type checkers: never run."""

from __future__ import annotations

from anthropic import AsyncAnthropic
from anthropic.types import MessageParam
from openai import AsyncOpenAI, OpenAI
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputParam

from toolcrib import Call, Caller, Crib, Deny, Event, Injected, Result, Tool, tool


@tool(read_only=True)
def disk_usage(mount_point: str = "/") -> dict[str, int]:
    """How full a disk is."""
    return {"free": len(mount_point)}


@tool
async def pay(amount: int, caller: Injected[Caller]) -> str:
    """Pay."""
    return f"{caller.user} paid {amount}"


def policy(call: Call) -> Deny | None:
    return Deny("no") if call.tool == "pay" else None


async def careful(call: Call) -> None:
    return None


def guard(call: Call) -> str | None:
    return None


def watch(event: Event) -> None:
    print(event.name, event.call.id)


free: dict[str, int] = disk_usage("/data")
definition: Tool = Tool.of(disk_usage)
crib = Crib(
    [disk_usage, pay, "toolbox/"], db="sqlite:///crib.db", policies=[policy, careful], guards=[guard], on=[watch]
)


async def openai_chat(client: AsyncOpenAI) -> None:
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "how full?"}]
    turn = crib.turn(user="ada", conversation="c1")
    while True:
        reply = await client.chat.completions.create(model="m", messages=messages, **await turn.request("openai"))
        new = await turn.run(reply)
        messages += new
        if new.done or new.waiting:
            break


async def openai_responses(client: AsyncOpenAI) -> None:
    items: ResponseInputParam = [{"role": "user", "content": "how full?"}]
    turn = crib.turn(user="ada")
    reply = await client.responses.create(model="m", input=items, **await turn.request("openai-responses"))
    items += await turn.run(reply)


async def anthropic(client: AsyncAnthropic) -> None:
    messages: list[MessageParam] = [{"role": "user", "content": "how full?"}]
    turn = crib.turn(user="ada")
    reply = await client.messages.create(model="m", max_tokens=9, messages=messages, **await turn.request("anthropic"))
    messages += await turn.run(reply)
    tools = await turn.tools("anthropic")
    await client.messages.create(model="m", max_tokens=9, messages=messages, tools=tools)


async def streamed(client: AsyncOpenAI) -> None:
    turn = crib.turn()
    stream = await client.chat.completions.create(model="m", messages=[], stream=True, **await turn.request("openai"))
    async with turn.stream(stream) as events:
        async for event in events:
            print(event.name, event.text)
    print(events.messages.results)


async def one_call() -> None:
    result: Result = await crib.call(disk_usage, {"mount_point": "/"}, user="ada", headless=True)
    print(result.unwrap(), result.ok, result.code, result.text)
    await crib.call("pay", '{"amount": 1}')
    print(await crib.repair([{"role": "user", "content": "x"}], "openai", conversation="c1"))


def synchronous(client: OpenAI) -> None:
    messages: list[ChatCompletionMessageParam] = []
    with Crib([disk_usage]) as face:
        turn = face.turn(user="ada")
        reply = client.chat.completions.create(model="m", messages=messages, **turn.request("openai"))
        messages += turn.run(reply)
        result: Result = face.call(disk_usage, {"mount_point": "/"}, user="ada")
        print(result.value)
        with turn.stream(reply) as events:
            for event in events:
                print(event.name)
