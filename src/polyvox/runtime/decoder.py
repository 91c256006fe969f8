"""One step of a decoder-only language model over many slots: pieces of prompts, then a token for each sequence."""

import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from polyvox.models.qwen import Qwen
from polyvox.runtime.executors.graphs import Replay, bucket_for, buckets
from polyvox.runtime.kv_cache import KvCache, Places
from polyvox.runtime.sampling import Sampler, Steps
from polyvox.runtime.tokens import Limits, Sampling

_SHORTEST_EXTENT = 256


class DecoderModel(Protocol):
    """A Qwen backbone, with the tokens that its head knows and the input rows they and the ids of prompts become."""

    @property
    def backbone(self) -> Qwen: ...

    @property
    def vocabulary(self) -> int:
        """How many tokens the head tells apart."""

    def embed_ids(self, ids: Tensor) -> Tensor: ...

    def embed_tokens(self, tokens: Tensor) -> Tensor: ...

    def scores(self, hidden: Tensor) -> Tensor: ...


@dataclass(frozen=True, slots=True)
class Begin:
    """A sequence takes a slot, with the beginning of an earlier prompt where it has the same."""

    slot: int
    sampling: Sampling
    seed: int
    seen: tuple[int, ...]
    prefix: Tensor | None


@dataclass(frozen=True, slots=True)
class Turn:
    """The sequence in a slot goes on under these limits."""

    slot: int
    limits: Limits


@dataclass(frozen=True, slots=True)
class Piece:
    """Input for one slot from position `start` on: ids, or input rows [m, hidden]. The `last` one is answered.

    `follows` says that the token drawn last stands before the piece's own input and has not been read yet. Once the
    piece has been read, the first positions up to `keep[1]` are to be kept under `keep[0]`.
    """

    slot: int
    start: int
    input: tuple[int, ...] | Tensor
    last: bool
    follows: bool = False
    keep: tuple[Hashable, int] | None = None

    @property
    def length(self) -> int:
        return len(self.input) + self.follows


@dataclass(frozen=True, slots=True)
class Step:
    """What the device does before anybody is asked again."""

    begins: Sequence[Begin] = ()
    turns: Sequence[Turn] = ()
    pieces: Sequence[Piece] = ()
    decoding: Sequence[int] = ()
    """Slots whose last token is read and followed by another."""
    lengths: Sequence[int] = ()
    """How many positions each of these slots holds so far."""
    sampling: Steps = field(default_factory=lambda: Steps(0, redraws=False))


@dataclass(frozen=True, slots=True)
class Drawn:
    """The tokens of one step, in the order of the pieces that were last and of the decoding slots, and what it took."""

    first: list[int]
    following: list[int]
    kept: list[tuple[Hashable, Tensor]]
    prefill_seconds: float
    decode_seconds: float


