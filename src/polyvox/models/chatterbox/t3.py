"""T3, which turns text and a voice into speech tokens: its embeddings, conditioning and head around a decoder."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.chatterbox.gpt2 import Gpt2, Gpt2Config, gpt2_weights
from polyvox.models.chatterbox.perceiver import Perceiver
from polyvox.models.loading import StateDict, WeightsError, aligned, load, renamed, under, with_aligned_rows
from polyvox.models.lookup import lookup
from polyvox.models.qwen.model import Qwen, QwenConfig, RopeScaling

START_SPEECH, STOP_SPEECH = 6561, 6562
SPEECH_IDS = 6563
"""Speech tokens, start and stop. Published tables may be longer, but nothing beyond is ever meant."""
START_TEXT, STOP_TEXT = 255, 0
_UNUSED = ("text_head.", "tfmr.embed_tokens.", "tfmr.wte.")
_NAMES = (
    (r"^cond_enc\.", ""),
    (r"^perceiver\.pre_attention_query$", "perceiver.queries"),
    (r"^perceiver\.attn\.", "perceiver."),
    (r"_pos_emb\.emb\.", "_pos_emb."),
)


def _llama() -> QwenConfig:
    return QwenConfig(
        vocabulary=0,
        hidden=1024,
        feed_forward=4096,
        layers=30,
        heads=16,
        key_heads=16,
        rope_theta=500_000.0,
        norm_eps=1e-5,
        qkv_bias=False,
        rope_scaling=RopeScaling(),
    )


@dataclass(frozen=True, slots=True)
class T3Config:
    """Sizes of the English and multilingual networks; the defaults are the English one's."""

    text: int = 704
    """Text ids: 2352 or 2454 of the multilingual ones."""
    text_positions: int = 2050
    speech_positions: int = 4100
    speaker: int = 256
    queries: int = 32
    query_heads: int = 4
    prompt_tokens: int = 150
    """Most speech tokens of a voice."""
    backbone: QwenConfig = field(default_factory=_llama)

    @property
    def voice_rows(self) -> int:
        """Rows of a voice: speaker, queries, exaggeration."""
        return self.queries + 2

    @property
    def framing_rows(self) -> int:
        """Rows of a prompt besides those of the voice and of the text: its frame, and two starts of speech."""
        return 4

    @property
    def text_ids(self) -> int:
        """Most ids of a text."""
        return self.text_positions - 2

    @property
    def speech_tokens(self) -> int:
        """Most tokens of a sequence."""
        return self.speech_positions - 1


@dataclass(frozen=True, slots=True)
class TurboConfig:
    """Sizes of Turbo's network; Nano's decoder has 12 layers, 12 heads and a width of 768."""

    text: int = 50_276
    speaker: int = 256
    prompt_tokens: int = 375
    text_ids: int = 2048
    """Most ids of a text; the decoder's positions would allow more."""
    backbone: Gpt2Config = field(default_factory=Gpt2Config)

    @property
    def voice_rows(self) -> int:
        """Most rows of a voice: speaker and speech tokens."""
        return 1 + self.prompt_tokens

    @property
    def framing_rows(self) -> int:
        """Rows of a prompt besides those of the voice and of the text: the start of speech."""
        return 1

    @property
    def speech_tokens(self) -> int:
        """Most tokens of a sequence, beside the longest prompt."""
        return self.backbone.positions - self.voice_rows - self.text_ids - self.framing_rows


