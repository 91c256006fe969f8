"""CosyVoice's flow matching model: speech tokens to mel frames, in one pass or streamed block by block."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import CachedTensors, LayerCache, PackedCache, PackedLayerCache, nbytes
from polyvox.models.cosyvoice.ode_solver import FlowPoint, Schedule, cosine_schedule, solve, uniform_schedule
from polyvox.models.loading import Rules, StateDict, load, renamed, under

FRAMES_PER_TOKEN = 2

_ESTIMATOR = "decoder.estimator."
_SPEAKER = "spk_embed_affine_layer."


@dataclass(frozen=True, slots=True)
class FlowConfig:
    """Sizes that the versions share; the defaults are those of the released versions 2 and 3."""

    tokens: int = 6561
    bins: int = 80
    speaker: int = 192
    ahead: int = 3
    """Lookahead: tokens after a block or chunk that have to be known before it is computed."""
    block: int = 25
    """Tokens of one block of the streaming attention mask; version 1 has none and streams in chunks of any length."""
    steps: int = 10
    guidance: float = 0.7
    """Scale of the classifier-free guidance; 0: none."""
    meanflow: bool = False
    """True if the estimator gives the mean velocity of a step, from its start and its end: then steps are equal."""

    @property
    def schedule(self) -> Schedule:
        """The steps of the solver."""
        return uniform_schedule(self.steps) if self.meanflow else cosine_schedule(self.steps)


@dataclass(frozen=True, slots=True)
class FlowPrompt:
    """The reference voice: speech tokens [batch, n], mel [batch, bins, 2 n] and speaker embedding [batch, 192].

    In version 1 the mel may have any number of frames.
    """

    tokens: Tensor
    mel: Tensor
    embedding: Tensor


@dataclass(frozen=True, slots=True)
class FlowState:
    """State of a stream. It is never written to: one state, say that of a prompt, may be continued many times."""

    pending: Tensor
    """Tokens whose block or whose lookahead is not complete, [batch, n]."""
    condition: Tensor
    """The prompt's mel frames from the first pending token on."""
    speaker: Tensor
    noise: Tensor
    tokens: int = 0
    """Tokens that are done, the prompt's among them."""
    prompt_frames: int = 0
    window: int | None = None
    """Frames of left context in attention; None is all, as the exact result needs."""
    encoder_cache: CachedTensors = ()
    solver_cache: PackedCache | None = None

    @property
    def nbytes(self) -> int:
        """Memory of the caches, what is shared with other streams of the same voice included."""
        return nbytes(self.encoder_cache) + (self.solver_cache.nbytes if self.solver_cache else 0)


@dataclass(frozen=True, slots=True)
class FlowSpan:
    """Positions `first` to `last` of a stream (tokens for the encoder, frames for the solver), masked by `block`.

    With `update`, the caches are returned with these positions added, the solver's bounded by `window`.
    """

    first: int
    last: int
    block: int | None
    window: int | None
    update: bool


Encoder = Callable[[Tensor, Tensor, FlowSpan, CachedTensors], tuple[Tensor, CachedTensors]]
"""Encodes the tokens of a span, given its lookahead and its cache, as mu and the next cache."""

Solver = Callable[[FlowPoint, FlowSpan, PackedCache | None], tuple[Tensor, PackedCache | None]]
"""Integrates a span from noise to mel, given its cache, and returns the next cache."""


@dataclass(frozen=True, slots=True)
class FlowRunner:
    """Executor of the two halves of a flow: eager, or CUDA graphs."""

    encoder: Encoder
    solver: Solver