class Decoder:
    """The device's side of the runtime. Only its thread may call it.

    With `replay`, tokens are drawn in shapes of which there are few: the rows are the slots from the first to the last
    in use, those in between that have no part in the step among them, rounded up to a bucket, as is what they see.
    """

    def __init__(self, model: DecoderModel, cache: KvCache, sampler: Sampler, replay: Replay | None = None) -> None:
        self._model = model
        self._cache = cache
        self._sampler = sampler
        self._replay = replay
        self._rows_at_once = buckets(cache.slots)
        self._extents = buckets(cache.capacity, start=min(_SHORTEST_EXTENT, cache.capacity))
        weight = model.backbone.norm.weight
        self._device, self._dtype = weight.device, weight.dtype

    @torch.inference_mode()
    def warm(self, sampling: Sequence[Steps]) -> None:
        """Record every shape that steps with these ways of sampling can have; without `replay` there is nothing to do.

        All rows are idle meanwhile: they are written to the spare slot and drawn by its rules.
        """
        if self._replay is None:
            return
        for rows in self._rows_at_once:
            nowhere = torch.full((rows,), self._cache.spare, device=self._device)
            start = torch.zeros_like(nowhere)
            for extent in self._extents:
                scores = self._scored(self._replay, nowhere, start, extent)
            for steps in sampling:
                self._drawn(self._replay, scores, nowhere, steps)

    @torch.inference_mode()
    def run(self, step: Step) -> Drawn:
        """Do one step."""
        started = time.perf_counter()
        for begin in step.begins:
            self._sampler.begin(begin.slot, begin.sampling, begin.seed, begin.seen)
            if begin.prefix is not None:
                self._cache.restore(begin.slot, begin.prefix)
        for turn in step.turns:
            self._sampler.limit(turn.slot, turn.limits)
        first = self._prefill(step.pieces, step.sampling)
        kept = [(piece.keep[0], self._cache.saved(piece.slot, piece.keep[1])) for piece in step.pieces if piece.keep]
        decoding = time.perf_counter()
        following = self._decode(step)
        return Drawn(first, following, kept, decoding - started, time.perf_counter() - decoding)

    def _prefill(self, pieces: Sequence[Piece], sampling: Steps) -> list[int]:
        """Read pieces of any lengths in one batch, and answer those that are the last of their prompt."""
        if not pieces:
            return []
        rows = pad_sequence([self._rows(piece) for piece in pieces], batch_first=True)
        hidden = self._read(rows, self._places(pieces, rows.shape[1]))
        answered = [index for index, piece in enumerate(pieces) if piece.last]
        if not answered:
            return []
        ends = torch.tensor([pieces[index].length - 1 for index in answered], device=self._device)
        scores = self._model.scores(hidden[torch.tensor(answered, device=self._device), ends])
        slots = torch.tensor([pieces[index].slot for index in answered], device=self._device)
        tokens: list[int] = self._sampler.draw(scores, slots, sampling).tolist()
        return tokens

    def _rows(self, piece: Piece) -> Tensor:
        if isinstance(piece.input, Tensor):
            rows = piece.input.to(self._device, self._dtype)
        else:
            rows = self._model.embed_ids(torch.tensor(piece.input, dtype=torch.long, device=self._device))
        if piece.follows:
            before = self._model.embed_tokens(self._sampler.last[piece.slot : piece.slot + 1])
            rows = torch.cat((before, rows))
        return rows

    def _places(self, pieces: Sequence[Piece], width: int) -> Places:
        slots = torch.tensor([piece.slot for piece in pieces], device=self._device)
        starts = torch.tensor([piece.start for piece in pieces], device=self._device)
        lengths = torch.tensor([piece.length for piece in pieces], device=self._device)
        offsets = torch.arange(width, device=self._device)
        present = offsets < lengths[:, None]
        written = torch.where(present, slots[:, None], self._cache.spare)
        # Behind its end a row stays at its last position, and so inside its slot.
        positions = starts[:, None] + offsets.minimum(lengths[:, None] - 1)
        return Places(slots, written, positions, max(piece.start + piece.length for piece in pieces))

    def _decode(self, step: Step) -> list[int]:
        if not step.decoding:
            return []
        extent = max(step.lengths) + 1
        if self._replay is not None:
            return self._decode_in_buckets(self._replay, step, extent)
        slots = torch.tensor(step.decoding, device=self._device)
        positions = torch.tensor(step.lengths, device=self._device)
        scores = self._next(slots, positions, slots=slots, extent=extent)
        tokens: list[int] = self._sampler.draw(scores, slots, step.sampling).tolist()
        return tokens

    def _decode_in_buckets(self, replay: Replay, step: Step, extent: int) -> list[int]:
        rows = bucket_for(max(step.decoding) + 1, self._rows_at_once)
        written, positions = [self._cache.spare] * rows, [0] * rows
        for slot, length in zip(step.decoding, step.lengths, strict=True):
            written[slot], positions[slot] = slot, length
        places = torch.tensor((written, positions), device=self._device)
        scores = self._scored(replay, places[0], places[1], bucket_for(extent, self._extents))
        tokens = self._drawn(replay, scores, places[0], step.sampling).tolist()
        return [tokens[slot] for slot in step.decoding]

    def _scored(self, replay: Replay, written: Tensor, positions: Tensor, extent: int) -> Tensor:
        rows = len(written)
        return replay(("read", rows, extent), partial(self._next, slots=rows, extent=extent), (written, positions))

    def _drawn(self, replay: Replay, scores: Tensor, slots: Tensor, steps: Steps) -> Tensor:
        nowhere = torch.full_like(slots, self._cache.spare)
        work = partial(self._sampler.draw, steps=steps)
        return replay(("draw", len(slots), steps), work, (scores, slots), (scores, nowhere))

    def _next(self, written: Tensor, positions: Tensor, *, slots: Tensor | int, extent: int) -> Tensor:
        """Read the token drawn last of each slot in `written`; the scores of the one behind it."""
        rows = self._model.embed_tokens(self._sampler.last[written])[:, None]
        hidden = self._read(rows, Places(slots, written[:, None], positions[:, None], extent))
        return self._model.scores(hidden[:, 0])

    def _read(self, rows: Tensor, places: Places) -> Tensor:
        return self._model.backbone.decode(rows, self._cache.memory(places), places.positions, places.mask)
