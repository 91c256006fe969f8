"""Kokoro-82M: phonemes and a style to durations, pitch, energy and samples; rows of a batch as if each were alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from polyvox.models.kokoro import albert
from polyvox.models.kokoro import decoder as kokoro_decoder
from polyvox.models.kokoro import prosody as kokoro_prosody
from polyvox.models.kokoro import text_encoder as kokoro_text
from polyvox.models.kokoro.adain import fold_styled_norms
from polyvox.models.kokoro.albert import Albert, AlbertConfig
from polyvox.models.kokoro.decoder import Decoder, DecoderConfig
from polyvox.models.kokoro.prosody import ProsodyPredictor
from polyvox.models.kokoro.ragged import Ragged, picked
from polyvox.models.kokoro.text_encoder import TextEncoder
from polyvox.models.loading import Rules, StateDict, fold_weight_norm, load, renamed, under

FRAME = 600
"""Samples in one frame of a duration, at 24 kHz."""
HARMONICS = 9

_PARTS: Mapping[str, Rules] = {
    "bert": albert.NAMES,
    "bert_encoder": (),
    "predictor": kokoro_prosody.NAMES,
    "text_encoder": kokoro_text.NAMES,
    "decoder": kokoro_decoder.NAMES,
}
# Published with ALBERT, and no part of Kokoro's arithmetic.
_UNUSED = ("bert.pooler.", "bert.embeddings.position_ids")
# Of the decoder, what stays as precise as the rest.
_EXACT = ("generator.source.", "generator.conv_post.")


@dataclass(frozen=True, slots=True)
class KokoroConfig:
    """The sizes of the network; the defaults are those of the release."""

    bert: AlbertConfig = field(default_factory=AlbertConfig)
    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    width: int = 512
    style: int = 128
    layers: int = 3
    max_frames: int = 50

    @property
    def told(self) -> int:
        """What `Kokoro.told` says of each token: for the prosody, for the sound, and its duration."""
        return self.width + self.style + self.width + 1


@dataclass(frozen=True, slots=True)
class Line:
    """Token ids with the padding token at both ends, style [256] for them, and how fast to speak."""

    ids: Sequence[int]
    style: Tensor
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class Tokens:
    """One line with its tokens understood: how long each is, and what prosody and sound will make of it."""

    told: Tensor
    """[ids, `KokoroConfig.told`], as `Kokoro.told` gives it."""
    style: Tensor
    frames: int

    @property
    def noise_shape(self) -> tuple[int, int]:
        """What `Kokoro.sound` takes as the noise of this line."""
        return self.frames * FRAME, HARMONICS


@dataclass(frozen=True, slots=True)
class Prosody:
    """One line as it will be said: frames of each id, and over all frames text, pitch and energy."""

    durations: Tensor
    """[ids], whole numbers from 1."""
    text: Tensor
    """[width, frames]"""
    pitch: Tensor
    """Hertz, [2 frames]."""
    energy: Tensor
    """[2 frames]"""
    style: Tensor
    """The half of the style that colours the sound."""

    @property
    def frames(self) -> int:
        return self.text.shape[1]

    @property
    def noise_shape(self) -> tuple[int, int]:
        """What `Kokoro.sound` takes as the noise of this line."""
        return self.frames * FRAME, HARMONICS


class Kokoro(nn.Module):
    """Speaks in two steps: `plan` tells how long each line will be, `sound` gives its samples."""

    def __init__(self, config: KokoroConfig) -> None:
        super().__init__()
        self.config = config
        self.bert = Albert(config.bert)
        self.bert_encoder = nn.Linear(config.bert.hidden, config.width)
        self.predictor = ProsodyPredictor(config.width, config.style, config.layers, config.max_frames)
        self.text_encoder = TextEncoder(config.bert.tokens, config.width, config.layers)
        self.decoder = Decoder(config.decoder, config.width, config.style)

    def cast(self, planning: torch.dtype, sounding: torch.dtype) -> None:
        """Puts what leads to durations and pitch, and the inner layers of the decoder, into these types.

        The pitch adds up to phases, and a change of its last bit to a change of the sound; so where a line is to sound
        the same in any company, it is planned in double precision. Nearly all time is spent on sounding, of which only
        the phases at either end of the generator have no bit to spare.
        """
        for part in (self.bert, self.bert_encoder, self.predictor):
            part.to(planning)
        for name, parameter in self.decoder.named_parameters():
            if not name.startswith(_EXACT):
                parameter.data = parameter.data.to(sounding)

    def plan(self, lines: Sequence[Line]) -> list[Prosody]:
        """Durations, pitch and energy of each line."""
        return self.intoned(self.understood(lines))

    def understood(self, lines: Sequence[Line]) -> list[Tokens]:
        """How long each token of each line is: the first half of `plan`, after which all lengths are known."""
        device, dtype = self.bert_encoder.weight.device, self.bert_encoder.weight.dtype
        ids = _stacked([torch.tensor(line.ids, device=device) for line in lines])
        style = torch.stack([line.style for line in lines]).to(device, dtype)
        speeds = torch.tensor([line.speed for line in lines], device=device)
        ragged = Ragged([len(line.ids) for line in lines], device)
        told = self.told(ids, style, speeds, ragged)
        frames = told[:, :, -1].sum(dim=1).tolist()
        rows = [row[:length] for row, length in zip(told, ragged.lengths, strict=True)]
        return [Tokens(row, own, int(count)) for row, own, count in zip(rows, style, frames, strict=True)]

    def intoned(self, tokens: Sequence[Tokens]) -> list[Prosody]:
        """The second half of `plan`: pitch and energy."""
        frames = Ragged([line.frames for line in tokens], tokens[0].told.device)
        style = torch.stack([line.style for line in tokens])
        text, pitch, energy = self.contoured(_stacked([line.told for line in tokens]), style, frames)
        doubled = frames.scaled(2)
        durations = [line.told[:, -1].long() for line in tokens]
        parts = durations, frames.cut(text), doubled.cut(pitch), doubled.cut(energy), style.chunk(2, dim=1)[0]
        return [Prosody(*part) for part in zip(*parts, strict=True)]

    def told(self, ids: Tensor, style: Tensor, speeds: Tensor, ragged: Ragged) -> Tensor:
        """Of each of ids [batch, time], side by side: what makes its prosody, what makes its sound, and its frames."""
        return self.timed(*self.read(ids, ragged), style, speeds, ragged)

    def read(self, ids: Tensor, ragged: Ragged) -> tuple[Tensor, Tensor]:
        """What ids [batch, time] mean, and how they sound, [batch, time, width] each, in whatever style."""
        return self.bert_encoder(self.bert(ids, ragged)), self.text_encoder(ids, ragged).transpose(1, 2)

    def timed(self, meaning: Tensor, sounds: Tensor, style: Tensor, speeds: Tensor, ragged: Ragged) -> Tensor:
        """What `told` gives, of ids that have been read."""
        manner = style.chunk(2, dim=1)[1]
        rows = self.predictor.tokens(meaning, manner, ragged)
        unrounded = self.predictor.durations(rows, ragged) / speeds[:, None]
        durations = ragged.masked(unrounded.round().clamp(min=1)[:, None])
        return torch.cat((rows, sounds, durations.transpose(1, 2)), dim=2)

    def contoured(self, told: Tensor, style: Tensor, frames: Ragged) -> tuple[Tensor, Tensor, Tensor]:
        """Over all frames, text [batch, width, frames], pitch and energy [batch, 2 frames] of what `told` gives."""
        config = self.config
        rows, text, durations = torch.split(told, [config.width + config.style, config.width, 1], dim=2)
        tokens = _tokens_of_frames(durations[:, :, 0].long().cumsum(dim=1), frames.longest)
        manner = style.chunk(2, dim=1)[1]
        pitch, energy = self.predictor.contours(picked(rows, tokens).to(style.dtype), manner, frames)
        spread = picked(text, tokens).to(self.text_encoder.embedding.weight.dtype)
        return spread.transpose(1, 2), pitch, energy

    def sound(self, plan: Sequence[Prosody], noise: Sequence[Tensor]) -> list[Tensor]:
        """The samples of each line, at 24 kHz.

        The noise, `noise_shape` for each line, is the breath in the harmonic source: standard normal, from a generator
        of the caller's. The random first phase that the original draws as well reaches none of its samples.
        """
        device = self.decoder.reminder.weight.device
        frames = Ragged([prosody.frames for prosody in plan], device)
        text = _stacked([prosody.text.T for prosody in plan]).transpose(1, 2)
        pitch, energy = (_stacked(curves) for curves in zip(*((line.pitch, line.energy) for line in plan), strict=True))
        style = torch.stack([prosody.style for prosody in plan])
        return frames.scaled(FRAME).cut(self.sounded(text, pitch, energy, style, _stacked(noise).to(device), frames))

    def sounded(
        self, text: Tensor, pitch: Tensor, energy: Tensor, style: Tensor, noise: Tensor, frames: Ragged
    ) -> Tensor:
        """Samples [batch, 600 frames] of what `sound` takes, stacked; beyond a row's end they mean nothing."""
        dtype = self.decoder.reminder.weight.dtype
        style = style.to(dtype)
        rows = self.decoder.features(text.to(dtype), pitch, energy, style, frames)
        samples: Tensor = self.decoder.generator(rows, style, pitch, noise, frames.scaled(2))
        return samples