class T3(nn.Module):
    """The English and multilingual networks: a Llama whose prompt is a voice in 34 rows, and then the text."""

    def __init__(self, config: T3Config) -> None:
        super().__init__()
        hidden = config.backbone.hidden
        self.config = config
        self.backbone = Qwen(config.backbone)
        self.spkr_enc = nn.Linear(config.speaker, hidden)
        self.emotion_adv_fc = nn.Linear(1, hidden, bias=False)
        self.perceiver = Perceiver(hidden, config.queries, config.query_heads)
        self.text_emb = lookup(config.text, hidden)
        self.text_pos_emb = lookup(config.text_positions, hidden)
        self.speech_emb = lookup(SPEECH_IDS, hidden)
        self.speech_pos_emb = lookup(config.speech_positions, hidden)
        self.speech_head = nn.Parameter(torch.empty(aligned(SPEECH_IDS), hidden))

    def condition_rows(self, speaker: Tensor, prompt: Tensor, exaggeration: float) -> Tensor:
        """Rows [34, hidden] of a voice: its speaker [256], its first speech tokens [n], and the exaggeration."""
        speech = self.token_rows(prompt, torch.arange(len(prompt), device=prompt.device))
        dtype = speech.dtype
        return torch.cat(
            (
                self.spkr_enc(speaker.to(dtype))[None],
                self.perceiver(speech[None])[0],
                self.emotion_adv_fc(torch.full((1, 1), exaggeration, dtype=dtype, device=speech.device)),
            )
        )

    def prompt_rows(self, condition: Tensor, text: Sequence[int]) -> Tensor:
        """Rows [n, 2, hidden] of a prompt, first as guided by the text, then as not.

        Without guidance the text's embeddings are zeros, and its positions stay. The start of speech stands twice, as
        the network has always been asked.
        """
        device = condition.device
        ids = torch.tensor((START_TEXT, *text, STOP_TEXT), device=device)
        places = functional.embedding(torch.arange(len(ids), device=device), self.text_pos_emb.weight)
        start = self.token_rows(
            torch.full((2,), START_SPEECH, device=device), torch.zeros(2, dtype=torch.long, device=device)
        )
        branches = functional.embedding(ids, self.text_emb.weight) + places, places
        return torch.stack([torch.cat((condition, words, start)) for words in branches], dim=1)

    def token_rows(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Rows [..., hidden] of speech tokens at positions of their own; the first that is generated has position 1."""
        rows = functional.embedding(tokens, self.speech_emb.weight)
        return rows + functional.embedding(positions, self.speech_pos_emb.weight)

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., hidden] to [..., `SPEECH_IDS`]."""
        return functional.linear(hidden, self.speech_head)[..., :SPEECH_IDS]


class TurboT3(nn.Module):
    """The networks of Turbo and Nano: a GPT-2 whose prompt is the voice's speech tokens, and then the text."""

    def __init__(self, config: TurboConfig) -> None:
        super().__init__()
        hidden = config.backbone.hidden
        self.config = config
        self.backbone = Gpt2(config.backbone)
        self.spkr_enc = nn.Linear(config.speaker, hidden)
        self.text_emb = lookup(config.text, hidden)
        self.speech_emb = lookup(SPEECH_IDS, hidden)
        self.speech_head = nn.Parameter(torch.empty(aligned(SPEECH_IDS), hidden))
        self.speech_bias = nn.Parameter(torch.empty(aligned(SPEECH_IDS)))

    def condition_rows(self, speaker: Tensor, prompt: Tensor) -> Tensor:
        """Rows [1 + n, hidden] of a voice: its speaker [256] and its first speech tokens [n]."""
        speech = self.token_rows(prompt)
        return torch.cat((self.spkr_enc(speaker.to(speech.dtype))[None], speech))

    def prompt_rows(self, condition: Tensor, text: Sequence[int]) -> Tensor:
        """Rows [n, hidden] of a prompt."""
        ids = torch.tensor(tuple(text), dtype=torch.long, device=condition.device)
        start = self.token_rows(torch.full((1,), START_SPEECH, device=condition.device))
        return torch.cat((condition, functional.embedding(ids, self.text_emb.weight), start))

    def token_rows(self, tokens: Tensor) -> Tensor:
        """Rows [..., hidden] of speech tokens; the decoder adds positions."""
        return functional.embedding(tokens, self.speech_emb.weight)

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., hidden] to [..., `SPEECH_IDS`]."""
        return functional.linear(hidden, self.speech_head, self.speech_bias)[..., :SPEECH_IDS]


def load_t3(config: T3Config, state: StateDict, dtype: torch.dtype = torch.float32) -> T3:
    """Load a published state dict of an English or multilingual network."""
    weights = _weights(state)
    weights["backbone.embed_tokens.weight"] = torch.empty(0, config.backbone.hidden)
    return load(lambda: T3(config), weights, dtype)


def load_turbo_t3(config: TurboConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> TurboT3:
    """Load a published state dict of Turbo or Nano."""
    weights = _weights(state)
    bias = weights.pop("speech_head.bias", None)
    if bias is not None:
        weights["speech_bias"] = with_aligned_rows(bias[:SPEECH_IDS])
    backbone = {f"backbone.{name}": each for name, each in gpt2_weights(under("backbone.", weights)).items()}
    rest = {name: each for name, each in weights.items() if not name.startswith("backbone.")}
    return load(lambda: TurboT3(config), rest | backbone, dtype)


def _weights(state: StateDict) -> dict[str, Tensor]:
    """The weights that speech needs under our names; of the speech ids, only those that are ever meant."""
    used = {name: each for name, each in state.items() if not name.startswith(_UNUSED)}
    weights = renamed((*_NAMES, (r"^tfmr\.", "backbone.")), used)
    for name in ("speech_emb.weight", "speech_head.weight"):
        if name not in weights or len(weights[name]) < SPEECH_IDS:
            raise WeightsError(f"The weights of T3 lack row {SPEECH_IDS - 1} of {name}.")
    weights["speech_emb.weight"] = weights["speech_emb.weight"][:SPEECH_IDS]
    weights["speech_head"] = with_aligned_rows(weights.pop("speech_head.weight")[:SPEECH_IDS])
    return weights
