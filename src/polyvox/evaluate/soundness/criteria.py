"""The criteria of a sound model: figures of a trial, each against its limit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add

import numpy as np

from polyvox.evaluate.evaluation import similarities
from polyvox.evaluate.soundness.listeners import Listeners
from polyvox.evaluate.soundness.sentences import UNSPACED
from polyvox.evaluate.soundness.spoken_sentence import SpokenSentence, TrialVoice
from polyvox.evaluate.soundness.trial import Difference, Trial
from polyvox.evaluate.wer import WerResult
from polyvox.voices.recognition.similarity import SAME_SPEAKER

WORD_ERRORS = 0.1
OTHER_WORD_ERRORS = 0.3
"""In other languages than English: there the recogniser itself errs more."""
UNITS = {"zh": "syllables", "ja": "characters"}
"""The units that are counted where words are written without blanks."""
LEVEL_DBFS = -45.0
PACE = (0.03, 0.25)
UNSPACED_PACE = (0.08, 0.6)
"""Seconds for a character, between a hasty and a very slow speaker."""
LENGTH_SHARE = 0.1
FIRST_AUDIO_SECONDS = 2.0
REAL_TIME_FACTOR = 1.0
TOGETHER_RATIO = 1.25
"""Sentences at once may take so many times as long as one after the other, and no longer."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """A figure and its limit in words; `met` is None where it could not be judged, for the reason in `measured`."""

    name: str
    measured: str
    limit: str
    met: bool | None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The criteria of a model, and what was heard of each sentence."""

    criteria: tuple[Criterion, ...]
    transcripts: tuple[str | None, ...] = field(default=())

    @property
    def sound(self) -> bool | None:
        """False if a criterion was missed, else None if one could not be judged."""
        verdicts = [criterion.met for criterion in self.criteria]
        return False if False in verdicts else None if None in verdicts else True


def judge(trial: Trial, listeners: Listeners, *, timed: bool) -> Judgement:
    """Listen to a trial. Blocks."""
    heard = {
        id(sentence): listeners.transcribe(sentence.pcm, sentence.rate)
        for sentence in trial.alone
        if listeners.recogniser is not None and not sentence.error
    }
    criteria = [_spoken(trial.alone), _audible(trial.alone), _pace(trial.alone, listeners.language)]
    for voice in trial.voices:
        sentences = trial.of_voice(voice)
        counted = [listeners.errors(each.text, heard[id(each)]) for each in sentences if id(each) in heard]
        criteria += [_words(voice, counted, listeners), _speaker(voice, sentences, listeners)]
    criteria.append(_same("stream and whole", [trial.stream_and_whole]))
    criteria.append(_same(f"alone and {len(trial.together)} at once", trial.alone_and_together))
    criteria += _speed(trial) if timed else ()
    return Judgement(tuple(criteria), tuple(heard.get(id(sentence)) for sentence in trial.alone))


def _spoken(sentences: Sequence[SpokenSentence]) -> Criterion:
    errors = [sentence.error for sentence in sentences if sentence.error]
    done = f"{len(sentences) - len(errors)} of {len(sentences)}"
    measured = f"{done}: {errors[0]}" if errors else done
    return Criterion("sentences spoken", measured, "all", not errors, len(sentences) - len(errors))


def _audible(sentences: Sequence[SpokenSentence]) -> Criterion:
    name, limit = "quietest sentence", f"at least {LEVEL_DBFS:g} dBFS"
    levels = [_level(sentence) for sentence in sentences if not sentence.error]
    if not levels:
        return _unjudged(name, limit, "nothing was spoken")
    least = min(levels)
    if not np.isfinite(least):
        return Criterion(name, "non-finite samples, or silence", limit, met=False)
    return Criterion(name, f"{least:.0f} dBFS", limit, least >= LEVEL_DBFS, least)


def _level(sentence: SpokenSentence) -> float:
    """The RMS of a sentence in dB of full scale; minus infinity for silence and for non-finite samples."""
    power = float(np.mean(np.square(sentence.pcm, dtype=np.float64)))
    return 10.0 * float(np.log10(power)) if np.isfinite(power) and power > 0 else -np.inf


