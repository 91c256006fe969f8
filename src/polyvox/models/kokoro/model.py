"""Kokoro-82M: phonemes and a style to durations, pitch, energy and samples; a row does not depend on its batch."""

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
from polyvox.models.kokoro.decoder import DecoderConfig, KokoroDecoder
from polyvox.models.kokoro.distilled_bert import DistilledBert
from polyvox.models.kokoro.prosody import ProsodyPredictor
from polyvox.models.kokoro.ragged import Ragged, gather_rows
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
# Published with ALBERT, and not used by Kokoro.
_UNUSED = ("bert.pooler.", "bert.embeddings.position_ids")
# Parts of the decoder that keep the network's own precision.
_FULL_PRECISION = ("generator.source.", "generator.conv_post.")


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
    def encoding(self) -> int:
        """Columns of `Kokoro.encode`: features for the prosody, features for the decoder, and the duration."""
        return self.width + self.style + self.width + 1


@dataclass(frozen=True, slots=True)
class StyledTokens:
    """Token ids with the padding token at both ends, their style [256], and the speed."""

    ids: Sequence[int]
    style: Tensor
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class EncodedTokens:
    """One sequence of tokens, encoded, with their durations."""

    encoding: Tensor
    """[ids, `KokoroConfig.encoding`], as `Kokoro.encode` gives it."""
    style: Tensor
    frames: int

    @property
    def noise_shape(self) -> tuple[int, int]:
        """The shape of the noise that `Kokoro.decode` takes for it."""
        return self.frames * FRAME, HARMONICS


@dataclass(frozen=True, slots=True)
class Prosody:
    """Predicted prosody of one sequence: frames of each id, and over all frames text, pitch and energy."""

    durations: Tensor
    """[ids], whole numbers from 1."""
    text: Tensor
    """[width, frames]"""
    pitch: Tensor
    """Hertz, [2 frames]."""
    energy: Tensor
    """[2 frames]"""
    style: Tensor
    """The acoustic half of the style."""

    @property
    def frames(self) -> int:
        return self.text.shape[1]

    @property
    def noise_shape(self) -> tuple[int, int]:
        """The shape of the noise that `Kokoro.decode` takes for it."""
        return self.frames * FRAME, HARMONICS


