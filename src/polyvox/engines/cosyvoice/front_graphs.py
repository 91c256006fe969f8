"""What version 2's flow makes of tokens before it is solved, in work of few shapes, each recorded once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import torch
from torch import Tensor

from polyvox.engines.cosyvoice.flow_graphs import FixedSight
from polyvox.models.attention import Sight
from polyvox.models.cosyvoice.flow import Flow, Stretch
from polyvox.models.memory import Kept, Memory
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for


class _Kind(StrEnum):
    TAIL = "tail"
    HISTORY = "history"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where one layer's memory lies: what it had before a call, and what it has after it.

    A history ends where its place ends, the call's own rows included: `rate` of them for each token.
    """

    kind: _Kind
    before: Tensor
    after: Tensor
    rate: int = 1


class FrontGraphs:
    """An `Encoder` that replays calls of the usual lengths that are not a stream's last. One thread may use it.

    The memory of the layers is laid out as `FlowGraphs` lays out the flow's, so a result depends on what is handed in
    and on nothing that lay there before.
    """

    def __init__(self, flow: Flow, replay: Replay, sizes: Sequence[int], extents: Sequence[int]) -> None:
        """`sizes` and `extents` in tokens, the former whole blocks."""
        self._flow = flow
        self._replay = replay
        self._sizes, self._extents = sorted(sizes), sorted(extents)
        noted = _NotedMemory()
        block = flow.config.block
        flow.front(*self._nothing(block), noted, Sight(block, block))
        self._places = [_place(kind, left, block, self._extents[-1]) for kind, left in noted.noted]

    def _nothing(self, size: int) -> tuple[Tensor, Tensor]:
        tokens = torch.zeros(1, size, dtype=torch.long, device=self._flow.speaker.weight.device)
        return tokens, tokens[:, : self._flow.config.ahead]

    @property
    def buffers(self) -> tuple[Tensor, ...]:
        """The fixed stretches of memory; between two calls they may hold anything."""
        return tuple(tensor for place in self._places for tensor in (place.before, place.after))

    def warm(self) -> None:
        """Record every shape."""
        for size in self._sizes:
            for extent in self._extents:
                self._replayed(*self._nothing(size), 0, (), extent)

    def __call__(self, tokens: Tensor, context: Tensor, stretch: Stretch, past: Kept) -> tuple[Tensor, Kept]:
        usual = tokens.shape[1] in self._sizes and context.shape[1] == self._flow.config.ahead
        fits = tokens.shape[0] == 1 and stretch.block == self._flow.config.block and stretch.last <= self._extents[-1]
        if not usual or not fits or not stretch.remember:
            return self._flow.encoded(tokens, context, stretch, past)
        extent = bucket_for(stretch.last, self._extents)
        mu = self._replayed(tokens, context, stretch.first, past, extent).clone()
        return mu, self._kept(past, tokens.shape[1])

    def _replayed(self, tokens: Tensor, context: Tensor, first: int, past: Kept, extent: int) -> Tensor:
        size = tokens.shape[1]
        for index, place in enumerate(self._places):
            _lay_out(place, past[index] if past else None, extent, size)
        where = torch.tensor((first, first, size), device=tokens.device)
        return self._replay(("front", size, extent), partial(self._work, extent=extent), (where, tokens, context))

    def _work(self, where: Tensor, tokens: Tensor, context: Tensor, *, extent: int) -> Tensor:
        """What is recorded: it reads its arguments and the buffers, and leaves in the buffers what is to be kept."""
        size = tokens.shape[1]
        sight = FixedSight(where, size, extent, self._flow.config.block, torch.bool)
        mu: Tensor = self._flow.front(tokens, context, _FixedMemory(self._places, extent, size), sight)
        return mu

    def _kept(self, past: Kept, size: int) -> Kept:
        """What the layers keep now. Tables are left as they are: whoever needs more of one makes it."""
        kept = []
        for index, place in enumerate(self._places):
            if place.kind == _Kind.TAIL:
                kept.append(place.after.clone())
            elif place.kind == _Kind.TABLE:
                kept.append(past[index] if past else place.before)
            else:
                new = place.before[..., place.before.shape[-2] - place.rate * size :, :]
                kept.append(torch.cat((past[index], new), dim=-2) if past else new.clone())
        return tuple(kept)


def _place(kind: _Kind, left: Tensor, tokens: int, most: int) -> _Place:
    """A place for what so many tokens left behind; a table's has no rows."""
    if kind == _Kind.TAIL:
        return _Place(kind, torch.zeros_like(left), torch.zeros_like(left))
    rate = left.shape[-2] // tokens
    rows = 0 if kind == _Kind.TABLE else rate * most
    buffer = left.new_zeros(*left.shape[:-2], rows, left.shape[-1])
    return _Place(kind, buffer, buffer, rate)


def _lay_out(place: _Place, past: Tensor | None, extent: int, size: int) -> None:
    """Fill a place but for what the call itself writes before it reads it."""
    if place.kind == _Kind.TAIL:
        if past is None:
            place.before.zero_()
        else:
            place.before.copy_(past)
    elif place.kind == _Kind.HISTORY:
        seen = place.before[..., place.before.shape[-2] - place.rate * extent : -place.rate * size, :]
        rows = 0 if past is None else past.shape[-2]
        # What a mask hides still meets a weight of zero, and zero times garbage may not be zero.
        seen[..., : seen.shape[-2] - rows, :].zero_()
        if past is not None:
            seen[..., seen.shape[-2] - rows :, :].copy_(past)


class _NotedMemory(Memory):
    """Notes what each layer keeps of a first call."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: list[_Kind] = []

    @property
    def noted(self) -> Iterator[tuple[_Kind, Tensor]]:
        return zip(self._kinds, self.kept(), strict=True)

    def tail(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        self._kinds.append(_Kind.TAIL)
        return super().tail(new, length, first)

    def history(self, new: Tensor) -> Tensor:
        self._kinds.append(_Kind.HISTORY)
        return super().history(new)

    def table(self, rows: int, made: Callable[[int, int], Tensor]) -> Tensor:
        self._kinds.append(_Kind.TABLE)
        return super().table(rows, made)


class _FixedMemory(Memory):
    """Reads and writes what the layers keep where it lies."""

    def __init__(self, places: Sequence[_Place], extent: int, size: int) -> None:
        super().__init__(remember=False)
        self._places = iter(places)
        self._extent, self._size = extent, size

    def tail(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        place = next(self._places)
        joined = torch.cat((place.before, new), dim=-1)
        place.after.copy_(joined[..., joined.shape[-1] - length :])
        return joined

    def history(self, new: Tensor) -> Tensor:
        place = next(self._places)
        rows = place.before.shape[-2]
        place.before[..., rows - new.shape[-2] :, :] = new
        return place.before[..., rows - place.rate * self._extent :, :]

    def table(self, rows: int, made: Callable[[int, int], Tensor]) -> Tensor:
        next(self._places)
        return made(0, rows)
