"""The trial that a fitted voice stands before it is anybody's: as much of it is kept as leaves speech clear."""

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from polyvox.engines.kokoro.fit_texts import TRIAL
from polyvox.engines.kokoro.fitting import Listeners, Speaker, line_ids, phonemes_of
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.errors import PromptError
from polyvox.models.kokoro import Kokoro, Line
from polyvox.types import Pcm
from polyvox.voices.transcribe import Moonshine

_MOST_LOST, _MOST_WORSE = 0.07, 0.2
_HALVINGS = 3


@dataclass(frozen=True, slots=True)
class Account:
    """How a style says the trial's sentences: how like the speaker it sounds, and what listeners think of it."""

    spoken: tuple[Pcm, ...]
    likeness: float
    opinion: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is kept of an offset, how like the speaker it sounds, and the share of words that are not made out."""

    offset: Tensor
    likeness: float
    lost: float | None


class Trial:
    """Sentences of usual length that no fit is led by. Without a recogniser nobody counts words."""

    def __init__(self, kokoro: Kokoro, listeners: Listeners, recogniser: Moonshine | None) -> None:
        self._kokoro, self._listeners, self._recogniser = kokoro, listeners, recogniser

    def verdict(self, base: Tensor, offset: Tensor, stock: Tensor, speaker: Speaker) -> Verdict:
        """As much of an offset from `base` as sounds nearly as good as `stock` does and loses hardly a word.

        Less of its colour is tried first, then less of everything.
        """
        before = self.account(stock, speaker).opinion
        passed: dict[float, Verdict] = {}

        def clear(lessened: Callable[[Tensor, float], Tensor], share: float) -> bool:
            part = lessened(offset, share)
            account = self.account(base + part, speaker)
            if before is not None and account.opinion is not None and before - account.opinion > _MOST_WORSE:
                return False
            lost = self.lost(account)
            if (lost or 0.0) > _MOST_LOST:
                return False
            passed[share] = Verdict(part, account.likeness, lost)
            return True

        for lessened in (coloured, torch.mul):
            if share := largest_share(partial(clear, lessened)):
                return passed[share]
        raise PromptError("No clear voice could be fitted to the recording; send a longer or cleaner one.")

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

    def lost(self, account: Account) -> float | None:
        """The share of words that a recogniser does not find in what was said."""
        if self._recogniser is None:
            return None
        wanted = [word for sentence in TRIAL for word in sentence.split()]
        heard = [
            word
            for pcm in account.spoken
            for word in re.findall("[a-z]+", self._recogniser.transcribe(pcm, SAMPLE_RATE).lower())
        ]
        found = difflib.SequenceMatcher(None, wanted, heard, autojunk=False).get_matching_blocks()
        return 1 - sum(block.size for block in found) / len(wanted)


def coloured(offset: Tensor, share: float) -> Tensor:
    """A share of the half that colours the sound, which is what costs clearness, and all of that for pitch and pace."""
    colour, manner = offset.chunk(2)
    return torch.cat((share * colour, manner))


def largest_share(clear: Callable[[float], bool]) -> float:
    """The largest share that is clear, to an eighth, if less of it is never worse; 0 where none is found."""
    if clear(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if clear(middle) else (low, middle)
    return low
