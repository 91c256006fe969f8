"""Bring a voice to a speaker's mean pitch, through the prosody predictor alone."""

from collections.abc import Sequence

import torch
from torch import Tensor

from polyvox.models.kokoro.model import Kokoro, Prosody, StyledTokens

_SENTENCES = 4
"""In one step; they are taken in turn, so that short and long ones count."""
_VOICED_ABOVE_HZ = 50.0
_LEAST_SLOPE = 0.01
"""Squared gradient below which a step is shortened: there, the pitch hardly follows the style."""


def fit_pitch(kokoro: Kokoro, sentences: Sequence[StyledTokens], basis: Tensor, log_pitch: float, steps: int) -> Tensor:
    """The offset of the prosodic half of a style, [half], with which sentences have a mean log pitch.

    Pitch is nearly linear in the style, so each step is Gauss-Newton's: the smallest one, in the coordinates of `basis`
    [half, half], that should reach the pitch.
    """
    coordinates = basis.new_zeros(len(basis))
    for step in range(steps):
        chosen = [sentences[(step * _SENTENCES + place) % len(sentences)] for place in range(_SENTENCES)]
        moved = coordinates.detach().requires_grad_()
        means = mean_log_pitches(kokoro.predict_prosody(shifted(chosen, basis @ moved)))
        if not len(means):
            break
        error = means.mean() - log_pitch
        (gradient,) = torch.autograd.grad(error, moved)
        coordinates = coordinates - error.detach() * gradient / gradient.square().sum().clamp(min=_LEAST_SLOPE)
    return basis @ coordinates


def shifted(sentences: Sequence[StyledTokens], offset: Tensor) -> list[StyledTokens]:
    """Sentences with an offset added to the prosodic half of their styles."""
    whole = torch.cat((torch.zeros_like(offset), offset))
    return [StyledTokens(each.ids, each.style + whole, each.speed) for each in sentences]


def mean_log_pitches(prosodies: Sequence[Prosody]) -> Tensor:
    """Mean log pitch of the voiced frames of each sentence that has some."""
    voiced = [prosody.pitch[prosody.pitch > _VOICED_ABOVE_HZ] for prosody in prosodies]
    means = [pitch.log().mean() for pitch in voiced if len(pitch)]
    return torch.stack(means) if means else torch.zeros(0)
