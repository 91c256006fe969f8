"""ElevenLabs' SDK over its socket, which it opens by `wss://` alone: `elevenlabs_realtime.py URL KEY VOICE`."""

import hashlib
import json
import sys
from collections.abc import Iterator
from typing import Any

from elevenlabs.client import ElevenLabs
from elevenlabs.core.api_error import ApiError


def words() -> Iterator[str]:
    yield from ("One ", "two, ", "three. ", "Four ", "five ", "six.")


def spoken(client: ElevenLabs, voice: str) -> dict[str, Any]:
    try:
        parts = list(client.text_to_speech.convert_realtime(voice, text=words(), output_format="pcm_24000"))
    except ApiError as error:
        return {"code": error.status_code, "body": error.body}
    data = b"".join(parts)
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "parts": len(parts)}


def main(url: str, key: str, voice: str) -> dict[str, Any]:
    client = ElevenLabs(base_url=url, api_key=key)
    return {"spoken": spoken(client, voice), "unknown": spoken(client, "nobody")}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
