"""A short stream by two executors: how far the one deviates from the other, which is PyTorch without any."""

from collections.abc import Iterator

import torch
from torch import Tensor

from polyvox.engines.cosyvoice.decoder.decoder_stages import FlowHop, FlowStage, FlowStageState
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow, FlowPrompt, FlowRunner
from polyvox.models.hift.causal import CausalHift, CausalHiftState
from polyvox.models.hift.model import Hift, HiftState

_LAST_TOKENS = 5


@torch.inference_mode()
def stream_mel(flow: Flow, runner: FlowRunner) -> list[Tensor]:
    """The mel of a stream's first, middle and last chunk, [1, bins, frames] each."""
    config, weight = flow.config, flow.speaker.weight
    generator = torch.Generator().manual_seed(0)
    sizes = (config.block + config.ahead, config.block, _LAST_TOKENS)
    noise = torch.randn(1, config.bins, FRAMES_PER_TOKEN * sum(sizes), generator=generator).to(weight.device)
    empty = torch.zeros(1, 0, dtype=torch.long, device=weight.device)
    voice = FlowPrompt(empty, noise[:, :, :0], torch.ones(1, config.speaker, device=weight.device))
    state, chunks = flow.start(voice, noise), []
    for index, size in enumerate(sizes):
        tokens = torch.randint(config.tokens, (1, size), generator=generator).to(weight.device)
        mel, state = flow.step(tokens, state, final=index == len(sizes) - 1, runner=runner)
        chunks.append(mel.float())
    return chunks


@torch.inference_mode()
def stage_mel(stage: FlowStage, flow: Flow) -> Tensor:
    """The mel [bins, frames] of two streams' first, middle and last chunks, each computed together with the other's."""
    config, device = flow.config, flow.speaker.weight.device
    sizes = (config.block + config.ahead, config.block, _LAST_TOKENS)
    empty = torch.zeros(1, 0, dtype=torch.long, device=device)
    voice = FlowPrompt(
        empty, torch.zeros(1, config.bins, 0, device=device), torch.ones(1, config.speaker, device=device)
    )
    states: list[FlowStageState | None] = [stage.start(voice)] * 2
    mels: list[Tensor] = []
    for index, size in enumerate(sizes):
        final = index == len(sizes) - 1
        hops = [
            FlowHop([(7 * token + 31 * index + stream) % config.tokens for token in range(size)], state, final)
            for stream, state in enumerate(states)
            if state is not None
        ]
        results = stage.step(hops)
        mels += [result.mel for result in results if result.mel is not None]
        states = [result.state for result in results]
    return torch.cat(mels, dim=1)


@torch.inference_mode()
def stream_samples(vocoder: Hift | CausalHift, chunks: list[Tensor]) -> Tensor:
    """The samples of a stream of mel chunks."""
    steps = _causal_steps if isinstance(vocoder, CausalHift) else _overlapping_steps
    return torch.cat(list(steps(vocoder, chunks)), dim=1)  # type: ignore[arg-type]


def _causal_steps(vocoder: CausalHift, chunks: list[Tensor]) -> Iterator[Tensor]:
    state: CausalHiftState = vocoder.start(_noise(vocoder, sum(mel.shape[2] for mel in chunks), 0))
    for index, mel in enumerate(chunks):
        samples, state = vocoder.step(mel, state, final=index == len(chunks) - 1)
        yield samples


def _overlapping_steps(vocoder: Hift, chunks: list[Tensor]) -> Iterator[Tensor]:
    state: HiftState | None = None
    for index, mel in enumerate(chunks):
        frames = mel.shape[2] + (0 if state is None else state.mel.shape[2])
        samples, state = vocoder.step(mel, _noise(vocoder, frames, index), state, final=index == len(chunks) - 1)
        yield samples


def _noise(vocoder: Hift | CausalHift, frames: int, seed: int) -> Tensor:
    source = vocoder.config.source
    shape = (1, frames * source.samples_per_frame, source.harmonics)
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(vocoder.source.mix.weight.device)


def deviation(ours: Tensor, theirs: Tensor) -> float:
    """The root mean square of the difference, as a share of the spread of `theirs`; infinite where it is no number."""
    if ours.shape != theirs.shape or not torch.isfinite(ours).all():
        return float("inf")
    return float((ours - theirs).float().square().mean().sqrt() / theirs.float().std().clamp(min=1e-12))
