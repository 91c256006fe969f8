"""Speech in this process, without a server.

from polyvox import Speaker

with Speaker() as speaker:
    speaker.say("Good morning.").save("morning.mp3")
    for chunk in speaker.stream("A longer text, heard while it is still being made."):
        play(chunk.pcm, chunk.sample_rate)
"""

import asyncio
import math
import reprlib
import threading
from collections.abc import AsyncIterator, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import NoneType, TracebackType
from typing import Any, Self, TypedDict, TypeVar, Unpack

import numpy as np
import structlog

from polyvox.audio.encode import NO_TAGS, Tags
from polyvox.bundles.manifest import manifests
from polyvox.bundles.progress import RichProgress
from polyvox.bundles.pull import pull
from polyvox.bundles.validate import open_bundle
from polyvox.config import DEFAULT_MODELS, Settings
from polyvox.engines.catalog import Catalog
from polyvox.errors import BundleError, EngineError, InvalidRequestError
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.keys.access import OperatorAccess
from polyvox.service.kinds.script_reader import MarkupRequest
from polyvox.service.registry.registry import Registry
from polyvox.service.session import Session
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.telemetry.logs import configure_logging
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.voices.early_check import check_voice
from polyvox.service.voices.voices import VoiceService
from polyvox.settings_loader import Loader
from polyvox.speech import Speech
from polyvox.suggestions import did_you_mean
from polyvox.types import AudioChunk, Utterance, Voice
from polyvox.voices.records import SHARED_OWNER
from polyvox.voices.references import InlineVoice, RegisteredVoice, VoiceReference

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReferenceVoice:
    """The voice of a recording, for engines that clone; made by `Speaker.clone`."""

    recording: bytes = field(repr=False)
    transcript: str | None = None


class SayOptions(TypedDict, total=False):
    """Options of speech; what is left out is the model's own choice."""

    voice: str | ReferenceVoice | None
    """A voice of the model's, a mix such as `af_heart(2)+bf_emma(1)`, a registered voice, or one made by `clone`."""
    language: str | None
    """BCP 47 tag."""
    speed: float
    seed: int | None
    instructions: str | None
    """Manner of speaking, in words, for models that follow them."""
    tuning: Mapping[str, float]
    """Parameters that only this family of models has."""
    dictionaries: Sequence[str]
    """Names of pronunciation dictionaries that `polyvox dictionary` made; default ones are used in any case."""
    words: bool
    """True if words are timed also with a model that does not do so itself; they then follow their audio."""


class SpeechStream:
    """Chunks of speech as they are made; iterate with `for` or with `async for`, once.

    Leaving early ends the work: use it as a context manager, or call `close`.
    """

    def __init__(self, loop: "_LoopThread", opened: Coroutine[Any, Any, Session]) -> None:
        self._loop = loop
        self._opened = opened
        self._session: Session | None = None

    @property
    def tags(self) -> Tags:
        """Tags for a file of it: that it is synthetic, and what made it; none before its first chunk."""
        return NO_TAGS if self._session is None or self._session.marks is None else self._session.marks.tags

    def __iter__(self) -> Iterator[AudioChunk]:
        try:
            while (chunk := self._loop.run(self._next())) is not None:
                yield chunk
        finally:
            self.close()

    async def __aiter__(self) -> AsyncIterator[AudioChunk]:
        try:
            while (chunk := await self._loop.awaited(self._next())) is not None:
                yield chunk
        finally:
            await self.aclose()

    def close(self) -> None:
        """Stop speaking, wherever it stands."""
        self._loop.run(self._end())

    async def aclose(self) -> None:
        """The same for a caller with an event loop."""
        await self._loop.awaited(self._end())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _next(self) -> AudioChunk | None:
        if self._session is None:
            self._session = await self._opened
        return await anext(self._session, None)

    async def _end(self) -> None:
        if self._session is None:
            self._opened.close()
        else:
            await self._session.__aexit__(None, None, None)


