"""One chunk on the host, as a batch takes it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from polyvox.models.zipvoice.flow import SolverOptions, ZipVoiceInput, token_indices
from polyvox.models.zipvoice.model import PAD


@dataclass(frozen=True, slots=True, eq=False)
class ChunkRow:
    """Tokens [n + 1], the token of each frame, and a table: the noise of all frames, and the scaled prompt behind it.

    Arrays, not tensors, and as few as can be: a thread that packs a batch would wait for the interpreter lock at each
    operation of PyTorch while other threads process text.
    """

    tokens: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int64]
    table: npt.NDArray[np.float32]
    solver: SolverOptions

    @classmethod
    def of(cls, given: ZipVoiceInput, seed: int, solver: SolverOptions) -> "ChunkRow":
        """Draw the noise of a chunk; on the CPU, so that a seed gives the same noise on every device."""
        tokens = [*given.prompt_tokens, *given.tokens, PAD]
        noise = torch.randn(given.frames, given.prompt.shape[1], generator=torch.Generator().manual_seed(seed))
        indices = np.array(token_indices(len(tokens) - 1, given.frames), np.int64)
        table = np.concatenate((noise.numpy(), given.prompt.numpy()))
        return cls(np.array(tokens, np.int64), indices, table, solver)

    @property
    def noise(self) -> npt.NDArray[np.float32]:
        return self.table[: self.frames]

    @property
    def prompt(self) -> npt.NDArray[np.float32]:
        return self.table[self.frames :]

    @property
    def frames(self) -> int:
        return len(self.indices)

    @property
    def generated(self) -> int:
        """Frames that are not the prompt's."""
        return 2 * self.frames - len(self.table)
