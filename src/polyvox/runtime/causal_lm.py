"""Protocols of networks that the scheduler runs: a causal language model and its backbone, plain or fused."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor, nn

from polyvox.models.cache import LayerCache
from polyvox.runtime.kv_cache import CacheSizes
from polyvox.runtime.lm_step import SlotStart, SlotText
from polyvox.runtime.sampling.sampler import SamplingPlan


class Backbone(Protocol):
    """A decoder whose KV cache the scheduler keeps, such as `Qwen`."""

    @property
    def config(self) -> CacheSizes: ...

    @property
    def norm(self) -> nn.RMSNorm | nn.LayerNorm:
        """The final norm; its weight tells device and precision."""

    def decode(self, rows: Tensor, memory: LayerCache, positions: Tensor, mask: Tensor | None) -> Tensor:
        """Hidden states for input embeddings [n, m, width] at `positions` [n, m]."""


class CausalLm(Protocol):
    """A network that the scheduler can run: a backbone, the embeddings of prompt ids and of tokens, and a head."""

    @property
    def backbone(self) -> Backbone: ...

    @property
    def vocabulary(self) -> int:
        """Size of the head's vocabulary."""

    def embed_ids(self, ids: Tensor) -> Tensor:
        """Embeddings of prompt ids."""

    def embed_tokens(self, tokens: Tensor) -> Tensor:
        """Embeddings of tokens of the head's vocabulary."""

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., hidden] to [..., vocabulary]."""


class FusedBackbone(Protocol):
    """The backbone in few kernels, on the slots of a KV cache."""

    def decode(self, rows: Tensor, slots: Tensor, positions: Tensor, extent: int) -> Tensor:
        """Hidden states for one new position a slot: `rows` [n, hidden] at `positions` [n], all before `extent`."""

    def prefill(
        self, rows: Tensor, slots: Tensor, write_slots: Tensor, positions: Tensor, extent: int, mask: Tensor
    ) -> Tensor:
        """Hidden states for chunks, `rows` [n, m, hidden], mapped as `SlotMapping` says."""


@runtime_checkable
class SupportsSharedPrefixes(Protocol):
    """A fused backbone that reads keys and values once for several rows where their slots begin with the same."""

    def decode_shared(
        self, rows: Tensor, slots: Tensor, positions: Tensor, extent: int, prefixes: Tensor | None
    ) -> Tensor:
        """As `FusedBackbone.decode`; `prefixes` [3, n] is what `prefix_table` says, on the device."""


class FrameSteps(Protocol):
    """The part of a step that turns a token into a whole frame of codes, for models that generate several a position.

    It keeps each slot's last frame and the text that is added to it. Where steps are captured, `rows` and `complete`
    are part of the graph.
    """

    @property
    def groups(self) -> int:
        """Codes of a frame, the token included."""

    def start(self, starts: Sequence[SlotStart]) -> None:
        """Begin new sequences."""

    def feed(self, texts: Sequence[SlotText]) -> None:
        """Append text that is added to the slots' frames."""

    def rows(self, slots: Tensor) -> Tensor:
        """Input embeddings [n, hidden] of the slots' last frames, each with its next text."""

    def complete(self, hidden: Tensor, tokens: Tensor, slots: Tensor, plan: SamplingPlan) -> Tensor:
        """The frames [n, groups] that begin with `tokens` [n], which were sampled behind `hidden` [n, hidden]."""
