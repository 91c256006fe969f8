"""Validate a fitted voice on held-out sentences, and scale its offset down until speech is clear."""

import difflib
import math
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from polyvox.engines.kokoro.fitting.scoring import SpeechScorer, TargetSpeaker
from polyvox.engines.kokoro.fitting.sentences import VALIDATION
from polyvox.engines.kokoro.fitting.style_fit import padded_ids, phoneme_count
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.errors import PromptError
from polyvox.models.kokoro.model import Kokoro, StyledTokens
from polyvox.types import Pcm
from polyvox.voices.recognition.transcribe import Moonshine

_MAX_WORD_ERRORS, _MAX_MOS_DROP = 0.04, 0.2
# Scales tried for each way of scaling down; one takes a CPU twelve seconds.
_ATTEMPTS = 2
_SCALE_STEP = 1 / 8


@dataclass(frozen=True, slots=True)
class ValidationScores:
    """A voice on the held-out sentences: samples, mean similarity to the speaker, and mean MOS."""

    spoken: tuple[Pcm, ...]
    similarity: float
    mos: float | None


@dataclass(frozen=True, slots=True)
class ValidatedOffset:
    """An offset that leaves speech clear, its similarity to the speaker, and the word error rate."""

    offset: Tensor
    similarity: float
    word_errors: float | None


class Validator:
    """Scores voices on held-out sentences. Without a recogniser there is no word error rate."""

    def __init__(self, kokoro: Kokoro, scorer: SpeechScorer, recogniser: Moonshine | None) -> None:
        self._kokoro, self._scorer, self._recogniser = kokoro, scorer, recogniser

    def validate(self, base: Tensor, offset: Tensor, stock: Tensor, speaker: TargetSpeaker) -> ValidatedOffset:
        """The largest scale of an offset from `base` that is intelligible and loses little MOS against `stock`.

        If the whole offset is not, its acoustic half is scaled down, then all of it. `PromptError` where nothing helps.
        """
        attempt = partial(self._attempt, base, speaker, self.scores(stock, speaker).mos)
        accepted, drop = attempt(offset)
        if accepted is not None:
            return accepted
        for scale_down in (scale_acoustic, torch.mul):
            scale = smaller_scale(1.0, drop)
            for _ in range(_ATTEMPTS):
                accepted, dropped = attempt(scale_down(offset, scale))
                if accepted is not None:
                    return accepted
                scale = smaller_scale(scale, dropped)
        raise PromptError("No clear voice could be fitted to the recording; send a longer or cleaner one.")

    def _attempt(
        self, base: Tensor, speaker: TargetSpeaker, stock_mos: float | None, offset: Tensor
    ) -> tuple[ValidatedOffset | None, float]:
        """The offset if its voice is clear, and the drop of its MOS against `stock_mos`."""
        scores = self.scores(base + offset, speaker)
        drop = 0.0 if stock_mos is None or scores.mos is None else stock_mos - scores.mos
        if drop > _MAX_MOS_DROP:
            return None, drop
        errors = self.word_errors(scores)
        if (errors or 0.0) > _MAX_WORD_ERRORS:
            return None, drop
        return ValidatedOffset(offset, scores.similarity, errors), drop

    @torch.no_grad()
    def scores(self, style: Tensor, speaker: TargetSpeaker) -> ValidationScores:
        """Score a voice, [rows, 256]."""
        sentences = [padded_ids(phonemes) for phonemes in VALIDATION.values()]
        tokens = [StyledTokens(ids, style[phoneme_count(ids) - 1]) for ids in sentences]
        prosody = self._kokoro.predict_prosody(tokens)
        noise = torch.Generator().manual_seed(0)
        # One by one: a batch would have to be masked, which costs time on a CPU.
        spoken = [self._kokoro.decode([each], [torch.randn(each.noise_shape, generator=noise)])[0] for each in prosody]
        scored = [self._scorer.score(samples[None]) for samples in spoken]
        mos = [float(one.mos) for one in scored if one.mos is not None]
        return ValidationScores(
            spoken=tuple(samples.cpu().numpy() for samples in spoken),
            similarity=float(np.mean([float(one.embeddings[0] @ speaker.embedding) for one in scored])),
            mos=float(np.mean(mos)) if mos else None,
        )

    def word_errors(self, scores: ValidationScores) -> float | None:
        """The share of words that the recogniser misses or adds."""
        if self._recogniser is None:
            return None
        transcribe = partial(self._recogniser.transcribe, sample_rate=SAMPLE_RATE)
        with ThreadPoolExecutor(min(len(VALIDATION), torch.get_num_threads())) as pool:
            texts = list(pool.map(transcribe, scores.spoken))
        errors = sum(count_word_errors(*pair) for pair in zip(VALIDATION, texts, strict=True))
        return errors / sum(len(sentence.split()) for sentence in VALIDATION)


def scale_acoustic(offset: Tensor, scale: float) -> Tensor:
    """Scale the acoustic half, which is what costs clearness, and keep the prosodic half."""
    acoustic, prosodic = offset.chunk(2)
    return torch.cat((scale * acoustic, prosodic))


def smaller_scale(scale: float, drop: float) -> float:
    """The next scale to try: what the MOS drop suggests, or half if it was small enough; in eighths."""
    smaller = scale * _MAX_MOS_DROP / drop if drop > _MAX_MOS_DROP else scale / 2
    return max(_SCALE_STEP, math.floor(smaller / _SCALE_STEP) * _SCALE_STEP)


def count_word_errors(sentence: str, transcript: str) -> int:
    """Count the words of a sentence that are missing from a transcript, and those in it that should not be."""
    expected, found = sentence.split(), re.findall("[a-z]+", transcript.lower())
    blocks = difflib.SequenceMatcher(None, expected, found, autojunk=False).get_matching_blocks()
    return max(len(expected), len(found)) - sum(block.size for block in blocks)
