"""One step of a fit as a function of tensors: how alike, and which way to go. So a GPU can record it."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.engines.kokoro.fit_listeners import Heard, Listeners
from polyvox.engines.kokoro.fit_plan import FitPlan
from polyvox.engines.kokoro.fit_speaker import Speaker
from polyvox.engines.kokoro.vocabulary import PADDING
from polyvox.models.kokoro.model import FRAME, Kokoro
from polyvox.models.kokoro.ragged import Boxed, Ragged

_LEAST_PITCH = 50.0
_MOST_QUALITY = 3.0


@dataclass(frozen=True, slots=True)
class Script:
    """Lines that have been read: what they mean and how they sound, [lines, tokens, width] each, and their ends."""

    meaning: Tensor
    sounds: Tensor
    ends: Tensor

    @classmethod
    @torch.no_grad()
    def of(cls, kokoro: Kokoro, lines: Sequence[Sequence[int]]) -> "Script":
        """Of lines of ids, with the padding token at both ends."""
        device = kokoro.bert_encoder.weight.device
        ragged = Ragged([len(ids) for ids in lines], device)
        padded = [[*ids, *[PADDING] * (ragged.longest - len(ids))] for ids in lines]
        return cls(*kokoro.read(torch.tensor(padded, device=device), ragged), ragged.ends)

    def lines(self, places: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
        """Some of them, as a `Step` takes them."""
        chosen = torch.tensor(places, device=self.ends.device)
        return self.meaning[chosen], self.sounds[chosen], self.ends[chosen]


@dataclass(frozen=True, slots=True)
class _Planned:
    """How lines will be said: text [lines, width, frames], pitch and energy [lines, 2 frames], and their lengths."""

    text: Tensor
    pitch: Tensor
    energy: Tensor
    frames: Ragged

    def first(self, count: int, window: int) -> tuple[Tensor, Tensor, Tensor]:
        """The first lines, each `window` frames long: cut there, or going on as at its last moment."""
        ends, doubled = self.frames.ends[:count], self.frames.scaled(2).ends[:count]
        return (
            _held(self.text[:count], ends, window),
            _held(self.pitch[:count, None], doubled, 2 * window)[:, 0],
            _held(self.energy[:count, None], doubled, 2 * window)[:, 0],
        )


class Step:
    """All of it is given and returned in tensors; with a `box` of frames, their shapes depend on nothing else.

    Then a line that is planned to be longer ends where the box does. `lines` are those of a `Script`, `rows` the rows
    of a style that they are said in, [lines, 256] each, and `noise` [heard, window, 9] is for the first of them, the
    only ones that are heard.
    """

    def __init__(
        self, kokoro: Kokoro, listeners: Listeners, matrix: Tensor, speaker: Speaker, plan: FitPlan, box: int | None
    ) -> None:
        self._kokoro, self._listeners = kokoro, listeners
        self._matrix, self._speaker, self._plan = matrix, speaker, plan
        self._box = box

    def heard(
        self, place: Tensor, price: Tensor, before: Tensor, noise: Tensor, rows: Tensor, *lines: Tensor
    ) -> Tensor:
        """How alike the lines were, the new price of a fall behind the opinions `before`, and the slope at `place`."""
        place = place.detach().requires_grad_()
        plan, heard = self._said(rows + self._matrix @ place, lines, noise)
        likeness = (heard.embeddings @ self._speaker.embedding).mean()
        loss = 1 - likeness + self._plan.closeness * place.square().mean()
        if heard.opinions is not None:
            fall = before - heard.opinions
            deeper = fall.detach().mean() - self._plan.allowed_fall
            price = (price + self._plan.quality_gain * deeper).clamp(0.0, _MOST_QUALITY)
            loss = loss + price * fall.clamp(min=0.0).mean()
        if self._speaker.log_pitch is not None:
            loss = loss + self._pitch_loss(plan, self._speaker.log_pitch)
        (slope,) = torch.autograd.grad(loss, place)
        return torch.cat((likeness.detach()[None], price[None], slope))

    def pitched(self, place: Tensor, rows: Tensor, *lines: Tensor) -> Tensor:
        """The slope of the pitch alone, for which nothing has to be heard."""
        assert self._speaker.log_pitch is not None
        place = place.detach().requires_grad_()
        plan = self._planned(rows + self._matrix @ place, *lines)
        (slope,) = torch.autograd.grad(self._pitch_loss(plan, self._speaker.log_pitch), place)
        return slope

    @torch.no_grad()
    def opinions(self, noise: Tensor, rows: Tensor, *lines: Tensor) -> Tensor:
        """How good the lines sound, [heard], to those who are judging."""
        _, heard = self._said(rows, lines, noise)
        assert heard.opinions is not None
        return heard.opinions

    def _said(self, styles: Tensor, lines: Sequence[Tensor], noise: Tensor) -> tuple[_Planned, Heard]:
        plan = self._planned(styles, *lines)
        count, window = len(noise), noise.shape[1] // FRAME
        colours = styles[:count].chunk(2, dim=1)[0]
        even = Ragged([window] * count, noise.device)
        samples = self._kokoro.sounded(*plan.first(count, window), colours, noise, even)
        return plan, self._listeners.hear(samples)

    def _planned(self, styles: Tensor, meaning: Tensor, sounds: Tensor, ends: Tensor) -> _Planned:
        tokens = self._lengths(ends, meaning.shape[1])
        speeds = torch.ones_like(styles[:, 0])
        told = self._kokoro.timed(meaning[:, : tokens.longest], sounds[:, : tokens.longest], styles, speeds, tokens)
        frames = self._lengths(told[:, :, -1].sum(dim=1).long(), self._box)
        return _Planned(*self._kokoro.contoured(told, styles, frames), frames)

    def _lengths(self, ends: Tensor, box: int | None) -> Ragged:
        """In a box, where lengths may be known to the device alone; otherwise as they are."""
        if self._box is None or box is None:
            return Ragged(ends.tolist(), ends.device)
        return Boxed(ends.clamp(max=box), box)

    def _pitch_loss(self, plan: _Planned, wanted: float) -> Tensor:
        """The squares of how far off the lines' mean pitches are, in natural logarithms; none is voiced: nothing."""
        pitch = plan.frames.scaled(2).masked(plan.pitch[:, None])[:, 0]
        voiced = pitch > _LEAST_PITCH
        counts = voiced.sum(dim=1)
        means = (pitch.clamp(min=_LEAST_PITCH).log() * voiced).sum(dim=1) / counts.clamp(min=1)
        squares = (means - wanted).square() * (counts > 0)
        return self._plan.pitch_weight * squares.sum() / (counts > 0).sum().clamp(min=1)


def _held(rows: Tensor, ends: Tensor, length: int) -> Tensor:
    """Rows [batch, channels, time] as `length` moments; what ends before goes on as it was last."""
    places = torch.arange(length, device=rows.device).clamp(max=ends[:, None] - 1)
    return rows.gather(2, places[:, None].expand(-1, rows.shape[1], -1))
