"""The code predictor inside a step of the talker: the codes behind a frame's first, for all slots at once."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from polyvox.models.qwen3tts.talker import Talker
from polyvox.runtime.causal_lm import FusedBackbone
from polyvox.runtime.executors.fused_lm import fused_backbone, fused_draws
from polyvox.runtime.kv_cache import KvCache
from polyvox.runtime.lm_step import SlotStart, SlotText
from polyvox.runtime.pinned_output import upload
from polyvox.runtime.sampling.sampler import Draws, SamplingPlan, draw, uniforms
from polyvox.runtime.tokens import SamplingParams

_STREAM = 0x5DEECE66D
"""Sets the random numbers of the predictor apart from the talker's."""


class PredictorSteps:
    """Frames of the slots of one scheduler; see `FrameSteps`. All its tensors have fixed places for captured graphs."""

    def __init__(self, talker: Talker, slots: int, text_capacity: int, *, fused: bool, float8: bool = False) -> None:
        """`slots` besides the spare one; each may have `text_capacity` ids of text. `fused` tries a GPU's kernels."""
        self._talker, self._predictor = talker, talker.predictor
        self.groups = talker.config.groups
        weight = talker.head.weight
        device, rows = weight.device, slots + 1
        self._pad = talker.config.text_ids.pad
        self._text = torch.full((rows, text_capacity), self._pad, device=device)
        self._text_length = torch.zeros(rows, dtype=torch.long, device=device)
        self._fed = torch.zeros(rows, dtype=torch.long, device=device)
        """Frames of each slot that were fed, and so the number of its next text."""
        self._frame = torch.zeros(rows, self.groups, dtype=torch.long, device=device)
        self._made = torch.zeros(rows, dtype=torch.long, device=device)
        self._seed = torch.zeros(rows, dtype=torch.long, device=device)
        self._top_k = torch.full((rows,), talker.config.codes, device=device)
        self._float = torch.ones(rows, 2, device=device)
        """Temperature and top-p of each slot."""
        self._fused: _FusedPredictor | None = None
        if fused:
            cache = KvCache(talker.predictor.backbone.config, slots, self.groups, weight.dtype, device)
            backbone = fused_backbone(talker.predictor.backbone, cache, float8=float8)
            self._fused = None if backbone is None else _FusedPredictor(talker, backbone)
        self._draw = fused_draws(device) if fused else None

    def start(self, starts: Sequence[SlotStart]) -> None:
        if not starts:
            return
        codes = self._talker.config.codes
        ints, floats = [], []
        for start in starts:
            sampling = start.frame or SamplingParams()
            ints.append((start.slot, start.seed ^ _STREAM, sampling.top_k or codes))
            floats.append((sampling.temperature, sampling.top_p))
        table = upload(torch.tensor(ints), self._seed.device)
        slots = table[:, 0]
        self._seed[slots], self._top_k[slots] = table[:, 1], table[:, 2]
        self._float[slots] = upload(torch.tensor(floats), self._seed.device)
        for counter in (self._fed, self._made, self._text_length):
            counter.index_fill_(0, slots, 0)

    def feed(self, texts: Sequence[SlotText]) -> None:
        for text in texts:
            end = text.start + len(text.ids)
            if end > self._text.shape[1]:
                raise ValueError(f"A slot holds {self._text.shape[1]} ids of text, not {end}.")
            self._text[text.slot, text.start : end] = upload(torch.tensor(text.ids), self._text.device)
            self._text_length[text.slot : text.slot + 1] = end

    def rows(self, slots: Tensor) -> Tensor:
        fed = self._fed[slots]
        inside = fed < self._text_length[slots]
        ids = torch.where(inside, self._text[slots, fed.clamp(max=self._text.shape[1] - 1)], self._pad)
        self._fed[slots] = fed + 1
        return self._talker.frame_rows(self._frame[slots]) + self._talker.text_rows(ids)

    def complete(self, hidden: Tensor, tokens: Tensor, slots: Tensor, plan: SamplingPlan) -> Tensor:
        steps = self._fused or _EagerPredictor(self._talker)
        codes = [tokens]
        logits = steps.begin(hidden, tokens.clamp(min=0), slots)
        for group in range(1, self.groups):
            codes.append(self._drawn(group, logits, slots, plan))
            if group < self.groups - 1:
                logits = steps.go_on(group, codes[-1], slots)
        frame = torch.stack(codes, dim=-1)
        self._frame[slots] = frame.clamp(min=0)
        self._made[slots] += 1
        return frame

    def _drawn(self, group: int, logits: Tensor, slots: Tensor, plan: SamplingPlan) -> Tensor:
        if self._draw is not None:
            where = self.groups, group
            return self._draw(logits, slots, self._seed, self._made, self._float, self._top_k, where)
        temperature, top_p = self._float[slots].unbind(1)
        uniform = uniforms(self._seed[slots], self._made[slots] * self.groups + group, 0)
        draws = Draws(temperature, self._top_k[slots], top_p, uniform)
        candidates = min(plan.candidates, self._talker.config.codes)
        return draw(logits.float(), draws, candidates, nested=True).clamp(min=0)


class _EagerPredictor:
    """The predictor on tensors of its own."""

    def __init__(self, talker: Talker) -> None:
        self._talker, self._predictor = talker, talker.predictor

    def begin(self, hidden: Tensor, tokens: Tensor, slots: Tensor) -> Tensor:
        logits, self._state = self._predictor.begin(hidden, self._talker.codec_rows(tokens))
        return logits

    def go_on(self, group: int, codes: Tensor, slots: Tensor) -> Tensor:
        logits, self._state = self._predictor.go_on(group, codes, self._state)
        return logits


class _FusedPredictor:
    """The predictor on fused kernels, with its keys and values in slots; its tables are in its own width already."""

    def __init__(self, talker: Talker, fused: FusedBackbone) -> None:
        self._predictor, self._fused = talker.predictor, fused
        self._groups = talker.config.groups
        self._tables = [self._predictor.narrow(talker.backbone.embed_tokens.weight[: talker.config.codes + 1])]
        self._tables += [self._predictor.narrow(table) for table in self._predictor.tables]

    def begin(self, hidden: Tensor, tokens: Tensor, slots: Tensor) -> Tensor:
        self._step(0, self._predictor.narrow(hidden).clone(), slots)
        return self._predictor.logits(1, self._step(1, functional.embedding(tokens, self._tables[0]), slots))

    def go_on(self, group: int, codes: Tensor, slots: Tensor) -> Tensor:
        rows = functional.embedding(codes, self._tables[group])
        return self._predictor.logits(group + 1, self._step(group + 1, rows, slots))

    def _step(self, position: int, rows: Tensor, slots: Tensor) -> Tensor:
        return self._fused.decode(rows, slots, torch.full_like(slots, position), self._groups)
