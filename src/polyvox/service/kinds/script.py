"""The script request kind: a text whose markup changes voice, pace or pitch on the way, or asks for silence."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from polyvox.engines.base import Engine
from polyvox.engines.kit.seeds import derive_seed
from polyvox.errors import SilentTextError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.delivery import Delivery, closing
from polyvox.service.kinds.joining import UtteranceJoiner
from polyvox.service.kinds.request_kind import max_speech_seconds
from polyvox.service.kinds.seams import Seam
from polyvox.service.pronunciation.source_words import SourceWords
from polyvox.service.voices.voice_resolver import ResolvedVoice
from polyvox.text.markup.markup import pause_seconds
from polyvox.text.markup.script import Bookmark, Passage, Script, Silence, Style
from polyvox.text.warnings import SILENT, Warnings
from polyvox.types import SPEED_RANGE, AudioChunk, MarkTiming, Pcm, PreparedVoice, Utterance

_SEMITONES = 12.0
_SILENCE_CHUNK_SECONDS = 2.0
_WORD_GAP_SECONDS = 0.04
_CLAUSE_GAP_SECONDS = 0.18
_SENTENCE_ENDS = (*".!?…。！？", "\n")
_CLAUSE_ENDS = tuple(",;:—，、；：")
_CLOSING = " \"'”’)]»』」"


@dataclass(frozen=True, slots=True)
class SpeakScript:
    """Speak the passages of a script one after the other, each in its voice and manner.

    `resolved` holds those voices of the markup that have to be prepared; the others are the engine's own. A passage in
    which the engine finds nothing to speak is left out, with a warning.
    """

    script: Script
    resolved: Mapping[str, ResolvedVoice]
    speed: float
    executor: DeviceExecutor
    warnings: Warnings

    @property
    def chars(self) -> int:
        return len(self.script.text)

    @property
    def max_audio_seconds(self) -> float:
        slowest = min((passage.style.rate for passage in self.script.passages), default=1.0) * self.speed
        silence = self.script.silence_seconds + pause_seconds(self.script.text)
        chars = max(len(self.script.raw), len(self.script.text))
        return max_speech_seconds(chars, max(slowest, SPEED_RANGE.lowest)) + silence

    def check(self, engine: Engine, utterance: Utterance) -> None:
        passages = self.script.passages
        for index, passage in enumerate(passages):
            if passage.style.voice not in self.resolved:
                engine.check(self._utterance(engine, utterance, passage, index, {}))
        if not passages:
            engine.check(replace(utterance, text="a"))

    async def synthesize(self, engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        prepared = await self._prepared(engine)
        stream = _Stream(engine, self.speed)
        silent: SilentTextError | None = None
        index, last = 0, len(self.script.passages) - 1
        for part, following in pairwise((*self.script.parts, None)):
            if isinstance(part, Bookmark):
                stream.mark(part.name)
            elif isinstance(part, Silence):
                for silence in stream.silence(part.seconds):
                    yield silence
            elif part is not None and part.speakable:
                spoken = self._utterance(engine, utterance, part, index, prepared)
                gap = 0.0 if isinstance(following, Silence) else None if index == last else _gap_seconds(part)
                stream.begin(part, SourceWords.of_text(part.text, self.script.raw), gap)
                passage = self._speak_passage(engine, spoken, part, stream)
                try:
                    async with closing(passage):
                        async for chunk in passage:
                            yield chunk
                except SilentTextError as error:
                    silent = error
                    stream.end()
                    self.warnings.count(SILENT, part.text.text)
                index += 1
        if silent is not None and stream.is_empty:
            raise silent
        for rest in stream.finish():
            yield rest

    async def _speak_passage(
        self, engine: Engine, utterance: Utterance, passage: Passage, stream: "_Stream"
    ) -> AsyncIterator[AudioChunk]:
        if utterance.prepared is not None and passage.style.voice is not None:
            engine.check(utterance)  # the engine's own voices were checked before
        voice = utterance.voice if self.script.voices else ""
        speech = self._styled(engine, utterance, passage.style)
        async with closing(speech):
            async for chunk in speech:
                for joined in stream.append(replace(chunk, voice=voice), passage):
                    yield joined
        if (tail := stream.end()) is not None:
            yield tail

    async def _prepared(self, engine: Engine) -> dict[str, PreparedVoice]:
        """Prepare all voices before the first word, so that one that cannot be used is refused in time."""
        found = {name: await voice.prepare(engine) for name, voice in self.resolved.items()}
        return {name: voice for name, voice in found.items() if voice is not None}

    def _utterance(
        self,
        engine: Engine,
        utterance: Utterance,
        passage: Passage,
        index: int,
        prepared: Mapping[str, PreparedVoice],
    ) -> Utterance:
        style = passage.style
        rate = style.rate if engine.capabilities.native_speed else 1.0
        spoken = replace(
            utterance,
            text=passage.text.text,
            speed=min(max(utterance.speed * rate, SPEED_RANGE.lowest), SPEED_RANGE.highest),
            language=style.language or utterance.language,
        )
        if utterance.seed is not None and index:  # equal passages would sound equal
            spoken = replace(spoken, seed=derive_seed(utterance.seed, "passage", index))
        if style.voice is None:
            return spoken
        voice = self.resolved[style.voice].label if style.voice in self.resolved else style.voice
        return replace(spoken, voice=voice, prepared=prepared.get(style.voice))

    def _styled(self, engine: Engine, utterance: Utterance, style: Style) -> AsyncIterator[AudioChunk]:
        """The passage with the pace, pitch and volume that the engine does not give it."""
        speech = engine.speak(utterance)
        shaping = _shaping(engine, style)
        if shaping.is_direct:
            return speech
        return shaping.process(_raised(speech, style.pitch), self.executor)


def _shaping(engine: Engine, style: Style) -> Delivery:
    """A voice is raised by playing it faster, after it was drawn out by as much."""
    can = engine.capabilities
    ratio = 2 ** (style.pitch / _SEMITONES)
    tempo = 1.0 if can.native_speed else style.rate
    return Delivery(
        source_rate=round(can.sample_rate * ratio),
        sample_rate=can.sample_rate,
        channels=can.channels,
        tempo=tempo / ratio,
        volume=style.volume,
    )


async def _raised(speech: AsyncIterator[AudioChunk], pitch: float) -> AsyncIterator[AudioChunk]:
    """The same chunks, their words at the times that they have when played at the raised rate."""
    ratio = 2 ** (pitch / _SEMITONES)
    async with closing(speech):
        async for chunk in speech:
            words = tuple(replace(word, start=word.start / ratio, end=word.end / ratio) for word in chunk.words)
            yield replace(chunk, words=words)


def _gap_seconds(passage: Passage) -> float | None:
    """The silence behind a passage that ends within a sentence; None at the end of one, where it is the engine's."""
    text = passage.text.text.rstrip(_CLOSING)
    if text.endswith(_SENTENCE_ENDS):
        return None
    return _CLAUSE_GAP_SECONDS if text.endswith(_CLAUSE_ENDS) else _WORD_GAP_SECONDS


