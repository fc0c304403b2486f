"""An agent loop against google-genai, whose own types are partly unknown to pyright: checked in its standard mode."""

from __future__ import annotations

from google import genai
from google.genai import types

from toolcrib import Crib

crib = Crib(["toolbox/"])


async def gemini(client: genai.Client) -> None:
    contents: list[types.ContentUnionDict] = ["how full?"]
    turn = crib.turn(user="ada")
    reply = await client.aio.models.generate_content(model="m", contents=contents, **await turn.request("gemini"))
    contents += await turn.run(reply)
