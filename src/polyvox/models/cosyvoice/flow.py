"""CosyVoice's flow: speech tokens to mel frames, at once or block by block."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import Sight
from polyvox.models.cosyvoice.euler import FlowPoint, cosine_schedule, solve
from polyvox.models.loading import Rules, StateDict, load, renamed, under
from polyvox.models.memory import Kept, Memory, Trail, TrailMemory, nbytes

FRAMES_PER_TOKEN = 2

_ESTIMATOR = "decoder.estimator."
_SPEAKER = "spk_embed_affine_layer."


@dataclass(frozen=True, slots=True)
class FlowConfig:
    """What both versions share; the defaults are the released ones."""

    tokens: int = 6561
    bins: int = 80
    speaker: int = 192
    ahead: int = 3
    """Tokens after a block that have to be known before it is computed."""
    block: int = 25
    """Tokens that see each other when streaming; all see everything before them."""
    steps: int = 10
    guidance: float = 0.7


@dataclass(frozen=True, slots=True)
class FlowPrompt:
    """The voice: speech tokens [batch, n], their mel [batch, bins, 2 n] and the speaker's embedding [batch, 192]."""

    tokens: Tensor
    mel: Tensor
    embedding: Tensor


@dataclass(frozen=True, slots=True)
class FlowState:
    """Where a stream stands. It is never written to: one state, say that of a prompt, may be continued many times."""

    pending: Tensor
    """Tokens whose block or whose following tokens are not complete, [batch, n]."""
    condition: Tensor
    """The prompt's mel frames from the first pending token on."""
    speaker: Tensor
    noise: Tensor
    tokens: int = 0
    """Tokens that are done, the prompt's among them."""
    prompt_frames: int = 0
    window: int | None = None
    """How many frames back attention sees; None sees all, as the exact result needs."""
    front: Kept = ()
    steps: Trail | None = None

    @property
    def nbytes(self) -> int:
        """The memory that the stream holds, what it shares with others in the same voice included."""
        return nbytes(self.front) + (self.steps.nbytes if self.steps else 0)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Tokens or frames `first` to `last` of a stream, of which `block` see each other, and what is to be kept."""

    first: int
    last: int
    block: int | None
    window: int | None
    remember: bool


Encoder = Callable[[Tensor, Tensor, Stretch, Kept], tuple[Tensor, Kept]]
"""Whatever makes mu of a stretch of tokens and of those after it, going on from what was kept of those before it."""

Solver = Callable[[FlowPoint, Stretch, Trail | None], tuple[Tensor, Trail | None]]
"""Whatever leads a stretch from its noise to its mel, going on from what was kept of those before it."""


@dataclass(frozen=True, slots=True)
class FlowMeans:
    """How the two halves of a flow are run."""

    encoder: Encoder
    solver: Solver


class Flow(nn.Module):
    """Tokens in, mel out. The two versions differ in the front, which makes mu of tokens, and in the estimator."""

    time: Tensor

    def __init__(self, config: FlowConfig, front: nn.Module, estimator: nn.Module, time: Tensor) -> None:
        super().__init__()
        self.config = config
        self.front = front
        self.estimator = estimator
        self.speaker = nn.Linear(config.speaker, config.bins)
        self.register_buffer("time", time)
        self.deltas: list[float] = cosine_schedule(config.steps).deltas.tolist()

    def start(self, prompt: FlowPrompt, noise: Tensor, *, window: int | None = None) -> FlowState:
        """A stream in this voice; `noise` [batch or 1, bins, frames] is read from its first frame on."""
        if prompt.mel.shape[2] != FRAMES_PER_TOKEN * prompt.tokens.shape[1]:
            raise ValueError(
                f"A prompt of {prompt.tokens.shape[1]} tokens needs {FRAMES_PER_TOKEN * prompt.tokens.shape[1]} mel "
                f"frames, not {prompt.mel.shape[2]}."
            )
        dtype = self.speaker.weight.dtype
        speaker = self.speaker(functional.normalize(prompt.embedding, dim=1).to(dtype))
        return FlowState(prompt.tokens, prompt.mel.to(dtype), speaker, noise, 0, prompt.mel.shape[2], window)

    def step(
        self, tokens: Tensor, state: FlowState, *, final: bool = False, means: FlowMeans | None = None
    ) -> tuple[Tensor, FlowState]:
        """More tokens [batch, n]; the mel [batch, bins, m] of all blocks that they complete, the prompt's left out.

        The last call of a stream is `final`: what is pending is computed without waiting for more. Other `means` than
        the model's own give the same, sooner.
        """
        state = _told(state, tokens)
        known, block = state.tokens + state.pending.shape[1], self.config.block
        ready = (known if final else (known - self.config.ahead) // block * block) - state.tokens
        return self._advance(state, ready, block, final=final, remember=not final, means=means)

    def preview(self, tokens: Tensor, state: FlowState) -> Tensor:
        """The mel that `step` will give for all that is known, a block that is not complete taken as it stands.

        It lets audio start early, at a price: the frames of that block have not seen the rest of it.
        """
        state = _told(state, tokens)
        ready = state.pending.shape[1] - self.config.ahead
        return self._advance(state, ready, self.config.block, final=False, remember=False)[0]

    def render(self, prompt: FlowPrompt, tokens: Tensor, noise: Tensor, *, streaming: bool, final: bool) -> Tensor:
        """The mel of all tokens in one pass that keeps nothing.

        With `streaming` a frame sees what it would see in a stream, without it everything. Unless `final`, the last
        tokens serve only as those after the others.
        """
        state = _told(self.start(prompt, noise), tokens)
        ready = state.pending.shape[1] - (0 if final else self.config.ahead)
        block = self.config.block if streaming else None
        return self._advance(state, ready, block, final=final, remember=False)[0]

    @property
    def own_means(self) -> FlowMeans:
        return FlowMeans(self.encoded, self.solved)

    def encoded(self, tokens: Tensor, context: Tensor, stretch: Stretch, past: Kept) -> tuple[Tensor, Kept]:
        """Mu of a stretch of tokens that `context` follows, and what is kept after it."""
        memory = Memory(past, remember=stretch.remember)
        mu: Tensor = self.front(tokens, context, memory, Sight(stretch.last, stretch.block))
        return mu, memory.kept()

    def solved(self, point: FlowPoint, stretch: Stretch, past: Trail | None) -> tuple[Tensor, Trail | None]:
        """The mel of a stretch, and what is kept after it."""
        memory = TrailMemory(past, window=stretch.window, remember=stretch.remember)
        return self.integrated(point, memory, Sight(stretch.last, stretch.block)), memory.trail()

    def integrated(self, point: FlowPoint, memory: Memory, sight: Sight) -> Tensor:
        """The mel that the point leads to; the memory serves all steps one after the other."""

        def velocity(step: int, at: FlowPoint) -> Tensor:
            out: Tensor = self.estimator(at, self.time[step].to(at.mu.dtype), memory, sight)
            return out

        return solve(point, self.deltas, self.config.guidance, velocity)

    def _advance(
        self,
        state: FlowState,
        ready: int,
        block: int | None,
        *,
        final: bool,
        remember: bool,
        means: FlowMeans | None = None,
    ) -> tuple[Tensor, FlowState]:
        """Compute the first `ready` pending tokens."""
        if ready <= 0:
            return state.noise.new_zeros(state.pending.shape[0], self.config.bins, 0), state
        done, end = state.tokens, state.tokens + ready
        first, last = FRAMES_PER_TOKEN * done, FRAMES_PER_TOKEN * end
        if last > state.noise.shape[2]:
            raise ValueError(f"The noise given covers {state.noise.shape[2]} frames; {last} are needed.")
        now, later = state.pending[:, :ready], state.pending[:, ready:]
        means = means or self.own_means
        context = later[:, : 0 if final else self.config.ahead]
        mu, front = means.encoder(now, context, Stretch(done, end, block, None, remember), state.front)
        condition = state.condition[:, :, : last - first]
        point = FlowPoint(
            mel=state.noise[:, :, first:last].expand(mu.shape),
            mu=mu,
            speaker=state.speaker,
            condition=functional.pad(condition, (0, last - first - condition.shape[2])),
        )
        stretch = Stretch(first, last, block and FRAMES_PER_TOKEN * block, state.window, remember)
        mel, steps = means.solver(point, stretch, state.steps)
        after = replace(
            state,
            pending=later,
            condition=state.condition[:, :, last - first :],
            tokens=end,
            front=front,
            steps=steps,
        )
        return mel[:, :, max(0, state.prompt_frames - first) :], after


def _told(state: FlowState, tokens: Tensor) -> FlowState:
    return replace(state, pending=torch.cat((state.pending, tokens), dim=1))


@dataclass(frozen=True, slots=True)
class FlowParts:
    """What one version is made of, and the rules from published names to ours."""

    front: Callable[[], nn.Module]
    front_names: Rules
    estimator: Callable[[], nn.Module]
    time: Callable[[], nn.Module]
    """Answers for times [n] with what the estimator is told at each; its names begin with `time.`."""
    estimator_names: Rules


def load_flow(config: FlowConfig, parts: FlowParts, state: StateDict, dtype: torch.dtype) -> Flow:
    """The model of a published `flow` state dict; what depends on time alone becomes a table."""
    estimator = renamed(parts.estimator_names, under(_ESTIMATOR, state))
    rest = renamed(parts.front_names, {name: each for name, each in state.items() if not name.startswith(_ESTIMATOR)})
    time = load(parts.time, under("time.", estimator))
    table: Tensor = time(cosine_schedule(config.steps).times.to(next(time.parameters()).device))
    ours = {"time": table}
    ours |= {f"estimator.{name}": each for name, each in estimator.items() if not name.startswith("time.")}
    ours |= {f"front.{name}": each for name, each in rest.items() if not name.startswith(_SPEAKER)}
    ours |= {f"speaker.{name}": each for name, each in under(_SPEAKER, rest).items()}
    return load(lambda: Flow(config, parts.front(), parts.estimator(), torch.empty_like(table)), ours, dtype)