class Speaker:
    """One model, loaded in this process. Calls may come from several threads; the model batches what it can."""

    def __init__(
        self, model: str = DEFAULT_MODELS[0], *, voice: str | None = None, download: bool = True, **settings: object
    ) -> None:
        """Load a model, and fetch it first where it is not installed and `download` allows it.

        `settings` are those that `polyvox config` lists, such as `kokoro_threads=2`; the environment and
        `polyvox.yaml` hold for the others.
        """
        catalog = Catalog.installed()
        catalog.spec(_checked("model", model))
        loader = Loader(catalog.sections, complete=False)
        _check_names("setting", settings, loader.names(), "`polyvox config` lists them all.")
        patient = {"max_wait_seconds": math.inf}  # a program's own calls wait for each other
        self._settings = loader.load(
            **{"models": [model], "default_model": model, "hd_model": "", **patient, **settings}
        )
        if not structlog.is_configured():
            configure_logging(self._settings.model_copy(update={"log_level": "warning"}))
        self.model = model
        self._voice = _checked("voice", voice)
        self._service = SpeechService(self._settings, Registry(self._settings, catalog.factories), Metrics())
        self._voices = VoiceService.for_service(self._service, OperatorAccess())
        self._loop = _LoopThread(f"polyvox-{model}")
        try:
            self._loop.run(check_voice(voice or "", SHARED_OWNER, model, catalog, self._settings))
            if download:
                _fetch(model, self._settings)
            self._loop.run(self._start())
        except BaseException:
            self.close()
            raise

    @property
    def voices(self) -> Sequence[Voice]:
        """The model's own voices."""
        return tuple(self._service.registry.voices(self.model))

    @property
    def can_clone(self) -> bool:
        """True if the model speaks with the voice of a recording."""
        return self._service.registry.engine(self.model).capabilities.cloning

    def say(self, text: str, **options: Unpack[SayOptions]) -> Speech:
        """Speak a text to its end."""
        stream = self._stream(text, options, whole=True)
        return _joined(list(stream), text, stream.tags)

    async def say_async(self, text: str, **options: Unpack[SayOptions]) -> Speech:
        """The same for a caller with an event loop, which runs on meanwhile."""
        stream = self._stream(text, options, whole=True)
        return _joined([chunk async for chunk in stream], text, stream.tags)

    def stream(self, text: str, **options: Unpack[SayOptions]) -> SpeechStream:
        """Speak a text, chunk by chunk."""
        return self._stream(text, options, whole=False)

    def _stream(self, text: str, options: SayOptions, *, whole: bool) -> SpeechStream:
        if self._loop.closed:
            raise _closed()
        _check_options(text, options)
        voice = options.get("voice") or self._voice
        utterance = Utterance(
            text=text,
            voice="" if isinstance(voice, ReferenceVoice) else voice or "",
            language=options.get("language"),
            speed=options.get("speed", 1.0),
            seed=options.get("seed"),
            instructions=options.get("instructions"),
            tuning=dict(options.get("tuning", {})),
            whole=whole,
        )
        names, words = tuple(options.get("dictionaries", ())), options.get("words", False)
        return SpeechStream(self._loop, self._open(utterance, voice, names, words=words))

    def save(self, text: str, path: str | Path, **options: Unpack[SayOptions]) -> Path:
        """Speak a text into a file, in the format that its ending names."""
        return self.say(text, **options).save(path)

    async def save_async(self, text: str, path: str | Path, **options: Unpack[SayOptions]) -> Path:
        """The same for a caller with an event loop, which runs on meanwhile."""
        speech = await self.say_async(text, **options)
        return await asyncio.to_thread(speech.save, path)

    def clone(self, recording: str | Path | bytes, transcript: str | None = None) -> ReferenceVoice:
        """A voice from a few seconds of somebody's speech, to be named in `say`; that person must have agreed to it.

        Without a transcript the words are recognised, where the model needs them.
        """
        if not self.can_clone:
            raise InvalidRequestError(f"The model {self.model!r} speaks with its own voices only.", field="model")
        if isinstance(recording, bytes):
            return ReferenceVoice(recording, transcript)
        file = Path(recording)
        try:
            return ReferenceVoice(file.read_bytes(), transcript)
        except OSError as error:
            raise InvalidRequestError(f"{file} cannot be read: {error.strerror}.", field="recording") from error

    def __repr__(self) -> str:
        return f"<Speaker {self.model!r}{', closed' if self._loop.closed else ''}>"

    def close(self) -> None:
        """Free the model; streams that are open end."""
        if not self._loop.closed:
            self._loop.run(self._stop())
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    async def _start(self) -> None:
        await self._service.start()
        engine = self._service.registry.engine(self.model)
        if self._voice is not None:
            resolved = await self._voices.resolver.by_name(SHARED_OWNER, self.model)(self._voice)
            if resolved is None:
                engine.check(Utterance("a", self._voice))

    async def _stop(self) -> None:
        await self._voices.close()
        await self._service.close()

    async def _open(
        self, utterance: Utterance, voice: str | ReferenceVoice | None, dictionaries: tuple[str, ...], *, words: bool
    ) -> Session:
        by_name = self._voices.resolver.by_name(SHARED_OWNER, self.model)
        markup = MarkupRequest(resolve_voice=by_name)
        request = SpeechRequest(
            utterance,
            model=self.model,
            door="library",
            markup=markup,
            words=words,
            dictionary_names=dictionaries,
        )
        transcript = voice.transcript if isinstance(voice, ReferenceVoice) else None
        reference: VoiceReference = (
            InlineVoice(voice.recording) if isinstance(voice, ReferenceVoice) else RegisteredVoice(utterance.voice)
        )
        resolve_voice = partial(
            self._voices.resolver.resolve, reference, SHARED_OWNER, model=self.model, transcript=transcript
        )
        session = await self._service.open(replace(request, resolve_voice=resolve_voice), LOCAL_CALL)
        return await session.__aenter__()


