"""One step of a decoder-only language model over many slots: pieces of prompts, then tokens for each sequence."""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from polyvox.models.qwen.model import Qwen
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for, buckets
from polyvox.runtime.kv_cache import KvCache, Places
from polyvox.runtime.lm_step import Drawn, Piece, PieceTable, Step
from polyvox.runtime.sampling import Sampler, Steps

_SHORTEST_EXTENT = 256
_SHORTEST_PIECE = 32
_RECORDED_EXTENTS = (512, 1024)
"""Prompts that end within these positions are read by work that is recorded."""


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


class FusedBackbone(Protocol):
    """The backbone in few kernels: by one position for each of many slots, or by pieces of prompts."""

    def __call__(self, rows: Tensor, slots: Tensor, positions: Tensor, extent: int) -> Tensor:
        """Hidden states behind `rows`, both [n, hidden], at `positions` of `slots`, all of them before `extent`."""

    def read(
        self, rows: Tensor, slots: Tensor, written: Tensor, positions: Tensor, extent: int, mask: Tensor
    ) -> Tensor:
        """Hidden states behind pieces, both [n, m, hidden], at the places that `Places` tells."""


class Decoder:
    """The device's side of the runtime. Only its thread may call it.

    With `replay`, work comes in shapes of which there are few: rows, positions and what they see are rounded up to
    buckets, and rows that are nobody's belong to the spare slot. At most `prefill_rows` positions are read at once.
    """

    def __init__(
        self,
        model: DecoderModel,
        cache: KvCache,
        sampler: Sampler,
        *,
        prefill_rows: int,
        replay: Replay | None = None,
        fused: FusedBackbone | None = None,
    ) -> None:
        self._model = model
        self._cache = cache
        self._sampler = sampler
        self._replay = replay
        self._fused = fused
        self._rows_at_once = buckets(cache.slots)
        self._extents = buckets(cache.capacity, start=min(_SHORTEST_EXTENT, cache.capacity))
        self._widths = buckets(prefill_rows, start=min(_SHORTEST_PIECE, prefill_rows))
        self._prompt_extents = sorted({min(extent, cache.capacity) for extent in _RECORDED_EXTENTS})
        self._prefill_rows = prefill_rows
        weight = model.backbone.norm.weight
        self._device, self._dtype = weight.device, weight.dtype
        self._idle = {rows: self._nowhere(rows) for rows in self._rows_at_once}

    def _nowhere(self, rows: int) -> tuple[Tensor, Tensor]:
        """Slots and positions of rows that are nobody's."""
        slots = torch.full((rows,), self._cache.spare, device=self._device)
        return slots, torch.zeros_like(slots)

    @torch.inference_mode()
    def warm(self, sampling: Sequence[Steps]) -> None:
        """Record every shape that steps with these ways of sampling can have; without `replay` there is nothing to do.

        All rows are idle meanwhile: they are written to the spare slot and drawn by its rules.
        """
        if self._replay is None:
            return
        for steps in sampling:
            for rows in self._rows_at_once:
                for extent in self._extents:
                    self._next(self._replay, *self._idle[rows], extent, steps)
            for shape in self._prompt_shapes():
                self._answers(self._replay, (), shape, steps)

    def _prompt_shapes(self) -> Iterator[tuple[int, int, int]]:
        """Rows, positions and what they see, wherever the least that is rounded up to them may be read at once."""
        for fewer, rows in pairwise((0, *self._rows_at_once)):
            for shorter, width in pairwise((0, *self._widths)):
                if (fewer + 1) * (shorter + 1) <= self._prefill_rows:
                    yield from ((rows, width, extent) for extent in self._prompt_extents if extent > shorter)

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
        first = self._prefill(step.pieces, step.sampling) if step.pieces else []
        kept = [(piece.keep[0], self._cache.saved(piece.slot, piece.keep[1])) for piece in step.pieces if piece.keep]
        decoding = time.perf_counter()
        following = self._decode(step) if step.decoding else []
        return Drawn(first, following, kept, decoding - started, time.perf_counter() - decoding)

    def _prefill(self, pieces: Sequence[Piece], steps: Steps) -> list[int]:
        """Read pieces of any lengths in one batch, and answer those that are the last of their prompt."""
        longest, extent = max(piece.length for piece in pieces), max(piece.end for piece in pieces)
        answered = [index for index, piece in enumerate(pieces) if piece.last]
        given_rows = any(isinstance(piece.input, Tensor) for piece in pieces)
        if self._replay is None or given_rows or extent > self._prompt_extents[-1]:
            return self._prefill_as_it_is(pieces, answered, longest, steps)
        shape = (
            bucket_for(len(pieces), self._rows_at_once),
            bucket_for(longest, self._widths),
            bucket_for(extent, self._prompt_extents),
        )
        tokens = self._answers(self._replay, pieces, shape, steps).tolist()
        return [tokens[index] for index in answered]

    def _answers(self, replay: Replay, pieces: Sequence[Piece], shape: tuple[int, int, int], steps: Steps) -> Tensor:
        """A token behind each piece, read in a shape of rows, positions and what they see."""
        rows, width, extent = shape

        def numbers(of: Sequence[Piece]) -> Tensor:
            return PieceTable.numbers(of, rows, width, self._cache.spare).to(self._device, non_blocking=True)

        work = partial(self._read_and_drawn, extent=extent, steps=steps)
        return replay(("read", *shape, steps), work, (numbers(pieces),), (numbers(()),))

    def _read_and_drawn(self, numbers: Tensor, *, extent: int, steps: Steps) -> Tensor:
        table = PieceTable(numbers)
        before = self._model.embed_tokens(self._sampler.last[table.slots])[:, None]
        rows = self._model.embed_ids(table.ids)
        first = torch.where(table.follows[:, None, None], before, rows[:, :1])
        hidden = self._read(torch.cat((first, rows[:, 1:]), dim=1), table, extent)
        at = torch.arange(len(numbers), device=self._device), table.lengths - 1
        return self._sampler.draw(self._model.scores(hidden[at]), table.answering, steps)

    def _prefill_as_it_is(
        self, pieces: Sequence[Piece], answered: Sequence[int], longest: int, steps: Steps
    ) -> list[int]:
        rows = pad_sequence([self._rows(piece) for piece in pieces], batch_first=True)
        table = PieceTable(PieceTable.numbers(pieces, len(pieces), longest, self._cache.spare).to(self._device))
        hidden = self._read(rows, table, max(piece.end for piece in pieces))
        if not answered:
            return []
        which = torch.tensor(answered, device=self._device)
        scores = self._model.scores(hidden[which, table.lengths[which] - 1])
        tokens: list[int] = self._sampler.draw(scores, table.slots[which], steps).tolist()
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

    def _read(self, rows: Tensor, table: PieceTable, extent: int) -> Tensor:
        """The hidden states of pieces, [n, width, hidden]."""
        offsets = torch.arange(rows.shape[1], device=self._device)
        written = torch.where(offsets < table.lengths[:, None], table.slots[:, None], self._cache.spare)
        # Behind its end a row stays at its last position, and so inside its slot.
        positions = table.starts[:, None] + offsets.minimum(table.lengths[:, None] - 1)
        places = Places(table.slots, written, positions, extent)
        if self._fused is not None:
            return self._fused.read(rows, table.slots, written, positions, extent, places.mask)
        return self._model.backbone.decode(rows, self._cache.memory(places), places.positions, places.mask)

    def _decode(self, step: Step) -> list[list[int]]:
        """So many tokens for each slot. One that ends writes and draws for the spare slot from then on."""
        rows, extent = len(step.decoding), min(max(step.lengths) + step.tokens, self._cache.capacity)
        if self._replay is not None:
            rows, extent = bucket_for(rows, self._rows_at_once), bucket_for(extent, self._extents)
        idle, last = rows - len(step.decoding), self._cache.capacity - 1
        slots = [*step.decoding, *[self._cache.spare] * idle]
        places = [
            [*(min(length + ahead, last) for length in step.lengths), *[0] * idle] for ahead in range(step.tokens)
        ]
        table = torch.tensor((slots, *places), device=self._device)
        drawn = [
            self._next(self._replay, table[0], table[1 + ahead], extent, step.sampling) for ahead in range(step.tokens)
        ]
        following: list[list[int]] = torch.stack(drawn, dim=1).tolist()
        return following[: len(step.decoding)]

    def _next(self, replay: Replay | None, slots: Tensor, positions: Tensor, extent: int, steps: Steps) -> Tensor:
        """The next token of each slot."""
        work = partial(self._token, extent=extent, steps=steps)
        if replay is None:
            return work(slots, positions)
        return replay(("next", len(slots), extent, steps), work, (slots, positions), self._idle[len(slots)]).clone()

    def _token(self, slots: Tensor, positions: Tensor, *, extent: int, steps: Steps) -> Tensor:
        """Read the token drawn last of each slot; the one behind it."""
        going = torch.where(self._sampler.ended[slots], self._cache.spare, slots)
        rows = self._model.embed_tokens(self._sampler.last[going])
        hidden = (self._fused or self._plain_step)(rows, going, positions, extent)
        return self._sampler.draw(self._model.scores(hidden), going, steps)

    def _plain_step(self, rows: Tensor, slots: Tensor, positions: Tensor, extent: int) -> Tensor:
        places = Places(slots, slots[:, None], positions[:, None], extent)
        memory = self._cache.memory(places)
        return self._model.backbone.decode(rows[:, None], memory, places.positions, places.mask)[:, 0]
