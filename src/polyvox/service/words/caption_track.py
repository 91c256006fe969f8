"""The captions of one session, collected while it speaks."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from polyvox.service.kinds.dialogue_segments import DialogueTurn, dialogue_text, turn_starts
from polyvox.service.words.sounds import NO_SOUNDS, SoundChoice
from polyvox.service.words.viseme_track import Viseme, VisemeTrack
from polyvox.text.captions import CaptionFormat, CaptionWord, Cue, caption_words, captions, cues_of, json_captions
from polyvox.types import AudioChunk, WordTiming

MAX_SPEAKER_NAME_CHARS = 100


class CaptionTrack:
    """The words of a text as its chunks are made; `names` are those of voices, by what chunks call them.

    A file as JSON also has the `sounds` that are asked for.
    """

    def __init__(
        self, text: str, names: Mapping[str, str] = MappingProxyType({}), sounds: SoundChoice = NO_SOUNDS
    ) -> None:
        self._text = text
        self._names = names
        self._sounds = sounds
        self._visemes: list[Viseme] = []
        self._viseme_track = VisemeTrack()
        self._words: list[WordTiming] = []
        self._voices: list[str] = []

    def add(self, chunk: AudioChunk) -> None:
        """Note the words of a chunk."""
        self._words += chunk.words
        self._voices += [chunk.voice] * len(chunk.words)
        if self._sounds.visemes:
            self._visemes += self._viseme_track.add(chunk)

    def written(self, format: CaptionFormat) -> str:  # noqa: A002 - as in `captions`
        """The file of what is there; takes long for a long text."""
        if format is not CaptionFormat.JSON or not self._sounds:
            return captions(self.cues(), format)
        shown = [viseme.fields for viseme in (*self._visemes, *self._viseme_track.finish())]
        more = {"visemes": shown} if self._sounds.visemes else {}
        return json_captions(self.cues(), phonemes=self._sounds.phonemes, more=more)

    def cues(self) -> tuple[Cue, ...]:
        """The cues of what is there."""
        words = caption_words(self._words, self._text)
        return cues_of([replace(word, speaker=self._speaker(index, word)) for index, word in enumerate(words)])

    def _speaker(self, index: int, word: CaptionWord) -> str:
        voice = self._voices[index]
        return self._names.get(voice, voice)


class DialogueCaptionTrack(CaptionTrack):
    """The words of a dialogue, and the speaker of each; `speakers` are the turns' names."""

    def __init__(self, turns: Sequence[DialogueTurn], speakers: Sequence[str], sounds: SoundChoice = NO_SOUNDS) -> None:
        super().__init__(dialogue_text(turns), sounds=sounds)
        self._starts = turn_starts(turns)
        self._speakers = speakers

    def _speaker(self, index: int, word: CaptionWord) -> str:
        turn = bisect_right(self._starts, word.timing.span.start) - 1
        return self._speakers[max(0, turn)]


def speaker_names(turns: Sequence[DialogueTurn]) -> list[str]:
    """A name for each turn's voice: its own, or for a recording that the turn carries its number among the voices."""
    numbers = {voice: number for number, voice in enumerate(dict.fromkeys(turn.voice for turn in turns), 1)}
    short = ((turn.voice, len(turn.voice) <= MAX_SPEAKER_NAME_CHARS and "+http" not in turn.voice) for turn in turns)
    return [voice if named else f"Speaker {numbers[voice]}" for voice, named in short]
