"""Calls the tools of an MCP server as an agent's host does, by both generations of the protocol.

The argument is a JSON object: `url` and perhaps `key`, or `command`, `args` and `env` of a server to start; then the
`recording` to clone in base64, and the file to which the engine adds a line when an utterance has `ended`.
"""

import asyncio
import base64
import json
import sys
import time
from pathlib import Path

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

SLOW = "slow, for as long as somebody listens."


def client(target: dict, mode: str) -> Client:
    if "command" in target:
        parameters = StdioServerParameters(command=target["command"], args=target["args"], env=target["env"])
        return Client(parameters, mode=mode)
    headers = {"Authorization": f"Bearer {target['key']}"} if "key" in target else {}
    http = httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False)
    return Client(streamable_http_client(target["url"], http_client=http), mode=mode)


async def called(session: Client, tool: str, **arguments: object) -> dict:
    result = await session.call_tool(tool, arguments)
    audio = [content for content in result.content if content.type == "audio"]
    return {
        "error": result.is_error,
        "words": [content.text for content in result.content if content.type == "text"],
        "audio": [[content.mime_type, content.data] for content in audio],
        "structured": result.structured_content,
    }


async def cancelled(session: Client, ended: Path) -> float:
    """Ask for speech without end, change one's mind, and say how many seconds later the engine has stopped."""
    before = slow_ones(ended)
    with anyio.move_on_after(0.4) as scope:
        await session.call_tool("speak", {"text": SLOW})
    assert scope.cancelled_caught, "the endless speech has ended"
    return await asyncio.to_thread(seconds_until_more_than, before, ended)


def slow_ones(ended: Path) -> int:
    return ended.read_text().count("slow")


def seconds_until_more_than(before: int, ended: Path) -> float:
    began = time.monotonic()
    while slow_ones(ended) <= before and time.monotonic() < began + 20:
        time.sleep(0.01)
    return time.monotonic() - began


async def converse(target: dict, mode: str) -> dict:
    async with client(target, mode) as session:
        tools = (await session.list_tools()).tools
        found = {
            "version": session.protocol_version,
            "server": session.server_info.name,
            "tools": {tool.name: tool.input_schema for tool in tools},
            "mp3": await called(session, "speak", text="One two three.", voice="low"),
            "wav": await called(session, "speak", text="One two three.", voice="high", speed=2, format="wav"),
            "voices": await called(session, "voices", query="hi", language="en"),
            "unknown_voice": await called(session, "speak", text="One.", voice="nobody"),
            "without_text": await called(session, "speak", voice="low"),
            "unknown_argument": await called(session, "speak", text="One.", tempo=2),
            "long_text": await called(session, "speak", text="One two. " * 200),
            "without_consent": await called(session, "clone", name="Anna", audio=target["recording"]),
        }
        anna = await called(
            session, "clone", name=f"Anna {mode}", audio=target["recording"], transcript="A few words.", consent=True
        )
        found["clone"] = anna
        if not anna["error"]:
            found["cloned"] = await called(session, "speak", text="One two three.", voice=anna["structured"]["id"])
        found["stopped_after"] = await cancelled(session, Path(target["ended"]))
        try:
            await session.call_tool("sing", {})
        except MCPError as error:
            found["unknown_tool"] = [error.code, error.message]
        many = [called(session, "speak", text="One two three.", voice="low") for _ in range(16)]
        found["at_once"] = [answer["error"] for answer in await asyncio.gather(*many)]
        return found


async def main() -> None:
    target = json.loads(sys.argv[1])
    found = {mode: await converse(target, mode) for mode in ("legacy", "auto")}
    async with client(target, "auto") as session:
        found["reconnected"] = await called(session, "speak", text="One two three.", voice="low")
    for mode in ("legacy", "auto"):
        assert base64.b64decode(found[mode]["mp3"]["audio"][0][1])
    print(json.dumps(found))


asyncio.run(main())
