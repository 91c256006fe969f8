"""OutputModule: the commands of Speech Dispatcher, one message at a time."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Final

import numpy as np
import structlog

from polyvox.errors import PolyvoxError
from polyvox.screen_reader.host_pipe import Block, HostPipe
from polyvox.screen_reader.marked_text import IndexMark
from polyvox.screen_reader.message import MessageKind, Part, Tone, common_phrases, message_parts
from polyvox.screen_reader.message_settings import MessageSettings, SettingError, number, with_parameters
from polyvox.screen_reader.phrase_cache import PhraseCache
from polyvox.screen_reader.synthesizer import Phrase, Samples, Synthesizer
from polyvox.screen_reader.voice_choice import choose_voice

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_BAD_SYNTAX: Final = "302 ERROR BAD SYNTAX"
_BAD_VALUE: Final = "303 ERROR INVALID PARAMETER OR VALUE"
_CANT_SPEAK: Final = "301 ERROR CANT SPEAK"
_AHEAD: Final = 4
"""Chunks that may be made before the host takes them."""
_TONE_RATE, _TONE_HERTZ, _TONE_SECONDS = 24_000, 1_320.0, 0.05


@dataclass(frozen=True, slots=True)
class _Ready:
    """The parts of a module that has been initialised."""

    voices: Synthesizer
    cache: PhraseCache


class OutputModule:
    """Answers one host until it says QUIT or leaves. `opening` loads the model, when the host says INIT."""

    def __init__(
        self, host: HostPipe, opening: Callable[[], AbstractAsyncContextManager[Synthesizer]], default_voice: str = ""
    ) -> None:
        self._host = host
        self._opening = opening
        self._default_voice = default_voice
        self._settings = MessageSettings()
        self._ready: _Ready | None = None
        self._speaking: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve the host."""
        async with AsyncExitStack() as stack:
            try:
                while (command := await self._host.command()) is not None and command != "QUIT":
                    await self._answer(command, stack)
                if command == "QUIT":
                    self._host.send("210 OK QUIT")
            finally:
                await self._end_all()

    async def _answer(self, command: str, stack: AsyncExitStack) -> None:
        if command in tuple(MessageKind):
            await self._message(MessageKind(command))
        elif command == "STOP":
            self._interrupt("703 STOP")
        elif command == "PAUSE":
            self._interrupt("704 PAUSE")
        elif command == "SET":
            await self._parameters("", "203 OK SETTINGS RECEIVED", self._set)
        elif command == "AUDIO":
            await self._parameters("AUDIO ", "203 OK AUDIO INITIALIZED", _check_audio)
        elif command == "LOGLEVEL":
            await self._parameters("LOGLEVEL ", "203 OK LOGLEVEL SET", _check_log_level)
        elif command == "LIST VOICES":
            self._list_voices()
        elif command == "INIT":
            await self._init(stack)
        elif command.startswith("DEBUG"):
            self._debug(command.split())
        else:
            self._host.send("300 ERR UNKNOWN COMMAND")

    async def _init(self, stack: AsyncExitStack) -> None:
        try:
            synthesizer = await stack.enter_async_context(self._opening())
        except (PolyvoxError, OSError) as error:
            log.error("module cannot speak", error=str(error))
            self._host.send(f"399-{' '.join(str(error).split())}", "399 ERR CANT INIT MODULE")
            return
        self._ready = _Ready(synthesizer, PhraseCache(synthesizer))
        self._host.send("299-Polyvox is ready.", "299 OK LOADED SUCCESSFULLY")
        self._warm()

    async def _message(self, kind: MessageKind) -> None:
        self._host.send("202 OK RECEIVING MESSAGE")
        block = await self._host.block()
        if block is None:
            return
        text = "\n".join(block.lines)
        if self._ready is None or block.is_too_long or not text:
            self._host.send(_CANT_SPEAK)
        elif kind is not MessageKind.SPEAK and len(block.lines) > 1:
            self._host.send("305 DATA MORE THAN ONE LINE")
        else:
            self._host.send("200 OK SPEAKING")
            self._interrupt("703 STOP")
            self._start(self._ready, kind, text)

    def _start(self, ready: _Ready, kind: MessageKind, text: str) -> None:
        if self._warming is not None:
            self._let_end(self._warming)
            self._warming = None
        parts = message_parts(kind, text, self._settings, self._voice(ready))
        self._speaking = asyncio.create_task(self._speak(ready.cache, parts, self._settings))

    async def _speak(self, cache: PhraseCache, parts: Sequence[Part], settings: MessageSettings) -> None:
        """Say a message to its end; a part is made while the one before it is heard."""
        self._host.send("701 BEGIN")
        made: asyncio.Queue[Samples | IndexMark | None] = asyncio.Queue(_AHEAD)
        making = asyncio.create_task(_make(cache, parts, made))
        try:
            while (item := await made.get()) is not None:
                if isinstance(item, IndexMark):
                    self._host.send(f"700-{item.name}", "700 INDEX MARK")
                else:
                    rate = round(item.sample_rate * settings.pitch_factor)
                    await self._host.play(Samples(item.pcm * np.float32(settings.gain), rate))
            await making
        except PolyvoxError as error:
            log.warning("message not spoken", error=error.message)
            self._finish("703 STOP")
        except Exception:
            log.exception("message failed")
            self._finish("703 STOP")
        else:
            self._finish("702 END")
        finally:
            making.cancel()
            await asyncio.wait([making])

    def _finish(self, event: str) -> None:
        self._speaking = None
        self._host.send(event)
        self._warm()

    def _interrupt(self, event: str) -> None:
        """End the message that is heard, if there is one. The host learns it before the engine has let go."""
        if self._speaking is not None:
            self._let_end(self._speaking)
            self._speaking = None
            self._host.send(event)
            self._warm()

    def _warm(self) -> None:
        """Make the letters and keys of the present voice and rate, while nothing is heard."""
        if self._ready is not None and self._warming is None:
            phrases = common_phrases(self._settings, self._voice(self._ready))
            self._warming = asyncio.create_task(_warm(self._ready.cache, phrases))

    def _voice(self, ready: _Ready) -> str:
        return choose_voice(self._settings, ready.voices.voices, self._default_voice)

    def _let_end(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end_all(self) -> None:
        for task in (self._speaking, self._warming):
            if task is not None:
                self._let_end(task)
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _parameters(self, kind: str, done: str, take: Callable[[Sequence[str]], None]) -> None:
        self._host.send(f"207 OK RECEIVING {kind}SETTINGS")
        block = await self._host.block()
        if block is not None:
            self._host.send(_taken(block, done, take))

    def _set(self, lines: Sequence[str]) -> None:
        self._settings = with_parameters(self._settings, lines)

    def _list_voices(self) -> None:
        voices = [] if self._ready is None else [voice for voice in self._ready.voices.voices if not voice.reason]
        if voices:
            lines = (f"200-{voice.id}\t{voice.language or 'none'}\t{voice.gender or 'none'}" for voice in voices)
            self._host.send(*lines, "200 OK VOICE LIST SENT")
        else:
            self._host.send("304 CANT LIST VOICES")

    def _debug(self, words: Sequence[str]) -> None:
        """Refuse to write a file that the host names: the log goes to standard error."""
        if words[1:] == ["OFF"]:
            self._host.send("200 OK DEBUGGING OFF")
        elif len(words) > 2 and words[1] == "ON":
            self._host.send("303 CANT OPEN CUSTOM DEBUG FILE")
        else:
            self._host.send(_BAD_SYNTAX)


async def _make(cache: PhraseCache, parts: Sequence[Part], made: "asyncio.Queue[Samples | IndexMark | None]") -> None:
    """Fill the queue, and end it also where a phrase fails; nobody waits for it where it is cancelled."""
    try:
        for part in parts:
            if isinstance(part, Phrase):
                async with aclosing(cache.speak(part)) as pieces:
                    async for samples in pieces:
                        await made.put(samples)
            else:
                await made.put(_tone() if isinstance(part, Tone) else part)
    except Exception:
        await made.put(None)
        raise
    await made.put(None)


async def _warm(cache: PhraseCache, phrases: Sequence[Phrase]) -> None:
    try:
        await cache.warm(phrases)
    except PolyvoxError as error:
        log.warning("letters not made beforehand", error=error.message)


def _tone() -> Samples:
    times = np.arange(round(_TONE_RATE * _TONE_SECONDS), dtype=np.float32) / _TONE_RATE
    envelope = np.sin(np.pi * times / _TONE_SECONDS)
    return Samples((0.2 * envelope * np.sin(2 * np.pi * _TONE_HERTZ * times)).astype(np.float32), _TONE_RATE)


def _taken(block: Block, done: str, take: Callable[[Sequence[str]], None]) -> str:
    try:
        take(block.lines)
    except SettingError as error:
        log.warning("parameter refused", error=str(error))
        return _BAD_VALUE
    return _BAD_SYNTAX if block.is_too_long else done


def _check_audio(lines: Sequence[str]) -> None:
    """Take no output but the host's own, which has been there since Speech Dispatcher 0.11."""
    if list(lines) != ["audio_output_method=server"]:
        raise SettingError("the module has no audio output: Speech Dispatcher 0.11 or later plays what it makes")


def _check_log_level(lines: Sequence[str]) -> None:
    for line in lines:
        name, _, value = line.partition("=")
        if name != "log_level":
            raise SettingError(f"{name[:80]!r} is no parameter")
        number(value, 0, 5)
