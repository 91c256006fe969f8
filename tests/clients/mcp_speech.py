"""Starts an MCP server and has it speak one text, with the voice and the model that it has by itself."""

import asyncio
import json
import sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters


async def main() -> None:
    target = json.loads(sys.argv[1])
    server = StdioServerParameters(command=target["command"], args=target["args"], env=target["env"])
    async with Client(server) as session:
        result = await session.call_tool("speak", {"text": target["text"]})
    print(json.dumps({"error": result.is_error, "audio": result.content[0].data}))


asyncio.run(main())
