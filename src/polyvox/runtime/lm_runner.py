"""Runs one step of a decoder-only language model over many slots: prefill chunks, then decode steps."""

from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from polyvox.runtime.causal_lm import CausalLm, FrameSteps, FusedBackbone, SupportsSharedPrefixes
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for, buckets
from polyvox.runtime.kv_cache import KvCache, SlotMapping
from polyvox.runtime.launched_step import LaunchedStep, StepMarks
from polyvox.runtime.lm_step import PrefillChunk, PrefillTable, StepPlan
from polyvox.runtime.pinned_output import upload
from polyvox.runtime.sampling.sampler import Sampler, SamplingPlan
from polyvox.runtime.shared_prefixes import SavedPrefix, SlotPrefixes, prefix_table

_FRAME_ROWS = 8
"""Rows of a step in which several sequences generate frames: products of fewer take longer, and a frame has many."""
_SHORTEST_EXTENT = 256
_SHORTEST_CHUNK = 32
_CAPTURED_PROMPT_EXTENTS = (512, 1024)
"""Prompts that end within these positions are prefilled by captured graphs."""


class LmRunner:
    """The device's side of the runtime. Only its thread may call it.

    With `replay`, shapes are few: rows, positions and extents are rounded up to buckets, and padding rows belong to the
    spare slot. At most `prefill_rows` positions are prefilled at once. With `prefixes`, attention reads a prefix once
    for the rows that share it, where `fused` can.
    """

    def __init__(
        self,
        model: CausalLm,
        cache: KvCache,
        sampler: Sampler,
        *,
        prefill_rows: int,
        replay: Replay | None = None,
        fused: FusedBackbone | None = None,
        frames: FrameSteps | None = None,
        prefixes: bool = False,
    ) -> None:
        self._frames = frames
        self._model = model
        self._cache = cache
        self._sampler = sampler
        self._replay = replay
        self._fused = fused
        self._sharing = fused if prefixes and isinstance(fused, SupportsSharedPrefixes) else None
        self._prefixes = SlotPrefixes()
        self._batch_sizes = buckets(cache.slots)
        fewest = 1 if frames is None else min(_FRAME_ROWS, cache.slots)
        self._decode_sizes = sorted({1, *buckets(cache.slots, start=fewest)})
        self._extents = buckets(cache.capacity, start=min(_SHORTEST_EXTENT, cache.capacity))
        self._widths = buckets(prefill_rows, start=min(_SHORTEST_CHUNK, prefill_rows))
        self._prompt_extents = sorted({min(extent, cache.capacity) for extent in _CAPTURED_PROMPT_EXTENTS})
        self._prefill_rows = prefill_rows
        weight = model.backbone.norm.weight
        self._device, self._dtype = weight.device, weight.dtype
        self._row_width = model.embed_tokens(torch.zeros(1, dtype=torch.long, device=weight.device)).shape[-1]
        self._idle = {rows: self._padding(rows) for rows in self._decode_sizes}

    def _padding(self, rows: int) -> Tensor:
        """The table of padding rows for `_decode_and_sample`."""
        slots = [self._cache.spare] * rows
        return torch.tensor([[0] * rows, slots, *self._prefix_table(slots)]).to(self._device)

    def _prefix_table(self, slots: Sequence[int]) -> list[list[int]]:
        """The prefixes of a batch's rows, or nothing where attention does not read them together."""
        return [] if self._sharing is None else prefix_table(slots, self._prefixes.of(slots))

    def _neighbours(self, slots: Sequence[int]) -> list[int]:
        """The order in which these slots are decoded: those of one prefix side by side."""
        if self._sharing is None:
            return list(range(len(slots)))
        prefixes = self._prefixes.of(slots)
        return sorted(range(len(slots)), key=prefixes.__getitem__)

    @torch.inference_mode()
    def warm(self, sampling: Sequence[SamplingPlan]) -> None:
        """Capture every shape that steps with these sampling plans can have; without `replay` there is nothing to do.

        All rows are padding meanwhile: they write to the spare slot and sample for it.
        """
        if self._replay is None:
            return
        for plan in sampling:
            for rows in self._decode_sizes:
                for extent in self._extents:
                    self._decode_token(self._replay, self._idle[rows], extent, plan)
            for shape in self._prompt_shapes():
                self._prefill_replayed(self._replay, (), shape, plan, embeds=self._frames is not None)

    def _prompt_shapes(self) -> Iterator[tuple[int, int, int]]:
        """Rows, width and extent of every bucket whose shortest chunks are within `prefill_rows`."""
        for rows in self._batch_sizes:
            for shorter, width in pairwise((0, *self._widths)):
                if rows * (shorter + 1) <= self._prefill_rows:
                    yield from ((rows, width, extent) for extent in self._prompt_extents if extent > shorter)

    def padded_rows(self, rows: int) -> int:
        """Rows that a batch of so many computes."""
        return rows if self._replay is None else bucket_for(rows, self._batch_sizes)

    def padded_width(self, longest: int) -> int:
        """Positions of each row that a batch of chunks computes, given the longest."""
        return longest if self._replay is None else bucket_for(longest, self._widths)

    @torch.inference_mode()
    def launch(self, plan: StepPlan, *, wait: bool = False) -> LaunchedStep:
        """Give the device one step. On a GPU, only `wait` waits for its end; nothing waits for the steps before."""
        marks = StepMarks(self._device, plan.tokens if plan.decoding else 0)
        first: Tensor | None = None
        sampled: list[int] = []
        prefixes: list[tuple[Hashable, SavedPrefix]] = []
        failure: Exception | None = None
        try:
            self._start(plan)
            if plan.chunks:
                first, sampled = self._prefill(plan.chunks, plan.sampling)
            prefixes = [self._saved(chunk.slot, *chunk.save_prefix) for chunk in plan.chunks if chunk.save_prefix]
        except Exception as error:  # noqa: BLE001 - whatever a prompt meets, the others go on decoding
            first, sampled, failure = None, [], error
        marks.mark()
        order = self._neighbours(plan.decoding)
        following = self._decode(plan, order, marks) if plan.decoding else None
        rows = sorted(range(len(order)), key=order.__getitem__)
        step = LaunchedStep(marks, first, sampled, following, rows, prefixes, failure)
        if wait:
            step.output()
        return step

    def _saved(self, slot: int, key: Hashable, length: int) -> tuple[Hashable, SavedPrefix]:
        """A slot's prefix, to be saved under its key."""
        return key, self._prefixes.save(slot, self._cache.read_prefix(slot, length))

    def _start(self, plan: StepPlan) -> None:
        """Make slots ready for new sequences and new limits."""
        if plan.starts:
            self._sampler.start_all([(each.slot, each.sampling, each.seed, each.seen) for each in plan.starts])
        for start in plan.starts:
            if start.clear:
                self._cache.clear(start.slot)
            if start.prefix is not None:
                self._cache.write_prefix(start.slot, start.prefix.values)
            self._prefixes.start(start.slot, start.shared, start.prefix)
        if self._frames is not None:
            self._frames.start(plan.starts)
            self._frames.feed(plan.texts)
        if plan.limits:
            self._sampler.set_all_limits([(each.slot, each.limits) for each in plan.limits])

    def _prefill(self, chunks: Sequence[PrefillChunk], sampling: SamplingPlan) -> tuple[Tensor | None, list[int]]:
        """Prefill chunks of any lengths in one batch; tokens, and which of them are behind the end of a prompt."""
        longest, extent = max(chunk.length for chunk in chunks), max(chunk.end for chunk in chunks)
        sampled = [index for index, chunk in enumerate(chunks) if chunk.last]
        embeds = any(isinstance(chunk.input, Tensor) for chunk in chunks)
        captured = self._replay is not None and (not embeds or self._frames is not None)
        if self._replay is None or not captured or extent > self._prompt_extents[-1]:
            return self._prefill_eager(chunks, sampled, longest, sampling), list(range(len(sampled)))
        shape = (
            bucket_for(len(chunks), self._batch_sizes),
            bucket_for(longest, self._widths),
            bucket_for(extent, self._prompt_extents),
        )
        return self._prefill_replayed(self._replay, chunks, shape, sampling, embeds=embeds), sampled

    def _prefill_replayed(
        self,
        replay: Replay,
        chunks: Sequence[PrefillChunk],
        shape: tuple[int, int, int],
        sampling: SamplingPlan,
        *,
        embeds: bool,
    ) -> Tensor:
        """A token behind each chunk, in a shape of rows, width and extent."""
        rows, width, extent = shape

        def given(of: Sequence[PrefillChunk]) -> tuple[Tensor, ...]:
            table = upload(PrefillTable.pack(of, rows, width, self._cache.spare), self._device)
            return (table, self._padded_rows(of, rows, width)) if embeds else (table,)

        work = partial(self._prefill_and_sample, extent=extent, sampling=sampling)
        return replay(("prefill", *shape, sampling, embeds), work, given(chunks), given(())).clone()

    def _padded_rows(self, chunks: Sequence[PrefillChunk], rows: int, width: int) -> Tensor:
        """Input embeddings of chunks, [rows, width, hidden]."""
        padded = torch.zeros(rows, width, self._row_width, dtype=self._dtype, device=self._device)
        for row, chunk in zip(padded, chunks, strict=False):
            row[: chunk.length] = self._embed(chunk)
        return padded

    def _prefill_and_sample(
        self, packed: Tensor, rows: Tensor | None = None, *, extent: int, sampling: SamplingPlan
    ) -> Tensor:
        """A token behind each chunk of the table, whose input are its ids or `rows` [n, width, hidden]."""
        table = PrefillTable(packed)
        if rows is None:
            last = self._model.embed_tokens(self._sampler.last[table.slots])[:, None]
            rows = self._model.embed_ids(table.ids)
            first = torch.where(table.prepend_last[:, None, None], last, rows[:, :1])
            rows = torch.cat((first, rows[:, 1:]), dim=1)
        hidden = self._forward(rows, table, extent)
        ends = torch.arange(len(packed), device=self._device), table.lengths - 1
        return self._sampled(hidden[ends], table.sampling_slots, sampling)

    def _sampled(self, hidden: Tensor, slots: Tensor, sampling: SamplingPlan) -> Tensor:
        """The tokens behind hidden states [n, hidden]: [n], or frames [n, groups] that begin with them."""
        tokens = self._sampler.sample(self._model.logits(hidden), slots, sampling)
        return tokens if self._frames is None else self._frames.complete(hidden, tokens, slots, sampling)

    def _prefill_eager(
        self, chunks: Sequence[PrefillChunk], sampled: Sequence[int], longest: int, sampling: SamplingPlan
    ) -> Tensor | None:
        rows = pad_sequence([self._embed(chunk) for chunk in chunks], batch_first=True)
        packed = PrefillTable.pack(chunks, len(chunks), longest, self._cache.spare)
        table = PrefillTable(upload(packed, self._device))
        hidden = self._forward(rows, table, max(chunk.end for chunk in chunks))
        if not sampled:
            return None
        which = upload(torch.tensor(sampled), self._device)
        return self._sampled(hidden[which, table.lengths[which] - 1], table.slots[which], sampling)

    def _embed(self, chunk: PrefillChunk) -> Tensor:
        if isinstance(chunk.input, Tensor):
            rows = chunk.input.to(self._device, self._dtype)
        else:
            rows = self._model.embed_ids(upload(torch.tensor(chunk.input, dtype=torch.long), self._device))
        if chunk.prepend_last:
            last = self._model.embed_tokens(self._sampler.last[chunk.slot : chunk.slot + 1])
            rows = torch.cat((last, rows))
        return rows

    def _forward(self, rows: Tensor, table: PrefillTable, extent: int) -> Tensor:
        """The hidden states of chunks, [n, width, hidden]."""
        offsets = torch.arange(rows.shape[1], device=self._device)
        write_slots = torch.where(offsets < table.lengths[:, None], table.slots[:, None], self._cache.spare)
        # Behind its end a row stays at its last position, and so inside its slot.
        positions = table.starts[:, None] + offsets.minimum(table.lengths[:, None] - 1)
        mapping = SlotMapping(table.slots, write_slots, positions, extent)
        if self._fused is not None:
            return self._fused.prefill(rows, table.slots, write_slots, positions, extent, mapping.mask)
        return self._model.backbone.decode(rows, self._cache.memory(mapping), mapping.positions, mapping.mask)

    def _decode(self, plan: StepPlan, order: Sequence[int], marks: StepMarks) -> Tensor:
        """`plan.tokens` tokens for each row, in this order of the slots.

        A slot that ends writes and samples for the spare slot from then on.
        """
        rows, extent = len(plan.decoding), min(max(plan.lengths) + plan.tokens, self._cache.capacity)
        if self._replay is not None:
            rows, extent = bucket_for(rows, self._decode_sizes), bucket_for(extent, self._extents)
        padding, last = rows - len(plan.decoding), self._cache.capacity - 1
        slots = [*(plan.decoding[index] for index in order), *[self._cache.spare] * padding]
        lengths = [plan.lengths[index] for index in order]
        shared = self._prefix_table(slots)
        # One table a token: to a captured step it is copied at once.
        packed = np.zeros((plan.tokens, 2 + len(shared), rows), np.int64)
        ahead = np.arange(plan.tokens)[:, None]
        packed[:, 0, : len(lengths)] = np.minimum(np.array(lengths) + ahead, last)
        packed[:, 1] = slots
        if shared:
            packed[:, 2:] = shared
        tokens = []
        for index, table in enumerate(upload(torch.from_numpy(packed), self._device)):
            marks.before_token(index)
            tokens.append(self._decode_token(self._replay, table, extent, plan.sampling))
        return torch.stack(tokens, dim=1)

    def _decode_token(self, replay: Replay | None, table: Tensor, extent: int, sampling: SamplingPlan) -> Tensor:
        """The next token of each slot of a table."""
        work = partial(self._decode_and_sample, extent=extent, sampling=sampling)
        if replay is None:
            return work(table)
        rows = table.shape[1]
        return replay(("decode", rows, extent, sampling), work, (table,), (self._idle[rows],)).clone()

    def _decode_and_sample(self, table: Tensor, *, extent: int, sampling: SamplingPlan) -> Tensor:
        """Feed each slot its last token and sample the next one.

        The table has positions, their slots and, where attention reads prefixes together, the slots' `prefix_table`.
        """
        # Positions and prefixes are read by kernels, which are built anew for memory that is aligned less well.
        positions, slots = table[0], table[1]
        active = torch.where(self._sampler.ended[slots], self._cache.spare, slots)
        if self._frames is None:
            rows = self._model.embed_tokens(self._sampler.last[active])
        else:
            rows = self._frames.rows(active)
        if self._sharing is None:
            decode = self._decode_eager if self._fused is None else self._fused.decode
            hidden = decode(rows, active, positions, extent)
        else:
            hidden = self._sharing.decode_shared(rows, active, positions, extent, table[2:])
        return self._sampled(hidden, active, sampling)

    def _decode_eager(self, rows: Tensor, slots: Tensor, positions: Tensor, extent: int) -> Tensor:
        mapping = SlotMapping(slots, slots[:, None], positions[:, None], extent)
        memory = self._cache.memory(mapping)
        return self._model.backbone.decode(rows[:, None], memory, mapping.positions, mapping.mask)[:, 0]