class FlowNetwork(nn.Module):
    """An encoder of tokens to mu, a projection of the speaker, and a velocity estimator with its solver."""

    time: Tensor

    def __init__(self, config: FlowConfig, token_encoder: nn.Module, estimator: nn.Module, time: Tensor) -> None:
        super().__init__()
        self.config = config
        self.token_encoder = token_encoder
        self.estimator = estimator
        self.speaker = nn.Linear(config.speaker, config.bins)
        self.register_buffer("time", time)
        self.deltas: list[float] = config.schedule.deltas.tolist()

    def embed_speaker(self, embedding: Tensor) -> Tensor:
        """Project speaker embeddings [batch, 192] to [batch, bins]."""
        speaker: Tensor = self.speaker(functional.normalize(embedding, dim=1).to(self.speaker.weight.dtype))
        return speaker

    def integrate(self, point: FlowPoint, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        """Integrate from noise to mel; all steps of the solver use the cache, one after the other."""

        def velocity(step: int, at: FlowPoint) -> Tensor:
            out: Tensor = self.estimator(at, self.time[step].to(at.mu.dtype), cache, mask)
            return out

        return solve(point, self.deltas, self.config.guidance, velocity)


class Flow(FlowNetwork):
    """Tokens in, mel out. Versions 2 and 3 differ in the encoder of tokens to mu and in the velocity estimator."""

    def start(self, prompt: FlowPrompt, noise: Tensor, *, window: int | None = None) -> FlowState:
        """Start a stream in this voice; `noise` [batch or 1, bins, frames] covers it from its first frame on."""
        if prompt.mel.shape[2] != FRAMES_PER_TOKEN * prompt.tokens.shape[1]:
            raise ValueError(
                f"A prompt of {prompt.tokens.shape[1]} tokens needs {FRAMES_PER_TOKEN * prompt.tokens.shape[1]} mel "
                f"frames, not {prompt.mel.shape[2]}."
            )
        speaker = self.embed_speaker(prompt.embedding)
        return FlowState(prompt.tokens, prompt.mel.to(speaker.dtype), speaker, noise, 0, prompt.mel.shape[2], window)

    def step(
        self, tokens: Tensor, state: FlowState, *, final: bool = False, runner: FlowRunner | None = None
    ) -> tuple[Tensor, FlowState]:
        """Add tokens [batch, n]; returns the mel [batch, bins, m] of the blocks they complete, without the prompt's.

        The last call of a stream is `final`: all pending tokens are computed. A `runner` computes the same faster than
        the eager one.
        """
        state = _with_tokens(state, tokens)
        known, block = state.tokens + state.pending.shape[1], self.config.block
        ready = (known if final else (known - self.config.ahead) // block * block) - state.tokens
        return self._advance(state, ready, block, final=final, update=not final, runner=runner)

    def preview(self, tokens: Tensor, state: FlowState) -> Tensor:
        """The mel of all tokens known so far, an incomplete block included.

        It lets audio start early, at a price: the frames of that block have not attended to the rest of it.
        """
        state = _with_tokens(state, tokens)
        ready = state.pending.shape[1] - self.config.ahead
        return self._advance(state, ready, self.config.block, final=False, update=False)[0]

    def render(self, prompt: FlowPrompt, tokens: Tensor, noise: Tensor, *, streaming: bool, final: bool) -> Tensor:
        """The mel of all tokens in one pass without a cache.

        With `streaming` the attention mask is that of a stream, without it attention is full. Unless `final`, the last
        tokens serve only as lookahead.
        """
        state = _with_tokens(self.start(prompt, noise), tokens)
        ready = state.pending.shape[1] - (0 if final else self.config.ahead)
        block = self.config.block if streaming else None
        return self._advance(state, ready, block, final=final, update=False)[0]

    @property
    def eager_runner(self) -> FlowRunner:
        return FlowRunner(self.encode, self.solve)

    def encode(
        self, tokens: Tensor, context: Tensor, span: FlowSpan, past: CachedTensors
    ) -> tuple[Tensor, CachedTensors]:
        """Encode the tokens of a span, with `context` as lookahead: mu and the next cache."""
        cache = LayerCache(past, update=span.update)
        mu: Tensor = self.token_encoder(tokens, context, cache, BlockCausalMask(span.last, span.block))
        return mu, cache.tensors()

    def solve(self, point: FlowPoint, span: FlowSpan, past: PackedCache | None) -> tuple[Tensor, PackedCache | None]:
        """Integrate a span to its mel, and return it with the next cache."""
        cache = PackedLayerCache(past, window=span.window, update=span.update)
        return self.integrate(point, cache, BlockCausalMask(span.last, span.block)), cache.packed()

    def _advance(
        self,
        state: FlowState,
        ready: int,
        block: int | None,
        *,
        final: bool,
        update: bool,
        runner: FlowRunner | None = None,
    ) -> tuple[Tensor, FlowState]:
        """Compute the first `ready` pending tokens."""
        if ready <= 0:
            return state.noise.new_zeros(state.pending.shape[0], self.config.bins, 0), state
        done, end = state.tokens, state.tokens + ready
        first, last = FRAMES_PER_TOKEN * done, FRAMES_PER_TOKEN * end
        if last > state.noise.shape[2]:
            raise ValueError(f"The noise given covers {state.noise.shape[2]} frames; {last} are needed.")
        now, later = state.pending[:, :ready], state.pending[:, ready:]
        runner = runner or self.eager_runner
        context = later[:, : 0 if final else self.config.ahead]
        mu, encoder_cache = runner.encoder(now, context, FlowSpan(done, end, block, None, update), state.encoder_cache)
        condition = state.condition[:, :, : last - first]
        point = FlowPoint(
            mel=state.noise[:, :, first:last].expand(mu.shape),
            mu=mu,
            speaker=state.speaker,
            condition=functional.pad(condition, (0, last - first - condition.shape[2])),
        )
        span = FlowSpan(first, last, block and FRAMES_PER_TOKEN * block, state.window, update)
        mel, solver_cache = runner.solver(point, span, state.solver_cache)
        after = replace(
            state,
            pending=later,
            condition=state.condition[:, :, last - first :],
            tokens=end,
            encoder_cache=encoder_cache,
            solver_cache=solver_cache,
        )
        return mel[:, :, max(0, state.prompt_frames - first) :], after


def _with_tokens(state: FlowState, tokens: Tensor) -> FlowState:
    return replace(state, pending=torch.cat((state.pending, tokens), dim=1))


@dataclass(frozen=True, slots=True)
class FlowParts:
    """The modules of one version, and the rules from published parameter names to ours."""

    token_encoder: Callable[[], nn.Module]
    token_encoder_names: Rules
    estimator: Callable[[], nn.Module]
    time: Callable[[], nn.Module]
    """The estimator's time conditioning, a function of times [n], or of spans [n, 2] for mean velocities.

    Its names begin with `time.`."""
    estimator_names: Rules


def load_flow(config: FlowConfig, parts: FlowParts, state: StateDict, dtype: torch.dtype) -> Flow:
    """Load a published `flow` state dict of version 2 or 3."""
    return load_network(Flow, config, parts, state, dtype)


Network = TypeVar("Network", bound=FlowNetwork)


def load_network(
    kind: type[Network], config: FlowConfig, parts: FlowParts, state: StateDict, dtype: torch.dtype
) -> Network:
    """Load a published `flow` state dict; layers that depend on time alone become a table."""
    estimator = renamed(parts.estimator_names, under(_ESTIMATOR, state))
    rest = renamed(
        parts.token_encoder_names, {name: each for name, each in state.items() if not name.startswith(_ESTIMATOR)}
    )
    time = load(parts.time, under("time.", estimator))
    steps = config.schedule.spans if config.meanflow else config.schedule.times
    table: Tensor = time(steps.to(next(time.parameters()).device))
    ours = {"time": table}
    ours |= {f"estimator.{name}": each for name, each in estimator.items() if not name.startswith("time.")}
    ours |= {f"token_encoder.{name}": each for name, each in rest.items() if not name.startswith(_SPEAKER)}
    ours |= {f"speaker.{name}": each for name, each in under(_SPEAKER, rest).items()}
    return load(lambda: kind(config, parts.token_encoder(), parts.estimator(), torch.empty_like(table)), ours, dtype)
