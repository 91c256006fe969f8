"""A dialogue: turns of several voices, spoken as one utterance."""

import asyncio
import math
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from polyvox.config import Settings
from polyvox.engines.base import Engine, SupportsDialogue
from polyvox.errors import InvalidRequestError, PolyvoxError, TextError
from polyvox.service.act import longest_speech
from polyvox.service.casting import Casting
from polyvox.service.cloning import Clone
from polyvox.service.course import Course
from polyvox.service.delivery import closing
from polyvox.service.scenes import SPEAKERS, Scene, Turn, in_pairs, one_by_one, whole_text
from polyvox.text import markup
from polyvox.types import AudioChunk, PreparedVoice, Utterance
from polyvox.voices.references import parse_reference

PAUSE_SECONDS = 0.3
"""The silence between turns unless another is asked for; an engine that speaks both voices in one go sets its own."""
_SEEDS = 1 << 63
_MARKS_ALONE = re.compile(r"[\s.,;:!?…—–'\"“”‘’()\[\]。，！？；：、-]*")
_FIELDS_OF_A_TURN = {"input": "text", "voice": "voice", "audio": "voice", "prompt_text": "prompt_text"}


@dataclass(frozen=True, slots=True)
class Script:
    """What is said by whom, within the limits; `pause` is None where nobody asked for one."""

    turns: tuple[Turn, ...]
    pause: float | None = None

    @classmethod
    def checked(cls, turns: Sequence[Turn], pause: float | None, settings: Settings) -> "Script":
        """The script, or the typed error for what is wrong with it."""
        _check_sizes(turns, settings)
        _check_pause(pause, len(turns))
        for index, turn in enumerate(turns):
            _check_text(turn.text, f"turns[{index}].text")
        return cls(tuple(turns), pause)

    @property
    def chars(self) -> int:
        return sum(len(turn.text) for turn in self.turns)

    def scenes(self, engine: Engine, cloned: Mapping[str, object]) -> list[Scene]:
        """How an engine speaks it: in pairs of voices where it can and all voices are prepared, else turn by turn."""
        can_pair = engine.capabilities.dialogue and isinstance(engine, SupportsDialogue)
        if can_pair and all(turn.voice in cloned for turn in self.turns):
            return in_pairs(self.turns, self.pause or 0.0)
        return one_by_one(self.turns)


