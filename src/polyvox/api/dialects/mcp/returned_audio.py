"""Speech as the content of a tool's answer."""

import asyncio
import base64

import numpy as np

from polyvox.api.dialects.mcp.backend import SpeechAudio
from polyvox.api.dialects.mcp.tool_result import ToolResult
from polyvox.audio.encode import AudioFormat, encode
from polyvox.errors import TextError
from polyvox.types import Pcm

_LEAST_MP3_RATE = 8_000
"""Bytes per second that speech in MP3 takes at the least: what is longer by this measure is not spoken to its end."""


async def returned_audio(audio: SpeechAudio, audio_format: AudioFormat, max_bytes: int, alternative: str) -> ToolResult:
    """The audio itself, spoken no further than it can be returned; `alternative` is the advice beyond that."""

    def check_size(size: int) -> None:
        if size > max_bytes:
            raise TextError(
                f"The audio is larger than the {max_bytes:,} bytes that are returned; ask for mp3, or {alternative}.",
                field="text",
            )

    frames, pieces = 0, list[Pcm]()
    wav_rate = 2 * audio.channels * audio.sample_rate
    least_rate = wav_rate if audio_format is AudioFormat.WAV else _LEAST_MP3_RATE
    async for piece in audio.pieces:
        pieces.append(piece)
        frames += len(piece)
        check_size(int(frames / audio.sample_rate * least_rate))
    pcm = np.concatenate(pieces)
    data = await asyncio.to_thread(encode, pcm, audio_format, audio.sample_rate, audio.tags)
    check_size(len(data))
    written = await asyncio.to_thread(lambda: base64.b64encode(data).decode())
    content = {"type": "audio", "data": written, "mimeType": audio_format.media_type}
    seconds = frames / audio.sample_rate
    return ToolResult.of(content, (f"{seconds:.1f} seconds of speech, {audio_format}.", *audio.warnings))
