"""The tools that an agent may call: speak, voices and clone."""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from mcp_types import AudioContent, CallToolResult, ContentBlock, TextContent, Tool, ToolAnnotations
from pydantic_core import to_json

from polyvox.api.dialects.mcp.backend import McpBackend, SpeakRequest, SpeechAudio, VoiceRecording
from polyvox.api.dialects.mcp.tool_arguments import (
    CloneArguments,
    FolderCloneArguments,
    FolderSpeakArguments,
    LocalSpeakArguments,
    SpeakArguments,
    VoicesArguments,
    parsed,
    schema_of,
)
from polyvox.audio.encode import AudioFormat, encode
from polyvox.config import Settings
from polyvox.errors import ForbiddenError, InvalidRequestError, NotFoundError, PolyvoxError, TextError
from polyvox.service.keys.operations import Operation
from polyvox.types import Pcm, Voice
from polyvox.voices.references import InlineVoice, parse_reference

TOOLS = {"speak": Operation.SPEAK, "voices": Operation.READ_VOICES, "clone": Operation.CHANGE_VOICES}
"""The operation of every tool."""
MAX_LISTED = 200
"""Voices in one answer."""
_LEAST_MP3_RATE = 8_000
"""Bytes per second that speech in MP3 takes at the least: what is longer by this measure is not spoken to its end."""


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """Limits of one call, and of its result."""

    max_chars: int
    max_audio_bytes: int
    max_recording_bytes: int

    @classmethod
    def of(cls, settings: Settings) -> "ToolLimits":
        return cls(settings.mcp_max_chars, settings.mcp_max_audio_bytes, settings.prompt_max_bytes)


class LocalMachine(Protocol):
    """The machine of the user whose agent calls: a loudspeaker, and a folder where one is configured."""

    @property
    def folder(self) -> Path | None:
        """The folder in which speech is written and recordings are read."""

    async def play(self, audio: SpeechAudio) -> None:
        """Play all of the audio."""

    async def save(self, audio: SpeechAudio, audio_format: AudioFormat) -> Path:
        """Write the audio into a new file."""

    async def read(self, name: str, max_bytes: int) -> bytes:
        """The bytes of a file in the folder."""