async def staged(
    turns: Sequence[Turn],
    pause: float | None,
    casting: Casting,
    settings: Settings,
    *,
    owner: str,
    model: str | None,
    speed: float,
) -> "Dialogue":
    """The dialogue, checked and with its voices found, each once; what is costly about them waits."""
    script = await asyncio.to_thread(Script.checked, turns, pause, settings)
    read = partial(parse_reference, max_bytes=settings.prompt_max_bytes)
    clones: dict[str, Clone] = {}
    for voice, (index, prompt_text) in _voices(script.turns).items():
        with blaming(index):
            reference = await asyncio.to_thread(read, voice)
            clone = await casting.cast(reference, owner, model=model, transcript=prompt_text, pairs=False)
        if clone is not None:
            clones[voice] = clone
    return Dialogue(script, clones, speed)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The act. `clones` are the voices that are the callers' own, by what the turns call them."""

    script: Script
    clones: Mapping[str, Clone]
    speed: float

    @property
    def chars(self) -> int:
        return self.script.chars

    @property
    def longest(self) -> float:
        pauses = len(self.script.turns) * (PAUSE_SECONDS if self.script.pause is None else self.script.pause)
        return longest_speech(self.chars, self.speed) + pauses

    def check(self, engine: Engine, utterance: Utterance) -> None:
        for index, turn in enumerate(self.script.turns):
            if turn.voice not in self.clones:
                with blaming(index):
                    engine.check(replace(utterance, text=turn.text, voice=turn.voice))

    async def perform(self, engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        prepared = await self._prepared(engine)
        scenes = self.script.scenes(engine, prepared)
        casts = {scene.cast: self._voice(scene.cast, engine, prepared) for scene in scenes}
        wishes = [_asked(scene, utterance, casts[scene.cast]) for scene in scenes]
        for scene, wish in zip(scenes, wishes, strict=True):
            if wish.prepared is not None:  # what the engine has of its own was checked before
                with blaming(scene.first_turn):
                    engine.check(wish)
        course = Course(engine, whole_text(self.script.turns))
        for scene, wish in zip(scenes, wishes, strict=True):
            if (silence := course.begin(self._pause(engine))) is not None:
                yield silence
            speech = engine.speak(wish)
            with blaming(scene.first_turn):
                async with closing(speech):
                    async for chunk in speech:
                        if (placed := course.placed(chunk, scene)) is not None:
                            yield placed
                course.end()
        if (silence := course.rest()) is not None:
            yield silence

    async def _prepared(self, engine: Engine) -> dict[str, PreparedVoice]:
        """The callers' voices, all before the first word, so that one that will not do is refused in time."""
        prepared: dict[str, PreparedVoice] = {}
        for index, turn in enumerate(self.script.turns):
            if turn.voice in self.clones and turn.voice not in prepared:
                with blaming(index):
                    prepared[turn.voice] = await self.clones[turn.voice].prepare(engine)
        return prepared

    def _voice(
        self, cast: tuple[str, ...], engine: Engine, prepared: Mapping[str, PreparedVoice]
    ) -> tuple[str, PreparedVoice | None]:
        """What the engine is to call a cast, and the voice that was made for it; None where it is one of its own."""
        if len(cast) == len(SPEAKERS):
            assert isinstance(engine, SupportsDialogue)
            return "+".join(self.clones[voice].label for voice in cast), engine.dialogue_voice(
                *(prepared[voice] for voice in cast)
            )
        (voice,) = cast
        return (self.clones[voice].label, prepared[voice]) if voice in prepared else (voice, None)

    def _pause(self, engine: Engine) -> float:
        """The silence to put between two scenes, longer by as much as the tempo of the whole will shorten it."""
        seconds = PAUSE_SECONDS if self.script.pause is None else self.script.pause
        return seconds if engine.capabilities.native_speed else seconds * self.speed


def _asked(scene: Scene, utterance: Utterance, voice: tuple[str, PreparedVoice | None]) -> Utterance:
    """What the engine is asked for a scene; its seed is its own, or turns alike would be spoken alike."""
    seed = None if utterance.seed is None else (utterance.seed + scene.first_turn) % _SEEDS
    name, prepared = voice
    return replace(utterance, text=scene.text, voice=name, seed=seed, prepared=prepared)


@contextmanager
def blaming(index: int) -> Iterator[None]:
    """An error about a text or a voice is about that of this turn."""
    try:
        yield
    except PolyvoxError as error:
        if error.field in _FIELDS_OF_A_TURN:
            error.field = f"turns[{index}].{_FIELDS_OF_A_TURN[error.field]}"
        raise


def _voices(turns: Sequence[Turn]) -> dict[str, tuple[int, str | None]]:
    """Each voice with its first turn and what is said in its recording, which any of its turns may tell."""
    found: dict[str, tuple[int, str | None]] = {}
    for index, turn in enumerate(turns):
        first, words = found.get(turn.voice, (index, None))
        if None not in (words, turn.prompt_text) and words != turn.prompt_text:
            raise InvalidRequestError(
                f"turns[{index}] gives the recording of its voice other words than turns[{first}]; give them once.",
                field=f"turns[{index}].prompt_text",
            )
        found[turn.voice] = first, words or turn.prompt_text
    return found


def _check_sizes(turns: Sequence[Turn], settings: Settings) -> None:
    if not turns:
        raise InvalidRequestError("The dialogue has no turns; send at least one.", field="turns")
    if len(turns) > settings.dialogue_max_turns:
        raise InvalidRequestError(
            f"The dialogue has {len(turns):,} turns; this server takes at most {settings.dialogue_max_turns:,}.",
            field="turns",
        )
    chars = sum(len(turn.text) for turn in turns)
    if chars > settings.max_input_chars:
        raise TextError(
            f"The turns have {chars:,} characters; this server takes at most {settings.max_input_chars:,}.",
            field="turns",
        )
    voices = len({turn.voice for turn in turns})
    if voices > settings.dialogue_max_voices:
        raise InvalidRequestError(
            f"The dialogue has {voices} voices; this server takes at most {settings.dialogue_max_voices}.",
            field="turns",
        )


def _check_pause(pause: float | None, turns: int) -> None:
    if pause is None:
        return
    if not (math.isfinite(pause) and 0 <= pause <= markup.MAX_PAUSE_SECONDS):
        raise InvalidRequestError(
            f"pause must lie between 0 and {markup.MAX_PAUSE_SECONDS:g} seconds, not {pause:g}.", field="pause"
        )
    if pause * (turns - 1) > markup.MAX_SILENCE_SECONDS:
        raise InvalidRequestError(
            f"The pauses may last at most {markup.MAX_SILENCE_SECONDS:g} s together; ask for shorter ones.",
            field="pause",
        )


def _check_text(text: str, field: str) -> None:
    if not text.strip():
        raise TextError(f"{field} is empty; give each turn something to say.", field=field)
    try:
        words = markup.parse(text).text.text
    except PolyvoxError as error:
        error.field = field
        raise
    if any(tag in words for tag in SPEAKERS):
        raise TextError(
            f"{field} holds {' or '.join(SPEAKERS)}; who speaks is the turn's voice: give each speaker a turn.",
            field=field,
        )
    if _MARKS_ALONE.fullmatch(words):
        raise TextError(f"{field} holds no word that could be spoken; send words.", field=field)
