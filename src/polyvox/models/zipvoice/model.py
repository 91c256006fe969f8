"""ZipVoice: tokens and a spoken prompt to mel frames, by a flow whose steps many requests share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from polyvox.models.loading import StateDict, load, under
from polyvox.models.lookup import lookup
from polyvox.models.zipvoice.calls import ONE_BY_ONE, Each, in_calls
from polyvox.models.zipvoice.zipformer import Extent, Zipformer, ZipformerConfig, swoosh_r, zipformer_state

PAD = 0
GUIDANCE_CODE = 192
TURNING_POINT = 0.5
"""Up to this time the unguided half of guidance still hears the prompt, and counts double."""


@dataclass(frozen=True, slots=True)
class ZipVoiceConfig:
    """One variant: its sizes, and whether guidance is part of the network, two speakers are, or two channels are."""

    vocabulary: int
    bins: int
    text: ZipformerConfig
    decoder: ZipformerConfig
    distilled: bool = False
    channels: int = 1
    speaker_tags: tuple[int, int] | None = None
    """The ids of `[S1]` and `[S2]`, in a model for dialogues."""

    @property
    def features(self) -> int:
        """Values of one frame."""
        return self.channels * self.bins


def config_of(
    published: Mapping[str, Any],
    vocabulary: int,
    *,
    distilled: bool = False,
    channels: int = 1,
    speaker_tags: tuple[int, int] | None = None,
) -> ZipVoiceConfig:
    """The sizes of the `model` section of a `model.json`."""
    bins = published["feat_dim"]
    heads = {
        "query_head": published["query_head_dim"],
        "value_head": published["value_head_dim"],
        "position_head": published["pos_head_dim"],
        "position": published["pos_dim"],
    }
    text = ZipformerConfig(
        inputs=published["text_embed_dim"],
        outputs=bins,
        width=published["text_encoder_dim"],
        feed_forward=published["text_encoder_feedforward_dim"],
        heads=published["text_encoder_num_heads"],
        layers=(published["text_encoder_num_layers"],),
        kernels=(published["text_encoder_cnn_module_kernel"],),
        rates=(1,),
        **heads,
    )
    decoder = ZipformerConfig(
        inputs=(1 + 2 * channels) * bins,
        outputs=channels * bins,
        width=published["fm_decoder_dim"],
        feed_forward=published["fm_decoder_feedforward_dim"],
        heads=published["fm_decoder_num_heads"],
        layers=tuple(published["fm_decoder_num_layers"]),
        kernels=tuple(published["fm_decoder_cnn_module_kernel"]),
        rates=tuple(published["fm_decoder_downsampling_factor"]),
        time=published["time_embed_dim"],
        **heads,
    )
    return ZipVoiceConfig(vocabulary, bins, text, decoder, distilled, channels, speaker_tags)


def target_frames(prompt_frames: int, prompt_tokens: int, tokens: int, speed: float) -> int:
    """How long the speech is: as many frames for a token as the prompt has, in single precision as published."""
    if min(prompt_frames, prompt_tokens, tokens) < 1:
        raise ValueError("Neither the prompt nor what is to be spoken may be without tokens or frames.")
    pace = np.float32(prompt_frames) / np.float32(prompt_tokens)
    return int(np.ceil(pace * np.float32(tokens) / np.float32(speed)))


def token_places(tokens: int, frames: int) -> list[int]:
    """Which token each frame says: all for the same number of frames, and the pad behind them for what is left over.

    Where there are fewer frames than tokens, some tokens are passed over.
    """
    if frames < tokens:
        return [frame * tokens // frames for frame in range(frames)]
    return [min(frame // (frames // tokens), tokens) for frame in range(frames)]


def schedule(steps: int, shift: float) -> tuple[float, ...]:
    """The times from 0 to 1 between which the steps are taken; a shift below 1 makes the first ones short."""
    even = torch.linspace(0, 1, steps + 1)
    times: list[float] = (shift * even / (1 + (shift - 1) * even)).tolist()
    return tuple(times)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """What is to be spoken: tokens, and the prompt's tokens and mel [frames, features]."""

    tokens: Sequence[int]
    prompt_tokens: Sequence[int]
    prompt: Tensor
    speed: float = 1.0

    @property
    def frames(self) -> int:
        """All frames, the prompt's among them."""
        prompt = len(self.prompt)
        return prompt + target_frames(prompt, len(self.prompt_tokens), len(self.tokens), self.speed)


