"""The trial that a fitted voice stands before it is anybody's: as much of it is kept as leaves speech clear."""

import difflib
import math
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from polyvox.engines.kokoro.fit_listeners import Listeners
from polyvox.engines.kokoro.fit_speaker import Speaker
from polyvox.engines.kokoro.fit_texts import TRIAL
from polyvox.engines.kokoro.fitting import line_ids, phonemes_of
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.errors import PromptError
from polyvox.models.kokoro.model import Kokoro, Line
from polyvox.types import Pcm
from polyvox.voices.transcribe import Moonshine

_MOST_WRONG, _MOST_WORSE = 0.04, 0.2
# Of how many lesser shares one is looked for, in either way; to try one takes a CPU twelve seconds.
_TRIES = 2
_GRAIN = 1 / 8


@dataclass(frozen=True, slots=True)
class Account:
    """How a style says the trial's sentences: how like the speaker it sounds, and what listeners think of it."""

    spoken: tuple[Pcm, ...]
    likeness: float
    opinion: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is kept of an offset, how like the speaker it sounds, and the share of words that are heard wrongly."""

    offset: Tensor
    likeness: float
    word_errors: float | None


class Trial:
    """Sentences of usual length that no fit is led by. Without a recogniser nobody counts words."""

    def __init__(self, kokoro: Kokoro, listeners: Listeners, recogniser: Moonshine | None) -> None:
        self._kokoro, self._listeners, self._recogniser = kokoro, listeners, recogniser

    def verdict(self, base: Tensor, offset: Tensor, stock: Tensor, speaker: Speaker) -> Verdict:
        """As much of an offset from `base` as sounds nearly as good as `stock` does and is understood.

        If not all of it does, less of its colour is tried, then less of everything.
        """
        judged = partial(self._judged, base, speaker, self.account(stock, speaker).opinion)
        verdict, fall = judged(offset)
        if verdict is not None:
            return verdict
        for lessened in (coloured, torch.mul):
            share = lesser(1.0, fall)
            for _ in range(_TRIES):
                verdict, fell = judged(lessened(offset, share))
                if verdict is not None:
                    return verdict
                share = lesser(share, fell)
        raise PromptError("No clear voice could be fitted to the recording; send a longer or cleaner one.")

    def _judged(
        self, base: Tensor, speaker: Speaker, before: float | None, offset: Tensor
    ) -> tuple[Verdict | None, float]:
        """The verdict if a voice is clear, and how far the opinion of it falls behind the one `before`."""
        account = self.account(base + offset, speaker)
        fall = 0.0 if before is None or account.opinion is None else before - account.opinion
        if fall > _MOST_WORSE:
            return None, fall
        wrong = self.word_errors(account)
        return (None if (wrong or 0.0) > _MOST_WRONG else Verdict(offset, account.likeness, wrong)), fall

    @torch.no_grad()
    def account(self, style: Tensor, speaker: Speaker) -> Account:
        """How a style, [rows, 256], fares."""
        lines = [line_ids(phonemes) for phonemes in TRIAL.values()]
        plan = self._kokoro.plan([Line(ids, style[phonemes_of(ids) - 1]) for ids in lines])
        noise = torch.Generator().manual_seed(0)
        # One by one, as a batch would have to be masked, which a CPU pays for.
        spoken = [self._kokoro.sound([line], [torch.randn(line.noise_shape, generator=noise)])[0] for line in plan]
        heard = [self._listeners.hear(samples[None]) for samples in spoken]
        opinions = [float(one.opinions) for one in heard if one.opinions is not None]
        return Account(
            spoken=tuple(samples.cpu().numpy() for samples in spoken),
            likeness=float(np.mean([float(one.embeddings[0] @ speaker.embedding) for one in heard])),
            opinion=float(np.mean(opinions)) if opinions else None,
        )

    def word_errors(self, account: Account) -> float | None:
        """The share of words that a recogniser misses in what was said, or hears on top."""
        if self._recogniser is None:
            return None
        hear = partial(self._recogniser.transcribe, sample_rate=SAMPLE_RATE)
        with ThreadPoolExecutor(min(len(TRIAL), torch.get_num_threads())) as listeners:
            texts = list(listeners.map(hear, account.spoken))
        wrong = sum(words_wrong(*pair) for pair in zip(TRIAL, texts, strict=True))
        return wrong / sum(len(sentence.split()) for sentence in TRIAL)


def coloured(offset: Tensor, share: float) -> Tensor:
    """A share of the half that colours the sound, which is what costs clearness, and all of that for pitch and pace."""
    colour, manner = offset.chunk(2)
    return torch.cat((share * colour, manner))


def lesser(share: float, fall: float) -> float:
    """What to try where a share is not clear: what the opinion should bear, or half if it did bear it; in eighths."""
    less = share * _MOST_WORSE / fall if fall > _MOST_WORSE else share / 2
    return max(_GRAIN, math.floor(less / _GRAIN) * _GRAIN)


def words_wrong(wanted: str, heard: str) -> int:
    """How many words of a sentence are missing from what was heard, or are in it and should not be."""
    said, found = wanted.split(), re.findall("[a-z]+", heard.lower())
    blocks = difflib.SequenceMatcher(None, said, found, autojunk=False).get_matching_blocks()
    return max(len(said), len(found)) - sum(block.size for block in blocks)
