"""ZipVoice: tokens and a voice prompt to mel frames by flow matching, many requests in one step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from polyvox.models.loading import StateDict, load, under
from polyvox.models.lookup import lookup
from polyvox.models.zipvoice.batching import SEQUENTIAL, CallRunner, run_batched
from polyvox.models.zipvoice.flow import SolverOptions, SolverState, ZipVoiceInput, initial_states, token_indices
from polyvox.models.zipvoice.zipformer import PaddingMask, Zipformer, ZipformerConfig, swoosh_r, zipformer_state

PAD = 0
GUIDANCE_EMBEDDING = 192
"""Width of the sinusoidal embedding of the guidance scale."""
GUIDANCE_SWITCH_TIME = 0.5
"""Up to this time the unconditional row keeps the prompt, and the guidance scale counts double."""


@dataclass(frozen=True, slots=True)
class ZipVoiceConfig:
    """One variant: its sizes, whether guidance is distilled into the network, its channels and its speaker tags."""

    vocabulary: int
    bins: int
    text: ZipformerConfig
    decoder: ZipformerConfig
    distilled: bool = False
    channels: int = 1
    speaker_tags: tuple[int, int] | None = None
    """The token ids of `[S1]` and `[S2]`, in a dialogue model."""

    @property
    def features(self) -> int:
        """The mel bins of all channels."""
        return self.channels * self.bins


def config_from_published(
    published: Mapping[str, Any],
    vocabulary: int,
    *,
    distilled: bool = False,
    channels: int = 1,
    speaker_tags: tuple[int, int] | None = None,
) -> ZipVoiceConfig:
    """The configuration given by the `model` section of a `model.json`."""
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
        downsampling=(1,),
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
        downsampling=tuple(published["fm_decoder_downsampling_factor"]),
        time=published["time_embed_dim"],
        **heads,
    )
    return ZipVoiceConfig(vocabulary, bins, text, decoder, distilled, channels, speaker_tags)


class ZipVoice(nn.Module):
    """The network of all four variants. It keeps no state between calls."""

    def __init__(self, config: ZipVoiceConfig) -> None:
        super().__init__()
        assert config.decoder.time is not None
        self.config = config
        self.embed = lookup(config.vocabulary, config.text.inputs)
        self.text_encoder = Zipformer(config.text)
        self.time_embedding = TimeEmbedding(config.decoder.time, distilled=config.distilled)
        self.decoder = Zipformer(config.decoder)
        if config.speaker_tags is not None or config.channels > 1:
            self.speakers = lookup(2, config.bins)

    def start(
        self, inputs: Sequence[ZipVoiceInput], noise: Sequence[Tensor], options: Sequence[SolverOptions]
    ) -> list[SolverState]:
        """States before the first step; the noise of each row is [frames, features]."""
        return initial_states(inputs, self.text_conditions(inputs), noise, options)

    def step(
        self, states: Sequence[SolverState], frames_per_call: int | None = None, runner: CallRunner = SEQUENTIAL
    ) -> list[SolverState]:
        """Advance each row by one step; rows may differ in length, time and guidance.

        Rows of similar length share calls of the decoder of at most `frames_per_call` frames, which `runner` runs: on a
        CPU in parallel. Beyond some 2000 frames a CPU gains nothing from longer calls, a GPU until its memory ends.
        """
        velocities = self.velocities(states, frames_per_call, runner)
        return [state.advance(velocity) for state, velocity in zip(states, velocities, strict=True)]

    def text_conditions(self, inputs: Sequence[ZipVoiceInput]) -> list[Tensor]:
        """Encoded tokens spread evenly over the frames of each row, [frames, bins]."""
        device = self.embed.weight.device
        # One pad stands behind the tokens, for frames that are left over after an even pace.
        texts = [torch.tensor([*row.prompt_tokens, *row.tokens, PAD], device=device) for row in inputs]
        conditions = []
        for row, encoded in zip(inputs, self.encode_texts(texts), strict=True):
            conditions.append(encoded[torch.tensor(token_indices(len(encoded) - 1, row.frames), device=device)])
        return conditions

    def encode_texts(self, texts: Sequence[Tensor]) -> list[Tensor]:
        """Encode tokens [n + 1], the last of them the pad, as [n + 1, bins]; no token attends to the pad."""
        lengths = [len(text) - 1 for text in texts]
        tokens = pad_sequence(list(texts), batch_first=True, padding_value=PAD)
        rows = self._encode(tokens, PaddingMask.of(lengths, tokens.shape[1], tokens.device), None)
        return [row[: length + 1] for row, length in zip(rows, lengths, strict=True)]

    def encode_padded(self, tokens: Tensor, lengths: Tensor, positions: Mapping[int, Tensor]) -> Tensor:
        """Encode tokens [batch, n], padded behind `lengths` [batch] of them, as [batch, n, bins]."""
        return self._encode(tokens, PaddingMask.static(lengths, tokens.shape[1]), positions)

    def _encode(self, tokens: Tensor, padding: PaddingMask, positions: Mapping[int, Tensor] | None) -> Tensor:
        rows: Tensor = self.text_encoder(self.embed(tokens), padding, None, positions)
        rows = rows.float()
        if self.config.speaker_tags is not None:
            speakers = self.speakers(speaker_indices(tokens, self.config.speaker_tags)).float()
            rows = rows + speakers * (tokens != PAD)[:, :, None]
        return rows

    def step_padded(self, state: "PaddedState", positions: Mapping[int, Tensor]) -> Tensor:
        """The mels [batch, frames, features] one step on; all shapes are static, as a CUDA graph needs it."""
        mel, text, speech = state.mel, state.text_condition, state.speech_condition
        time, guidance, lengths = state.time, state.guidance, state.lengths
        early = (time <= GUIDANCE_SWITCH_TIME)[:, None, None]
        inputs = torch.cat((mel, text, speech), dim=2)
        if not self.config.distilled:
            unconditional = torch.cat((mel, torch.zeros_like(text), speech * early), dim=2)
            inputs = torch.cat((inputs, unconditional))
            time, guidance, lengths = time.repeat(2), guidance.repeat(2), lengths.repeat(2)
        dtype = self.decoder.in_proj.weight.dtype
        padding = PaddingMask.static(lengths, mel.shape[1])
        velocity: Tensor = self.decoder(inputs.to(dtype), padding, self.time_embedding(time, guidance), positions)
        velocity = velocity.float()
        if not self.config.distilled:
            scale = state.guidance[:, None, None] * (1 + early)
            conditional, unconditional = velocity.chunk(2)
            velocity = (1 + scale) * conditional - scale * unconditional
        return mel + velocity * state.delta[:, None, None]

    def velocities(
        self, states: Sequence[SolverState], frames_per_call: int | None = None, runner: CallRunner = SEQUENTIAL
    ) -> list[Tensor]:
        """The guided velocity of each row, [frames, features]."""
        rows = [
            _DecoderRow(state.mel, state.text_condition, state.speech_condition, state.time, state.guidance)
            for state in states
        ]
        guided = [] if self.config.distilled else [index for index, state in enumerate(states) if state.guidance != 0]
        rows += [rows[index].unconditional() for index in guided]
        velocities = run_batched(self.decode, rows, [len(row.mel) for row in rows], frames_per_call, runner)
        for index, unconditional in zip(guided, range(len(states), len(rows)), strict=True):
            scale = states[index].guidance * (2 if states[index].time <= GUIDANCE_SWITCH_TIME else 1)
            velocities[index] = (1 + scale) * velocities[index] - scale * velocities[unconditional]
        return velocities[: len(states)]

    def decode(self, rows: Sequence["_DecoderRow"]) -> list[Tensor]:
        """One call of the decoder: the velocity of each row, [frames, features]."""
        weight = self.decoder.in_proj.weight
        lengths = [len(row.mel) for row in rows]
        inputs = pad_sequence([row.features for row in rows], batch_first=True)
        padding = PaddingMask.of(lengths, inputs.shape[1], weight.device)
        time = self.time_embedding(
            torch.tensor([row.time for row in rows], device=weight.device),
            torch.tensor([row.guidance for row in rows], device=weight.device),
        )
        out = self.decoder(inputs.to(weight.dtype), padding, time).float()
        return [row[:length] for row, length in zip(out, lengths, strict=True)]


class PaddedState(NamedTuple):
    """Rows of one step in padded tensors: [batch, frames, ...], and [batch] for what a row has once."""

    mel: Tensor
    text_condition: Tensor
    speech_condition: Tensor
    lengths: Tensor
    time: Tensor
    delta: Tensor
    guidance: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class _DecoderRow:
    """One row of a call of the decoder."""

    mel: Tensor
    text_condition: Tensor
    speech_condition: Tensor
    time: float
    guidance: float

    @property
    def features(self) -> Tensor:
        return torch.cat((self.mel, self.text_condition, self.speech_condition), dim=1)

    def unconditional(self) -> "_DecoderRow":
        """The row without its text and, after the switch time, without the prompt."""
        speech = self.speech_condition
        if self.time > GUIDANCE_SWITCH_TIME:
            speech = torch.zeros_like(speech)
        return replace(self, text_condition=torch.zeros_like(self.text_condition), speech_condition=speech)


class TimeEmbedding(nn.Module):
    """Embeds times, and in the distilled model the guidance scale as well."""

    def __init__(self, width: int, *, distilled: bool) -> None:
        super().__init__()
        self.width = width
        self.linear_1 = nn.Linear(width, 2 * width)
        self.linear_2 = nn.Linear(2 * width, width)
        self.guidance = nn.Linear(GUIDANCE_EMBEDDING, width, bias=False) if distilled else None

    def forward(self, times: Tensor, guidance: Tensor) -> Tensor:
        """Times and guidance [batch] as [batch, width]."""
        dtype = self.linear_1.weight.dtype
        embedded = sinusoidal_embedding(times, self.width).to(dtype)
        if self.guidance is not None:
            embedded = embedded + self.guidance(sinusoidal_embedding(guidance, GUIDANCE_EMBEDDING).to(dtype))
        out: Tensor = self.linear_2(swoosh_r(self.linear_1(embedded)))
        return out


def sinusoidal_embedding(values: Tensor, width: int) -> Tensor:
    """Numbers [n] as cosines and sines of falling frequency, [n, width]."""
    angles = values[:, None].float() * sinusoidal_frequencies(width, values.device)
    return torch.cat((angles.cos(), angles.sin()), dim=1)


def sinusoidal_frequencies(width: int, device: torch.device | None = None) -> Tensor:
    """The frequencies of `sinusoidal_embedding`, [width / 2]."""
    half = width // 2
    frequencies: Tensor = 10_000.0 ** (-torch.arange(half, device=device) / half)
    return frequencies


def speaker_indices(tokens: Tensor, tags: tuple[int, int]) -> Tensor:
    """The row of the speaker embedding for each token [batch, n]: of the speaker whose tag came last.

    The first speaker has the second row. The speaker follows from the tag, where the original counts turns: with a
    prompt of an odd number of turns it would swap the voices.
    """
    position = torch.arange(1, tokens.shape[1] + 1, device=tokens.device)
    first, second = ((position * (tokens == tag)).cummax(dim=1).values for tag in tags)
    return (first > second).long()


def load_zipvoice(config: ZipVoiceConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> ZipVoice:
    """Build the model from a published state dict."""
    decoder = under("fm_decoder.", state)
    ours = {"embed.weight": state["embed.weight"]}
    ours |= {f"text_encoder.{name}": each for name, each in zipformer_state(under("text_encoder.", state)).items()}
    ours |= {f"time_embedding.{name}": each for name, each in _time_embedding_state(decoder).items()}
    ours |= {f"decoder.{name}": each for name, each in zipformer_state(_stacks_state(decoder)).items()}
    ours |= {f"speakers.{name}": each for name, each in under("spk_embed.", state).items()}
    return load(lambda: ZipVoice(config), ours, dtype)


def _time_embedding_state(decoder: StateDict) -> dict[str, Tensor]:
    return {
        **{f"linear_1.{name}": each for name, each in under("time_embed.0.", decoder).items()},
        **{f"linear_2.{name}": each for name, each in under("time_embed.2.", decoder).items()},
        **{f"guidance.{name}": each for name, each in under("guidance_scale_embed.", decoder).items()},
    }


def _stacks_state(decoder: StateDict) -> dict[str, Tensor]:
    """Without the time embedding, and of the stereo model's two pairs of projections only the one for two channels."""
    kept = {
        name: each
        for name, each in decoder.items()
        if not name.startswith(("time_embed.", "guidance_scale_embed.", "in_proj.1.", "out_proj.1."))
    }
    return {name.replace("_proj.0.", "_proj."): each for name, each in kept.items()}
