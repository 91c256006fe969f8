"""Streams of the flow on one device: their blocks of cache, and the calls that many of them share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from polyvox.engines.cosyvoice.decoder.decoder_stages import FlowHop, FlowResult
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, FlowPrompt
from polyvox.models.cosyvoice.ode_solver import FlowPoint
from polyvox.models.cosyvoice.paged_flow import PagedFlow
from polyvox.models.paged_attention import BlockTable
from polyvox.models.paged_cache import SPARE_BLOCK, ZERO_BLOCK
from polyvox.runtime.block_allocator import BlockAllocator, BlockLease
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for

CALL_BLOCKS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Blocks of one captured call. More are computed in several calls."""


@dataclass(frozen=True, slots=True)
class FlowStreamState:
    """State of one stream. It is never written to: one state, say that of a prompt, may be continued many times."""

    pending: tuple[int, ...]
    """Tokens whose block or whose lookahead is not complete."""
    condition: Tensor
    """The prompt's mel frames, [bins, frames]."""
    speaker: Tensor
    """[bins]"""
    blocks: tuple[BlockLease, ...] = ()
    """The blocks of cache that are done, the prompt's among them."""
    block_bytes: int = 0

    @property
    def nbytes(self) -> int:
        return self.block_bytes * len(self.blocks)


@dataclass(frozen=True, slots=True)
class _Row:
    """One block to compute: where it is in its stream and in the cache, and its tokens with their lookahead."""

    tokens: tuple[int, ...]
    history: tuple[int, ...]
    state: FlowStreamState

    @property
    def index(self) -> int:
        """Its number in its stream."""
        return len(self.history) - 1


@dataclass(frozen=True, slots=True)
class _Plan:
    """The blocks that a hop completes, the state after it, and which of their frames are its own."""

    rows: list[_Row]
    after: FlowStreamState
    begin: int
    end: int