@dataclass(frozen=True, slots=True)
class Solver:
    """How the flow is followed."""

    steps: int
    guidance: float
    shift: float = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """One line on its way from noise to mel. `mel` and `speech` are [frames, features], `text` is [frames, bins]."""

    mel: Tensor
    text: Tensor
    speech: Tensor
    prompt_frames: int
    times: tuple[float, ...]
    guidance: float
    step: int = 0

    @property
    def done(self) -> bool:
        return self.step == len(self.times) - 1

    @property
    def time(self) -> float:
        return self.times[self.step]

    @property
    def spoken(self) -> Tensor:
        """The mel without the prompt's part, [frames, features]."""
        return self.mel[self.prompt_frames :]

    def advanced(self, velocity: Tensor) -> "Flow":
        """One step on."""
        delta = self.times[self.step + 1] - self.time
        return replace(self, mel=self.mel + velocity * delta, step=self.step + 1)


def begun(
    lines: Sequence[Line], texts: Sequence[Tensor], noise: Sequence[Tensor], solvers: Sequence[Solver]
) -> list[Flow]:
    """Flows at their beginning, from what each frame is to say and from noise."""
    flows = []
    for line, text, chaos, solver in zip(lines, texts, noise, solvers, strict=True):
        speech = line.prompt.new_zeros(line.frames, line.prompt.shape[1])
        speech[: len(line.prompt)] = line.prompt
        if chaos.shape != speech.shape:
            raise ValueError(f"The noise is {tuple(chaos.shape)}, not {tuple(speech.shape)}.")
        times = schedule(solver.steps, solver.shift)
        flows.append(Flow(chaos, text, speech, len(line.prompt), times, solver.guidance))
    return flows