class SpeechTools:
    """The tools; with a `machine` they also play, and write and read files."""

    def __init__(self, limits: ToolLimits, machine: LocalMachine | None = None) -> None:
        self._limits = limits
        self._machine = machine
        has_folder = machine is not None and machine.folder is not None
        self._speaking = FolderSpeakArguments if has_folder else LocalSpeakArguments if machine else SpeakArguments
        self._cloning = FolderCloneArguments if has_folder else CloneArguments

    @property
    def definitions(self) -> list[Tool]:
        """Definitions of the tools, as an agent sees them."""
        return [
            Tool(
                name="speak",
                title="Speak a text",
                description=f"Speak a text of up to {self._limits.max_chars} characters and return the audio.",
                input_schema=schema_of(self._speaking),
                annotations=ToolAnnotations(destructive_hint=False, open_world_hint=False),
            ),
            Tool(
                name="voices",
                title="List voices",
                description="List the voices to speak with: id, name, language, gender, and why one cannot speak here.",
                input_schema=schema_of(VoicesArguments),
                annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
            ),
            Tool(
                name="clone",
                title="Clone a voice",
                description="Register a voice from a recording, for models that clone voices. Only with the consent of "
                "the person on the recording; the answer has the id to use as `voice`.",
                input_schema=schema_of(self._cloning),
                annotations=ToolAnnotations(destructive_hint=False, open_world_hint=False),
            ),
        ]

    async def call(self, name: str, arguments: Mapping[str, Any] | None, backend: McpBackend) -> CallToolResult:
        """Call a tool. What the caller can mend is an error result; NotFoundError where there is no such tool."""
        calls = {"speak": self._speak, "voices": self._voices, "clone": self._clone}
        if name not in calls:
            raise NotFoundError(f"There is no tool {name[:80]!r}; use speak, voices or clone.")
        try:
            return await calls[name](arguments, backend)
        except PolyvoxError as error:
            return CallToolResult(content=[_text(_for_agents(error.message))], is_error=True)

    async def _speak(self, arguments: Mapping[str, Any] | None, backend: McpBackend) -> CallToolResult:
        asked = parsed(self._speaking, arguments)
        self._check_length(asked)
        request = SpeakRequest(asked.text, asked.voice, asked.model, asked.language, asked.speed, asked.instructions)
        async with backend.speech(request) as audio:
            if asked.plays and self._machine is not None:
                await self._machine.play(audio)
                return _answer(_text("Played."), audio.warnings)
            if asked.saves and self._machine is not None:
                path = await self._machine.save(audio, AudioFormat(asked.format))
                return _answer(_text(f"Written to {path}."), audio.warnings)
            return await self._returned(audio, AudioFormat(asked.format))

    def _check_length(self, asked: SpeakArguments) -> None:
        if asked.plays and asked.saves:
            raise InvalidRequestError("Set 'play' or 'save', not both.", field="save")
        chars, most = len(asked.text), self._limits.max_chars
        if chars > most and not asked.plays and not asked.saves:
            raise TextError(
                f"The text has {chars:,} characters, and the audio of at most {most:,} is returned; "
                f"{self._alternative()}.",
                field="text",
            )

    def _alternative(self) -> str:
        ways = [f"set '{name}' to true" for name in ("play", "save") if name in self._speaking.model_fields]
        return ", or ".join(["speak it in parts", *ways])

    async def _returned(self, audio: SpeechAudio, audio_format: AudioFormat) -> CallToolResult:
        """The audio itself, which is not spoken further than it can be returned."""
        frames, pieces = 0, list[Pcm]()
        wav_rate = 2 * audio.channels * audio.sample_rate
        least_rate = wav_rate if audio_format is AudioFormat.WAV else _LEAST_MP3_RATE
        async for piece in audio.pieces:
            pieces.append(piece)
            frames += len(piece)
            self._check_size(int(frames / audio.sample_rate * least_rate))
        pcm = np.concatenate(pieces)
        data = await asyncio.to_thread(encode, pcm, audio_format, audio.sample_rate, audio.tags)
        self._check_size(len(data))
        written = await asyncio.to_thread(lambda: base64.b64encode(data).decode())
        content = AudioContent(data=written, mime_type=audio_format.media_type)
        seconds = frames / audio.sample_rate
        return _answer(content, (f"{seconds:.1f} seconds of speech, {audio_format}.", *audio.warnings))

    def _check_size(self, size: int) -> None:
        if size > self._limits.max_audio_bytes:
            raise TextError(
                f"The audio is larger than the {self._limits.max_audio_bytes:,} bytes that are returned; ask for mp3, "
                f"or {self._alternative()}.",
                field="text",
            )

    async def _voices(self, arguments: Mapping[str, Any] | None, backend: McpBackend) -> CallToolResult:
        asked = parsed(VoicesArguments, arguments)
        found = [voice for voice in await backend.voices(asked.model) if _matches(voice, asked)]
        listed = {"voices": [_voice(voice) for voice in found[:MAX_LISTED]], "found": len(found)}
        return CallToolResult(content=[_text(to_json(listed).decode())], structured_content=listed)

    async def _clone(self, arguments: Mapping[str, Any] | None, backend: McpBackend) -> CallToolResult:
        asked = parsed(self._cloning, arguments)
        if not asked.consent:
            raise ForbiddenError(
                "A voice is cloned only with its speaker's consent: ask the person on the recording, and set 'consent' "
                "to true if the answer is yes.",
                field="consent",
            )
        data = await self._recording(asked)
        cloned = await backend.clone(
            VoiceRecording(asked.name, data, asked.transcript, asked.language, asked.consent_note)
        )
        shown = {
            "id": cloned.id,
            "name": cloned.name,
            "transcript": cloned.transcript,
            "seconds": round(cloned.seconds, 3),
            "warnings": list(cloned.warnings),
        }
        return CallToolResult(content=[_text(to_json(shown).decode())], structured_content=shown)

    async def _recording(self, asked: CloneArguments) -> bytes:
        most = self._limits.max_recording_bytes
        if asked.path is not None and self._machine is not None:
            if asked.audio is not None:
                raise InvalidRequestError("Give 'audio' or 'file', not both.", field="file")
            return await self._machine.read(asked.path, most)
        if not asked.audio:
            raise InvalidRequestError("'audio' is required: the recording's file in base64.", field="audio")
        written = asked.audio if asked.audio[:5].lower() == "data:" else f"base64+{asked.audio}"
        reference = await asyncio.to_thread(parse_reference, written, max_bytes=most, field="audio")
        assert isinstance(reference, InlineVoice)
        return reference.data


def _matches(voice: Voice, asked: VoicesArguments) -> bool:
    words, tag = f"{voice.id} {voice.name} {voice.description}".casefold(), voice.language.casefold()
    wanted = asked.language.casefold()
    return (
        asked.query.casefold() in words
        and (not wanted or tag == wanted or tag.startswith(f"{wanted}-"))
        and asked.gender in ("", voice.gender)
    )


def _voice(voice: Voice) -> dict[str, Any]:
    row = {
        "id": voice.id,
        "name": voice.name,
        "language": voice.language,
        "gender": voice.gender,
        "description": voice.description,
        "reason": voice.reason,
    }
    return {name: value for name, value in row.items() if value}


def _for_agents(message: str) -> str:
    """The advice of an error in terms of tools, for a caller that cannot send requests."""
    return message.replace("GET /v1/audio/voices lists", "the tool 'voices' lists")


def _text(words: str) -> TextContent:
    return TextContent(text=words)


def _answer(content: ContentBlock, words: Sequence[str]) -> CallToolResult:
    return CallToolResult(content=[content, *(_text(each) for each in words)])
