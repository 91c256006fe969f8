"""Hashes of a stream by blocks of one length, made while it grows and checked while it is read."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass


class BlockHasher:
    """Takes bytes in pieces of any length; a block is hashed as soon as it is full."""

    def __init__(self, block_bytes: int) -> None:
        self._block_bytes = block_bytes
        self._open = hashlib.sha256()
        self._open_bytes = 0
        self.full: list[str] = []
        """The hashes of the full blocks so far."""

    @property
    def size(self) -> int:
        """All bytes so far."""
        return len(self.full) * self._block_bytes + self._open_bytes

    def add(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            taken = rest[: self._block_bytes - self._open_bytes]
            self._open.update(taken)
            self._open_bytes += len(taken)
            rest = rest[len(taken) :]
            if self._open_bytes == self._block_bytes:
                self.full.append(self._open.hexdigest())
                self._open, self._open_bytes = hashlib.sha256(), 0

    @property
    def all(self) -> list[str]:
        """The hashes of all blocks; the last block may be shorter."""
        return [*self.full, self._open.hexdigest()] if self._open_bytes else list(self.full)


@dataclass(frozen=True, slots=True)
class BlockMatch:
    """The number of signed blocks that a stream has, from its first on."""

    matched: int
    signed: int
    is_whole: bool
    """True if the stream holds what was signed, to its last byte, and nothing else."""


def match_blocks(data: bytes, block_bytes: int, signed: Sequence[str]) -> BlockMatch:
    """Compare a stream, or as much of it as has arrived, with the hashes that were signed."""
    hasher = BlockHasher(block_bytes)
    hasher.add(data)
    matched = 0
    for found, expected in zip(hasher.all, signed, strict=False):
        if found != expected:
            break
        matched += 1
    return BlockMatch(matched, len(signed), hasher.all == list(signed))