class ZipVoice(nn.Module):
    """All four variants. Nothing of a request stays in it."""

    def __init__(self, config: ZipVoiceConfig) -> None:
        super().__init__()
        assert config.decoder.time is not None
        self.config = config
        self.embed = lookup(config.vocabulary, config.text.inputs)
        self.text_encoder = Zipformer(config.text)
        self.clock = Clock(config.decoder.time, distilled=config.distilled)
        self.decoder = Zipformer(config.decoder)
        if config.speaker_tags is not None or config.channels > 1:
            self.speakers = lookup(2, config.bins)

    def start(self, lines: Sequence[Line], noise: Sequence[Tensor], solvers: Sequence[Solver]) -> list[Flow]:
        """Flows at their beginning; each line's noise is [frames, features]."""
        return begun(lines, self.text_conditions(lines), noise, solvers)

    def step(self, flows: Sequence[Flow], frames_per_call: int | None = None, each: Each = ONE_BY_ONE) -> list[Flow]:
        """Each flow one step on, whatever the others' lengths, times and guidance are.

        Rows of similar length share calls of the decoder of at most `frames_per_call` frames, which `each` makes: on a
        CPU side by side. Beyond some 2000 frames a CPU gains nothing from longer calls, a GPU until its memory ends.
        """
        velocities = self.velocities(flows, frames_per_call, each)
        return [flow.advanced(velocity) for flow, velocity in zip(flows, velocities, strict=True)]

    def text_conditions(self, lines: Sequence[Line]) -> list[Tensor]:
        """What each frame is to say, [frames, bins] for each line: tokens at an even pace."""
        device = self.embed.weight.device
        # One pad stands behind the tokens: frames that are left over after an even pace say that.
        texts = [torch.tensor([*line.prompt_tokens, *line.tokens, PAD], device=device) for line in lines]
        rows = self.encoded(texts)
        conditions = []
        for line, row in zip(lines, rows, strict=True):
            conditions.append(row[torch.tensor(token_places(len(row) - 1, line.frames), device=device)])
        return conditions

    def encoded(self, texts: Sequence[Tensor]) -> list[Tensor]:
        """Tokens [n + 1], the last of them the pad, as [n + 1, bins]; the pad hears the tokens but is not heard."""
        lengths = [len(text) - 1 for text in texts]
        tokens = pad_sequence(list(texts), batch_first=True, padding_value=PAD)
        extent = Extent.of(lengths, tokens.shape[1], tokens.device)
        rows: Tensor = self.text_encoder(self.embed(tokens), extent)
        rows = rows.float()
        if self.config.speaker_tags is not None:
            speakers = self.speakers(speakers_of(tokens, self.config.speaker_tags)).float()
            rows = rows + speakers * (tokens != PAD)[:, :, None]
        return [row[: length + 1] for row, length in zip(rows, lengths, strict=True)]

    def velocities(
        self, flows: Sequence[Flow], frames_per_call: int | None = None, each: Each = ONE_BY_ONE
    ) -> list[Tensor]:
        """The guided velocity of each flow, [frames, features]."""
        rows = [_Row(flow.mel, flow.text, flow.speech, flow.time, flow.guidance) for flow in flows]
        guided = [] if self.config.distilled else [index for index, flow in enumerate(flows) if flow.guidance != 0]
        rows += [rows[index].unguided() for index in guided]
        velocities = in_calls(self.velocities_of, rows, [len(row.mel) for row in rows], frames_per_call, each)
        for index, other in zip(guided, range(len(flows), len(rows)), strict=True):
            scale = flows[index].guidance * (2 if flows[index].time <= TURNING_POINT else 1)
            velocities[index] = (1 + scale) * velocities[index] - scale * velocities[other]
        return velocities[: len(flows)]

    def velocities_of(self, rows: Sequence["_Row"]) -> list[Tensor]:
        """One call of the decoder."""
        weight = self.decoder.in_proj.weight
        lengths = [len(row.mel) for row in rows]
        inputs = pad_sequence([torch.cat((row.mel, row.text, row.speech), dim=1) for row in rows], batch_first=True)
        extent = Extent.of(lengths, inputs.shape[1], weight.device)
        time = self.clock(
            torch.tensor([row.time for row in rows], device=weight.device),
            torch.tensor([row.guidance for row in rows], device=weight.device),
        )
        out = self.decoder(inputs.to(weight.dtype), extent, time).float()
        return [each[:length] for each, length in zip(out, lengths, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """One row of a call of the decoder."""

    mel: Tensor
    text: Tensor
    speech: Tensor
    time: float
    guidance: float

    def unguided(self) -> "_Row":
        """The row without its text and, once the turning point is past, without the prompt."""
        speech = self.speech if self.time <= TURNING_POINT else torch.zeros_like(self.speech)
        return replace(self, text=torch.zeros_like(self.text), speech=speech)


class Clock(nn.Module):
    """Times, and in the distilled model guidance as well, as vectors."""

    def __init__(self, width: int, *, distilled: bool) -> None:
        super().__init__()
        self.width = width
        self.linear_1 = nn.Linear(width, 2 * width)
        self.linear_2 = nn.Linear(2 * width, width)
        self.guidance = nn.Linear(GUIDANCE_CODE, width, bias=False) if distilled else None

    def forward(self, times: Tensor, guidance: Tensor) -> Tensor:
        """Times and guidance [batch] as [batch, width]."""
        dtype = self.linear_1.weight.dtype
        code = wave_code(times, self.width).to(dtype)
        if self.guidance is not None:
            code = code + self.guidance(wave_code(guidance, GUIDANCE_CODE).to(dtype))
        out: Tensor = self.linear_2(swoosh_r(self.linear_1(code)))
        return out


def wave_code(values: Tensor, width: int) -> Tensor:
    """Numbers [n] as cosines and sines of ever longer waves, [n, width]."""
    angles = values[:, None].float() * wave_rates(width, values.device)
    return torch.cat((angles.cos(), angles.sin()), dim=1)


def wave_rates(width: int, device: torch.device | None = None) -> Tensor:
    """The rates of the waves that `wave_code` takes, [width / 2]."""
    half = width // 2
    rates: Tensor = 10_000.0 ** (-torch.arange(half, device=device) / half)
    return rates


def speakers_of(tokens: Tensor, tags: tuple[int, int]) -> Tensor:
    """The row of the speakers' table for each token [batch, n]: of the speaker whose tag came last.

    The first speaker has the second row. Who speaks goes by the tag, where the original counts turns: with a prompt of
    an odd number of turns it would swap the voices.
    """
    place = torch.arange(1, tokens.shape[1] + 1, device=tokens.device)
    first, second = ((place * (tokens == tag)).cummax(dim=1).values for tag in tags)
    return (first > second).long()


def load_zipvoice(config: ZipVoiceConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> ZipVoice:
    """The model of a published state dict."""
    decoder = under("fm_decoder.", state)
    ours = {"embed.weight": state["embed.weight"]}
    ours |= {f"text_encoder.{name}": each for name, each in zipformer_state(under("text_encoder.", state)).items()}
    ours |= {f"clock.{name}": each for name, each in _clock_state(decoder).items()}
    ours |= {f"decoder.{name}": each for name, each in zipformer_state(_stacks_state(decoder)).items()}
    ours |= {f"speakers.{name}": each for name, each in under("spk_embed.", state).items()}
    return load(lambda: ZipVoice(config), ours, dtype)


def _clock_state(decoder: StateDict) -> dict[str, Tensor]:
    return {
        **{f"linear_1.{name}": each for name, each in under("time_embed.0.", decoder).items()},
        **{f"linear_2.{name}": each for name, each in under("time_embed.2.", decoder).items()},
        **{f"guidance.{name}": each for name, each in under("guidance_scale_embed.", decoder).items()},
    }


def _stacks_state(decoder: StateDict) -> dict[str, Tensor]:
    """Without the clock, and of the stereo model's two pairs of projections only the one for two channels."""
    kept = {
        name: each
        for name, each in decoder.items()
        if not name.startswith(("time_embed.", "guidance_scale_embed.", "in_proj.1.", "out_proj.1."))
    }
    return {name.replace("_proj.0.", "_proj."): each for name, each in kept.items()}