class Kokoro(nn.Module):
    """Synthesises in two steps: `predict_prosody` fixes the length of each sequence, `decode` gives its samples.

    A style has two halves of one width: the acoustic style conditions the decoder, the prosodic one the predictor.
    """

    def __init__(self, config: KokoroConfig) -> None:
        super().__init__()
        self.config = config
        self.bert: Albert | DistilledBert = Albert(config.bert)
        self.bert_encoder: nn.Linear | nn.Identity = nn.Linear(config.bert.hidden, config.width)
        self.predictor = ProsodyPredictor(config.width, config.style, config.layers, config.max_frames)
        self.text_encoder = TextEncoder(config.bert.tokens, config.width, config.layers)
        self.decoder = KokoroDecoder(config.decoder, config.width, config.style)

    def use_distilled(self, bert: DistilledBert) -> None:
        """Put a smaller network in the place of ALBERT and the layer behind it, in their precision."""
        self.bert, self.bert_encoder = bert.to(self.device, self.prosody_dtype), nn.Identity()

    @property
    def device(self) -> torch.device:
        """The device of the layers that lead to durations and pitch."""
        return self.predictor.duration_proj.weight.device

    @property
    def prosody_dtype(self) -> torch.dtype:
        """Their precision."""
        return self.predictor.duration_proj.weight.dtype

    def cast(self, prosody_dtype: torch.dtype, decoder_dtype: torch.dtype) -> None:
        """Cast the layers that lead to durations and pitch, and the inner layers of the decoder.

        Pitch adds up to phases, so a change of its last bit is a change of the sound: where a row must not depend on
        its batch, prosody is predicted in double precision. The decoder takes nearly all the time; only the phases at
        either end of its generator need full precision.
        """
        for part in (self.bert, self.bert_encoder, self.predictor):
            part.to(prosody_dtype)
        for name, parameter in self.decoder.named_parameters():
            if not name.startswith(_FULL_PRECISION):
                parameter.data = parameter.data.to(decoder_dtype)

    def predict_prosody(self, tokens: Sequence[StyledTokens]) -> list[Prosody]:
        """Durations, pitch and energy of each sequence."""
        return self.predict_contours(self.predict_durations(tokens))

    def predict_durations(self, tokens: Sequence[StyledTokens]) -> list[EncodedTokens]:
        """The first half of `predict_prosody`, after which all lengths are known."""
        device, dtype = self.device, self.prosody_dtype
        ids = _padded([torch.tensor(each.ids, device=device) for each in tokens])
        style = torch.stack([each.style for each in tokens]).to(device, dtype)
        speeds = torch.tensor([each.speed for each in tokens], device=device)
        ragged = Ragged([len(each.ids) for each in tokens], device)
        encoding = self.encode(ids, style, speeds, ragged)
        frames = encoding[:, :, -1].sum(dim=1).tolist()
        rows = [row[:length] for row, length in zip(encoding, ragged.lengths, strict=True)]
        return [EncodedTokens(row, own, int(count)) for row, own, count in zip(rows, style, frames, strict=True)]

    def predict_contours(self, tokens: Sequence[EncodedTokens]) -> list[Prosody]:
        """The second half of `predict_prosody`: pitch and energy."""
        frames = Ragged([each.frames for each in tokens], tokens[0].encoding.device)
        style = torch.stack([each.style for each in tokens])
        text, pitch, energy = self.frame_features(_padded([each.encoding for each in tokens]), style, frames)
        doubled = frames.scaled(2)
        durations = [each.encoding[:, -1].long() for each in tokens]
        parts = durations, frames.split(text), doubled.split(pitch), doubled.split(energy), style.chunk(2, dim=1)[0]
        return [Prosody(*part) for part in zip(*parts, strict=True)]

    def encode(
        self, ids: Tensor, style: Tensor, speeds: Tensor, ragged: Ragged, side: torch.cuda.Stream | None = None
    ) -> Tensor:
        """Encode ids [batch, time]: features for the prosody, features for the decoder, and frames, concatenated.

        The features for the decoder come from another stream of the GPU where it is given, beside all else.
        """
        return self.add_durations(*self.encode_text(ids, ragged, side), style, speeds, ragged, side)

    def encode_text(self, ids: Tensor, ragged: Ragged, side: torch.cuda.Stream | None = None) -> tuple[Tensor, Tensor]:
        """Outputs of ALBERT and of the text encoder for ids [batch, time], [batch, time, width] each; no style yet.

        The latter is still on its way on the stream `side`.
        """
        if side is None:
            return self.bert_encoder(self.bert(ids, ragged)), self.text_encoder(ids, ragged).transpose(1, 2)
        _ = ragged.mask, ragged.ends  # both streams read what is made before they part
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            text = self.text_encoder(ids, ragged).transpose(1, 2)
        return self.bert_encoder(self.bert(ids, ragged)), text

    def add_durations(
        self,
        bert: Tensor,
        text: Tensor,
        style: Tensor,
        speeds: Tensor,
        ragged: Ragged,
        side: torch.cuda.Stream | None = None,
    ) -> Tensor:
        """`encode`, of what `encode_text` has given."""
        prosodic = style.chunk(2, dim=1)[1]
        rows = self.predictor.encode(bert, prosodic, ragged)
        unrounded = self.predictor.durations(rows, ragged) / speeds[:, None]
        durations = ragged.masked(unrounded.round().clamp(min=1)[:, None])
        if side is not None:
            torch.cuda.current_stream().wait_stream(side)
        return torch.cat((rows, text, durations.transpose(1, 2)), dim=2)

    def frame_features(self, encoding: Tensor, style: Tensor, frames: Ragged) -> tuple[Tensor, Tensor, Tensor]:
        """Expand to frames: text [batch, width, frames], pitch and energy [batch, 2 frames] of what `encode` gives."""
        config = self.config
        rows, text, durations = torch.split(encoding, [config.width + config.style, config.width, 1], dim=2)
        tokens = _tokens_of_frames(durations[:, :, 0].long().cumsum(dim=1), frames.longest)
        prosodic = style.chunk(2, dim=1)[1]
        pitch, energy = self.predictor.contours(gather_rows(rows, tokens).to(style.dtype), prosodic, frames)
        expanded = gather_rows(text, tokens).to(self.text_encoder.embedding.weight.dtype)
        return expanded.transpose(1, 2), pitch, energy

    def decode(self, prosody: Sequence[Prosody], noise: Sequence[Tensor]) -> list[Tensor]:
        """The samples of each sequence, at 24 kHz.

        The noise of the harmonic source, `noise_shape` for each sequence, is standard normal, from the caller's own
        generator. The random initial phase that the original draws as well has no effect on its samples.
        """
        device = self.decoder.text_residual.weight.device
        frames = Ragged([each.frames for each in prosody], device)
        text = _padded([each.text.T for each in prosody]).transpose(1, 2)
        pitch, energy = (
            _padded(curves) for curves in zip(*((each.pitch, each.energy) for each in prosody), strict=True)
        )
        style = torch.stack([each.style for each in prosody])
        return frames.scaled(FRAME).split(self.waveform(text, pitch, energy, style, _padded(noise).to(device), frames))

    def waveform(
        self, text: Tensor, pitch: Tensor, energy: Tensor, style: Tensor, noise: Tensor, frames: Ragged
    ) -> Tensor:
        """`decode` of one padded batch: samples [batch, 600 frames], undefined beyond a row's end."""
        dtype = self.decoder.text_residual.weight.dtype
        style = style.to(dtype)
        rows = self.decoder.features(text.to(dtype), pitch, energy, style, frames)
        samples: Tensor = self.decoder.generator(rows, style, pitch, noise, frames.scaled(2))
        return samples


def _tokens_of_frames(ends: Tensor, frames: int) -> Tensor:
    """The token of each frame, [batch, frames], where tokens end at `ends` [batch, tokens]."""
    positions = torch.arange(frames, device=ends.device).expand(len(ends), -1).contiguous()
    return torch.searchsorted(ends, positions, right=True).clamp(max=ends.shape[1] - 1)


def _padded(rows: Sequence[Tensor]) -> Tensor:
    return pad_sequence(list(rows), batch_first=True)


def load_kokoro(
    config: KokoroConfig,
    state: StateDict,
    *,
    prosody_dtype: torch.dtype = torch.float64,
    decoder_dtype: torch.dtype = torch.float32,
) -> Kokoro:
    """Load a published state dict, whose names begin with those of its five parts; for the types see `Kokoro.cast`."""
    learned = {name: tensor for name, tensor in state.items() if not name.startswith(_UNUSED)}
    folded = fold_styled_norms(fold_weight_norm(learned))
    ours = {name: tensor for name, tensor in folded.items() if name.partition(".")[0] not in _PARTS}
    for part, rules in _PARTS.items():
        ours |= {f"{part}.{name}": tensor for name, tensor in renamed(rules, under(f"{part}.", folded)).items()}
    model = load(lambda: Kokoro(config), ours)
    model.cast(prosody_dtype, decoder_dtype)
    return model
