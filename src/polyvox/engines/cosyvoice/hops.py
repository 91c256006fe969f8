"""Where an utterance is cut into chunks: a pure function of the policy, the prompt's length and the tokens."""

from dataclasses import dataclass, replace

from polyvox.types import ChunkPolicy


@dataclass(frozen=True, slots=True)
class Hops:
    """The chunks of one piece of text, in tokens.

    A chunk ends where a block of the flow ends, counted from the prompt's first token, so that its sound does not
    depend on where chunks are cut: the first is as long as the policy asks for and on to the next end of a block.
    """

    policy: ChunkPolicy
    prompt: int
    block: int
    ahead: int
    done: int = 0
    previous: int | None = None
    """The size that the chunk before was meant to have."""

    @property
    def end(self) -> int:
        """Tokens of the piece, without the prompt, that are done after the next chunk."""
        wanted = self.prompt + self.done + self.policy.size(self.previous)
        return -(-wanted // self.block) * self.block - self.prompt

    @property
    def needed(self) -> int:
        """Tokens that have to be known for that."""
        return self.end + self.ahead

    def after(self) -> "Hops":
        """The next chunk is done."""
        return replace(self, done=self.end, previous=self.policy.size(self.previous))


@dataclass(frozen=True, slots=True)
class UsualHops:
    """The lengths that chunks may have, but for the last of a piece, which has any: of first ones and of later ones."""

    first: frozenset[int]
    later: frozenset[int]


def usual_hops(policy: ChunkPolicy, block: int) -> UsualHops:
    """In tokens, over all lengths of prompts. A first chunk goes on to the end of a block, wherever it starts."""
    sizes = [policy.size(None)]
    while (size := policy.size(sizes[-1])) != sizes[-1]:
        sizes.append(size)
    later = frozenset(-(-policy.size(size) // block) * block for size in sizes)
    return UsualHops(frozenset(range(policy.first, policy.first + block)), later)