class _LoopThread:
    """An event loop on a thread of its own, for callers with and without one."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()
        self.closed = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it to its end; the caller's thread waits."""
        self._check(work)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def awaited(self, work: Coroutine[Any, Any, T]) -> T:
        """The same for a caller on another event loop."""
        self._check(work)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def close(self) -> None:
        self.closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _check(self, work: Coroutine[Any, Any, Any]) -> None:
        if self.closed:
            work.close()
            raise _closed()


_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "model": ((str,), "the name of a model"),
    "text": ((str,), "a text"),
    "voice": ((str, ReferenceVoice, NoneType), "the name of a voice, or one made by `clone`"),
    "language": ((str, NoneType), "a tag such as 'en-gb'"),
    "speed": ((int, float), "a number"),
    "seed": ((int, NoneType), "a whole number"),
    "instructions": ((str, NoneType), "a text"),
    "tuning": ((Mapping,), "a mapping of names to numbers"),
    "dictionaries": ((tuple, list), "a list of names"),
    "words": ((bool,), "True or False"),
}


def _checked(name: str, value: T) -> T:
    """The value of an argument; refused where it is of another kind."""
    kinds, wanted = _KINDS[name]
    if not isinstance(value, kinds):
        raise InvalidRequestError(f"'{name}' must be {wanted}, not {reprlib.repr(value)}.", field=name)
    return value


def _check_options(text: str, options: SayOptions) -> None:
    """Refuse options that there are not, and values of another kind: what type checkers see, others learn here."""
    known = SayOptions.__annotations__
    _check_names("option", options, known, f"there are {', '.join(known)}.")
    for name, value in {"text": text, **options}.items():
        _checked(name, value)


def _check_names(kind: str, given: Iterable[str], known: Collection[str], otherwise: str) -> None:
    for name in given:
        if name not in known:
            advice = did_you_mean(name, known, otherwise)
            raise InvalidRequestError(f"There is no {kind} {name[:80]!r}; {advice}", field=name)


def _closed() -> EngineError:
    return EngineError("This speaker is closed; make another.")


def _fetch(model: str, settings: Settings) -> None:
    """Install a model that this release knows where to find, with a progress bar."""
    bundle = Catalog.installed().bundle_of(model)
    if bundle not in {manifest.name for manifest in manifests()}:
        return
    try:
        open_bundle(bundle, settings.models_dir)
    except BundleError:
        pull(bundle, models_dir=settings.models_dir, folder=None, hub_url=settings.hub_url, progress=RichProgress())


def _joined(chunks: Sequence[AudioChunk], text: str, tags: Tags) -> Speech:
    return Speech(
        pcm=np.concatenate([chunk.pcm for chunk in chunks]),
        sample_rate=chunks[0].sample_rate,
        words=tuple(word for chunk in chunks for word in chunk.words),
        text=text,
        tags=tags,
    )
