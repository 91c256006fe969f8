"""The perceiver: speech of any length as a fixed number of rows."""

import torch
from torch import Tensor, nn

from polyvox.models.attention import attend, merge_heads, split_heads


class Perceiver(nn.Module):
    """Learned queries attend to the speech, and the result to itself."""

    def __init__(self, hidden: int, queries: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.queries = nn.Parameter(torch.empty(1, queries, hidden))
        self.norm = nn.LayerNorm(hidden)
        self.to_q = nn.Linear(hidden, hidden)
        self.to_k = nn.Linear(hidden, hidden)
        self.to_v = nn.Linear(hidden, hidden)
        self.proj_out = nn.Linear(hidden, hidden)

    def forward(self, speech: Tensor) -> Tensor:
        """Rows [1, queries, hidden] of speech [1, n, hidden], by the same weights both times."""
        rows = self.attended(self.queries, speech)
        return self.attended(rows, rows)

    def attended(self, rows: Tensor, others: Tensor) -> Tensor:
        """Rows with what they find in others."""
        asking, asked = self.norm(rows), self.norm(others)
        parts = self.to_q(asking), self.to_k(asked), self.to_v(asked)
        out: Tensor = rows + self.proj_out(merge_heads(attend(*(split_heads(part, self.heads) for part in parts))))
        return out