class FlowStreams:
    """Computes the blocks of many streams together. One thread may use it.

    The solver's steps of a call are one launch for those numbers of blocks that were captured.
    """

    def __init__(
        self,
        flow: PagedFlow,
        allocator: BlockAllocator,
        noise: Tensor,
        sizes: Sequence[int] = CALL_BLOCKS,
    ) -> None:
        """`noise` [1, bins, frames] is that of every stream, from its first frame on; `sizes` are those of calls."""
        self._flow, self._allocator, self._sizes = flow, allocator, sizes
        self._replay: Replay | None = None
        self._captured: set[int] = set()
        self._config = flow.flow.config
        self._frames = FRAMES_PER_TOKEN * self._config.block
        self._noise = noise[0].T.contiguous()
        self._most = noise.shape[2] // self._frames
        self._device = noise.device

    def start(self, prompt: FlowPrompt) -> FlowStreamState:
        """The state of a stream in this voice, before its prompt is computed."""
        speaker = self._flow.flow.embed_speaker(prompt.embedding)[0]
        tokens, mel = tuple(prompt.tokens[0].tolist()), prompt.mel[0].to(speaker.dtype)
        return FlowStreamState(tokens, mel, speaker, block_bytes=self._flow.block_bytes)

    @property
    def blocks(self) -> int:
        """Blocks of cache for all streams together."""
        return self._allocator.blocks

    @property
    def nbytes(self) -> int:
        """Memory of those blocks."""
        return self.blocks * self._flow.block_bytes

    @property
    def shapes(self) -> Sequence[int]:
        """Numbers of blocks to capture."""
        return self._sizes

    def capture(self, blocks: int, replay: Replay) -> None:
        """Capture calls of so many blocks, and replay them from now on."""
        self._replay = replay
        self._run([], blocks, replay)
        self._captured.add(blocks)

    def step(self, hops: Sequence[FlowHop]) -> list[FlowResult]:
        """A hop for whose blocks there is no room has no result; the others do not notice."""
        planned = [self._plan(hop) for hop in hops]
        mels = iter(self._mels([row for plan in planned if plan is not None for row in plan.rows]))
        results = []
        for hop, plan in zip(hops, planned, strict=True):
            if plan is None:
                results.append(FlowResult(None, None))
                continue
            parts = [next(mels) for _ in plan.rows]
            mel = torch.cat(parts, dim=1) if parts else self._noise.new_zeros(self._config.bins, 0)
            results.append(FlowResult(mel[:, plan.begin : plan.end], None if hop.final else plan.after))
        return results

    def _plan(self, hop: FlowHop) -> "_Plan | None":
        """Plan the blocks that a hop takes; None where there are not enough free blocks."""
        assert isinstance(hop.state, FlowStreamState)
        state, block, ahead = hop.state, self._config.block, self._config.ahead
        known = (*state.pending, *hop.tokens)
        ready = len(known) if hop.final else max(0, (len(known) - ahead) // block * block)
        count = -(-ready // block)
        if len(state.blocks) + count > self._most:
            raise ValueError(f"A stream has at most {self._most} blocks, with its prompt.")
        leases = self._allocator.take(count)
        if leases is None:
            return None
        blocks = (*state.blocks, *leases)
        history = tuple(lease.index for lease in blocks)
        rows = [
            _Row(known[index * block : (index + 1) * block + ahead], history[: len(state.blocks) + index + 1], state)
            for index in range(count)
        ]
        begin = max(0, state.condition.shape[1] - self._frames * len(state.blocks))
        return _Plan(rows, replace(state, pending=known[ready:], blocks=blocks), begin, FRAMES_PER_TOKEN * ready)

    def _mels(self, rows: Sequence[_Row]) -> list[Tensor]:
        mels: list[Tensor] = []
        for begin in range(0, len(rows), self._sizes[-1]):
            part = rows[begin : begin + self._sizes[-1]]
            padded = bucket_for(len(part), self._sizes)
            if self._replay is not None and padded in self._captured:
                made = self._run(part, padded, self._replay)
            else:
                made = self._run(part, len(part), None)
            mels += made[: len(part)].unbind()
        return mels

    def _run(self, rows: Sequence[_Row], count: int, replay: Replay | None) -> Tensor:
        """The mels of blocks, padded to so many of them, [count, bins, frames]."""
        packed = self._packed(rows, count).to(self._device, non_blocking=True)
        most = max((len(row.history) for row in rows), default=1)
        ids = packed[:, : self._config.block + self._config.ahead].long()
        mu = self._flow.encode(ids, self._table(packed), most)
        given = (packed, mu, *self._conditions(rows, count))
        return self._solve(*given) if replay is None else replay(("flow", count), self._solve, given).clone()

    def _solve(self, packed: Tensor, mu: Tensor, speaker: Tensor, condition: Tensor) -> Tensor:
        table = self._table(packed)
        first = (table.counts - 1) * self._frames
        frames = first[:, None] + torch.arange(self._frames, device=packed.device)
        noise = self._noise[frames].transpose(1, 2)
        return self._flow.solve(FlowPoint(noise, mu, speaker, condition), first, table)

    def _packed(self, rows: Sequence[_Row], count: int) -> Tensor:
        """All that a call is told of its blocks, in one tensor that is copied to the device at once."""
        width = self._config.block + self._config.ahead
        lines = [
            [
                *row.tokens,
                *[0] * (width - len(row.tokens)),
                row.history[-1],
                row.history[-2] if row.index else ZERO_BLOCK,
                row.index + 1,
                min(len(row.tokens), self._config.block),
                len(row.tokens),
                *row.history,
                *[ZERO_BLOCK] * (self._most - len(row.history)),
            ]
            for row in rows
        ]
        idle = [*[0] * width, SPARE_BLOCK, ZERO_BLOCK, 1, self._config.block, width, SPARE_BLOCK]
        lines += [[*idle, *[ZERO_BLOCK] * (self._most - 1)]] * (count - len(rows))
        return torch.tensor(lines, dtype=torch.int32, pin_memory=self._device.type == "cuda")

    def _table(self, packed: Tensor) -> BlockTable:
        width = self._config.block + self._config.ahead
        blocks, previous, counts, valid, present = packed[:, width : width + 5].long().T.contiguous()
        return BlockTable(blocks, previous, packed[:, width + 5 :], counts, valid, present, self._config.block)

    def _conditions(self, rows: Sequence[_Row], count: int) -> tuple[Tensor, Tensor]:
        """The speaker [count, bins] and the prompt's mel [count, bins, frames] of each row; behind a prompt zeros."""
        weight = self._flow.flow.speaker.weight
        bins = self._config.bins
        speakers = [row.state.speaker for row in rows] + [weight.new_zeros(bins)] * (count - len(rows))
        condition = weight.new_zeros(count, bins, self._frames)
        for index, row in enumerate(rows):
            own = row.state.condition[:, row.index * self._frames : (row.index + 1) * self._frames]
            if own.shape[1]:
                condition[index, :, : own.shape[1]] = own
        return torch.stack(speakers), condition