def _tokens_of_frames(ends: Tensor, frames: int) -> Tensor:
    """Which token each frame belongs to, [batch, frames], where tokens end at `ends` [batch, tokens]."""
    places = torch.arange(frames, device=ends.device).expand(len(ends), -1).contiguous()
    return torch.searchsorted(ends, places, right=True).clamp(max=ends.shape[1] - 1)


def _stacked(rows: Sequence[Tensor]) -> Tensor:
    return pad_sequence(list(rows), batch_first=True)


def load_kokoro(
    config: KokoroConfig,
    state: StateDict,
    *,
    planning: torch.dtype = torch.float64,
    sounding: torch.dtype = torch.float32,
) -> Kokoro:
    """The network of a published state dict whose names begin with those of its five parts; see `Kokoro.cast`."""
    learned = {name: tensor for name, tensor in state.items() if not name.startswith(_UNUSED)}
    folded = fold_styled_norms(fold_weight_norm(learned))
    ours = {name: tensor for name, tensor in folded.items() if name.partition(".")[0] not in _PARTS}
    for part, rules in _PARTS.items():
        ours |= {f"{part}.{name}": tensor for name, tensor in renamed(rules, under(f"{part}.", folded)).items()}
    model = load(lambda: Kokoro(config), ours)
    model.cast(planning, sounding)
    return model
