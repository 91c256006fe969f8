"""The tools that an agent may call: speak, voices and clone.

Nothing here needs the package `mcp`, and audio is loaded with the first speech: `polyvox mcp` starts at once.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

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
from polyvox.api.dialects.mcp.tool_result import ToolResult, text_content
from polyvox.config import Settings
from polyvox.errors import ForbiddenError, InvalidRequestError, NotFoundError, PolyvoxError, TextError
from polyvox.service.keys.operations import Operation
from polyvox.types import Voice
from polyvox.voices.references import InlineVoice, parse_reference

if TYPE_CHECKING:
    from polyvox.audio.encode import AudioFormat

TOOLS = {"speak": Operation.SPEAK, "voices": Operation.READ_VOICES, "clone": Operation.CHANGE_VOICES}
"""The operation of every tool."""
INSTRUCTIONS = "Speaks text aloud. `voices` lists whom it can speak as; `speak` returns the audio of a text."
MAX_LISTED = 200
"""Voices in one answer."""


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

    async def save(self, audio: SpeechAudio, audio_format: "AudioFormat") -> Path:
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
    def definitions(self) -> list[dict[str, Any]]:
        """Definitions of the tools, as an agent sees them."""
        return [
            {
                "name": "speak",
                "title": "Speak a text",
                "description": f"Speak a text of up to {self._limits.max_chars} characters and return the audio.",
                "inputSchema": schema_of(self._speaking),
                "annotations": {"destructiveHint": False, "openWorldHint": False},
            },
            {
                "name": "voices",
                "title": "List voices",
                "description": "List the voices to speak with: id, name, language, gender, and why one cannot speak "
                "here.",
                "inputSchema": schema_of(VoicesArguments),
                "annotations": {"readOnlyHint": True, "openWorldHint": False},
            },
            {
                "name": "clone",
                "title": "Clone a voice",
                "description": "Register a voice from a recording, for models that clone voices. Only with the consent "
                "of the person on the recording; the answer has the id to use as `voice`.",
                "inputSchema": schema_of(self._cloning),
                "annotations": {"destructiveHint": False, "openWorldHint": False},
            },
        ]

    async def call(self, name: str, arguments: Mapping[str, Any] | None, backend: McpBackend) -> ToolResult:
        """Call a tool. What the caller can mend is an error result; NotFoundError where there is no such tool."""
        calls = {"speak": self._speak, "voices": self._voices, "clone": self._clone}
        if name not in calls:
            raise NotFoundError(f"There is no tool {name[:80]!r}; use speak, voices or clone.")
        try:
            return await calls[name](arguments, backend)
        except PolyvoxError as error:
            return ToolResult((text_content(_for_agents(error.message)),), is_error=True)

    async def _speak(self, arguments: Mapping[str, Any] | None, backend: McpBackend) -> ToolResult:
        asked = parsed(self._speaking, arguments)
        self._check_length(asked)
        request = SpeakRequest(asked.text, asked.voice, asked.model, asked.language, asked.speed, asked.instructions)
        from polyvox.api.dialects.mcp.returned_audio import returned_audio
        from polyvox.audio.encode import AudioFormat

        audio_format = AudioFormat(asked.format)
        async with backend.speech(request) as audio:
            if asked.plays and self._machine is not None:
                await self._machine.play(audio)
                return ToolResult.of(text_content("Played."), audio.warnings)
            if asked.saves and self._machine is not None:
                path = await self._machine.save(audio, audio_format)
                return ToolResult.of(text_content(f"Written to {path}."), audio.warnings)
            return await returned_audio(audio, audio_format, self._limits.max_audio_bytes, self._alternative())

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

    async def _voices(self, arguments: Mapping[str, Any] | None, backend: McpBackend) -> ToolResult:
        asked = parsed(VoicesArguments, arguments)
        found = [voice for voice in await backend.voices(asked.model) if _matches(voice, asked)]
        listed = {"voices": [_voice(voice) for voice in found[:MAX_LISTED]], "found": len(found)}
        return ToolResult((text_content(to_json(listed).decode()),), structured=listed)

    async def _clone(self, arguments: Mapping[str, Any] | None, backend: McpBackend) -> ToolResult:
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
        return ToolResult((text_content(to_json(shown).decode()),), structured=shown)

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