def _pace(sentences: Sequence[SpokenSentence], language: str) -> Criterion:
    low, high = UNSPACED_PACE if language in UNSPACED else PACE
    name, limit = "seconds a character", f"{low:g} to {high:g}"
    paces = [sentence.seconds / len(sentence.text) for sentence in sentences if not sentence.error]
    if not paces:
        return _unjudged(name, limit, "nothing was spoken")
    shown = f"{min(paces):.3f} to {max(paces):.3f}"
    return Criterion(name, shown, limit, low <= min(paces) and max(paces) <= high, float(np.mean(paces)))


def _words(voice: TrialVoice, counted: Sequence[WerResult], listeners: Listeners) -> Criterion:
    most = WORD_ERRORS if listeners.language == "en" else OTHER_WORD_ERRORS
    name, limit = f"{UNITS.get(listeners.language, 'words')} wrong, {voice.label}", f"at most {most:.0%}"
    if not counted:
        return _unjudged(name, limit, listeners.no_words or "nothing was spoken")
    total = reduce(add, counted)
    return Criterion(name, f"{total.rate:.1%} ({total.errors}/{total.words})", limit, total.rate <= most, total.rate)


def _speaker(voice: TrialVoice, sentences: Sequence[SpokenSentence], listeners: Listeners) -> Criterion:
    """Likeness to the recording, or for a voice of the model's own, of its sentences to each other."""
    likeness = "like its recording" if voice.prompt is not None else "like itself"
    name, limit = f"{voice.label}, {likeness}", f"at least {SAME_SPEAKER:g}"
    reference = None if voice.prompt is None else listeners.embed(*voice.prompt)
    if voice.prompt is not None and reference is None:
        return _unjudged(name, limit, listeners.no_speaker or "too little speech in the recording")
    embeddings = [listeners.embed(sentence.pcm, sentence.rate) for sentence in sentences if not sentence.error]
    alike = [value for value in similarities(embeddings, reference) if value is not None]
    if not alike:
        return _unjudged(name, limit, listeners.no_speaker or "too little speech")
    mean = float(np.mean(alike))
    return Criterion(name, f"{mean:.2f} (least {min(alike):.2f})", limit, mean >= SAME_SPEAKER, mean)


def _same(name: str, differences: Sequence[Difference | None]) -> Criterion:
    limit = f"equal, or {LENGTH_SHARE:.0%} in length"
    known = [difference for difference in differences if difference is not None]
    if len(known) < len(differences) or not known:
        return _unjudged(name, limit, "a sentence was not spoken")
    if all(difference.equal for difference in known):
        return Criterion(name, "equal", limit, met=True, value=0.0)
    furthest = max((difference.longer for difference in known), key=abs)
    return Criterion(name, f"{furthest:+.1%} in length", limit, abs(furthest) <= LENGTH_SHARE, furthest)


def _speed(trial: Trial) -> Iterator[Criterion]:
    alone = [sentence for sentence in trial.of_voice(trial.voices[0]) if not sentence.error]
    together = [sentence for sentence in trial.together if not sentence.error]
    if not alone or len(together) < len(trial.together):
        yield _unjudged("speed", f"real-time factor {REAL_TIME_FACTOR:g}", "a sentence was not spoken")
        return
    yield _at_most("first audio", float(np.median([each.first_seconds for each in alone])), FIRST_AUDIO_SECONDS, " s")
    factor = sum(each.wall_seconds for each in alone) / sum(each.seconds for each in alone)
    yield _at_most("real-time factor", factor, REAL_TIME_FACTOR)
    count = len(together)
    latest = max(each.first_seconds for each in together)
    yield _at_most(f"first audio, {count} at once", latest, count * FIRST_AUDIO_SECONDS, " s")
    in_turn = sum(each.wall_seconds for each in alone[:count])
    yield _at_most(f"{count} at once, by in turn", trial.together_seconds / in_turn, TOGETHER_RATIO)


def _at_most(name: str, value: float, limit: float, unit: str = "") -> Criterion:
    return Criterion(name, f"{value:.2f}{unit}", f"at most {limit:g}{unit}", value <= limit, value)


def _unjudged(name: str, limit: str, reason: str) -> Criterion:
    return Criterion(name, reason, limit, None)
