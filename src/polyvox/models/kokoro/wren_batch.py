"""Wren on whole utterances of different lengths in one padded batch: all shapes follow from the padded length."""

from collections.abc import Callable

import torch
from torch import Tensor

from polyvox.models.kokoro.ragged import FrameSpans, Ragged, gather_rows
from polyvox.models.kokoro.wren import Wren
from polyvox.models.kokoro.wren_source import phase_cycles
from polyvox.models.kokoro.wren_utterance import spread_indices, utterance_frames


def wren_samples(
    wren: Wren,
    text: Tensor,
    pitch: Tensor,
    energy: Tensor,
    style: Tensor,
    noise: Tensor,
    rows: Ragged,
    heard: Callable[[Tensor], FrameSpans],
) -> Tensor:
    """Samples [batch, 600 n] of text [batch, width, n], pitch and energy [batch, 2 n], and style [batch, style width].

    `noise` [600 n] is the same for all rows. `heard` chooses the frames that are decoded by their energy; all others
    are silent. A row does not depend on the others, nor on its padding.
    """
    halves = rows.scaled(2)
    present = FrameSpans(torch.zeros_like(rows.ends), halves.ends, halves.longest)
    text, pitch, energy = rows.masked(text), pitch * present.mask[..., 0], energy * present.mask[..., 0]
    phase = phase_cycles(pitch)
    chosen = spread_indices(rows.ends)
    curves = [gather_rows(curve.view(len(curve), -1, 2), chosen) for curve in (pitch, energy)]
    utterance = utterance_frames(gather_rows(text.transpose(1, 2), chosen), curves[0], curves[1], rows.ends)
    condition = wren.condition(style, utterance)
    spans = heard(energy)
    hidden = wren.encode(text, pitch, energy, condition, phase, present.mask, spans.mask)
    raw = wren.decode(wren.project(hidden), pitch, phase, noise.expand(len(text), -1), spans)
    return wren.refine(raw, hidden, condition, spans.mask) * spans.samples(wren.config.hop)