class _Stream:
    """The chunks of all passages, with the silences and marks between them.

    An engine ends every utterance with the silence that follows a sentence. Where a passage ends within one, or
    before a silence that was asked for, that is held back and cut short.
    """

    def __init__(self, engine: Engine, speed: float) -> None:
        self._can = engine.capabilities
        self._stretch = 1.0 if self._can.native_speed else speed
        self._joiner = UtteranceJoiner()
        self._seam = Seam(self._can)
        self._marks: list[MarkTiming] = []
        self._inside: list[tuple[int, str]] = []
        self._source: SourceWords | None = None
        self._gap: float | None = None
        self._begun = False

    @property
    def is_empty(self) -> bool:
        """True while nothing was sent."""
        return not self._joiner.chunks

    def begin(self, passage: Passage, source: SourceWords, gap: float | None) -> None:
        """Start a passage; without a gap, the silence behind it is the engine's own."""
        self._source, self._gap, self._begun = source, gap, False
        self._inside = list(passage.marks)

    def append(self, chunk: AudioChunk, passage: Passage) -> Iterator[AudioChunk]:
        """The next chunk of a passage, with the marks before its words; nothing while all of it is held back."""
        if self._gap is not None:
            chunk = replace(chunk, pcm=self._seam.hold(chunk.pcm))
            if not len(chunk.pcm) and not chunk.words:
                return
        if not self._begun:
            before, cut = self._seam.settle(chunk.pcm)
            if before:
                yield self._quiet(self._seam.silence(before))
            self._joiner.begin(cut)
            self._begun, chunk = True, replace(chunk, pcm=chunk.pcm[cut:])
        joined = self._joiner.append(chunk, passage.in_whole, self._source)
        for word in joined.words:
            while self._inside and self._inside[0][0] <= word.span.start:
                self._marks.append(MarkTiming(self._inside.pop(0)[1], word.start))
        yield self._marked(joined)

    def end(self) -> AudioChunk | None:
        """End a passage; marks behind its last word are at its end. Returns what is left of its last silence."""
        tail = self._seam.release(round((self._gap or 0.0) * self._can.sample_rate))
        for _, name in self._inside:
            self.mark(name)
        return self._quiet(tail) if len(tail) else None

    def mark(self, name: str) -> None:
        self._marks.append(MarkTiming(name, (self._joiner.samples + self._seam.asked) / self._can.sample_rate))

    def silence(self, seconds: float) -> Iterator[AudioChunk]:
        """Silence, longer by as much as the tempo change of the whole will shorten it."""
        yield from self._silence(self._seam.ask(round(seconds * self._stretch * self._can.sample_rate)))

    def finish(self) -> Iterator[AudioChunk]:
        """The rest of a silence that nothing follows, and the chunk that carries the marks behind the last word."""
        asked, _ = self._seam.settle(self._seam.silence(0))
        yield from self._silence(asked)
        if self._marks:
            yield self._quiet(self._seam.silence(0))

    def _silence(self, samples: int) -> Iterator[AudioChunk]:
        most = round(_SILENCE_CHUNK_SECONDS * self._can.sample_rate)
        for start in range(0, samples, most):
            yield self._quiet(self._seam.silence(min(most, samples - start)))

    def _quiet(self, pcm: Pcm) -> AudioChunk:
        joiner = self._joiner
        return self._marked(joiner.append_joined(AudioChunk(pcm, self._can.sample_rate, joiner.chunks, joiner.samples)))

    def _marked(self, chunk: AudioChunk) -> AudioChunk:
        marks, self._marks = tuple(self._marks), []
        return replace(chunk, marks=marks) if marks else chunk
