"""Token hops: where a segment is cut into chunks, a pure function of policy, prompt length and tokens."""

from dataclasses import dataclass, replace

from polyvox.types import ChunkPolicy


@dataclass(frozen=True, slots=True)
class Hops:
    """The position of the next hop of one segment, in tokens.

    A hop ends at a block boundary of the flow, counted from the prompt's first token, so that the audio does not depend
    on the policy: the first hop is as long as the policy asks for, rounded up to the next boundary.
    """

    policy: ChunkPolicy
    prompt: int
    block: int
    ahead: int
    done: int = 0
    previous: int | None = None
    """The policy's size of the hop before, without rounding."""

    @property
    def end(self) -> int:
        """Tokens of the segment, without the prompt, that are done after the next hop."""
        wanted = self.prompt + self.done + self.policy.size(self.previous)
        return -(-wanted // self.block) * self.block - self.prompt

    @property
    def needed(self) -> int:
        """Tokens that have to be known for it, the lookahead included."""
        return self.end + self.ahead

    def after(self) -> "Hops":
        """The state after the next hop."""
        return replace(self, done=self.end, previous=self.policy.size(self.previous))


@dataclass(frozen=True, slots=True)
class HopLengths:
    """All lengths of first and of later hops; the last hop of a segment may have any."""

    first: frozenset[int]
    later: frozenset[int]


def hop_lengths(policy: ChunkPolicy, block: int) -> HopLengths:
    """In tokens, over all prompt lengths."""
    sizes = [policy.size(None)]
    while (size := policy.size(sizes[-1])) != sizes[-1]:
        sizes.append(size)
    later = frozenset(-(-policy.size(size) // block) * block for size in sizes)
    return HopLengths(frozenset(range(policy.first, policy.first + block)), later)
