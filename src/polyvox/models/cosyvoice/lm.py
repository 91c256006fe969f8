"""CosyVoice's language model: text in, speech tokens out, on a Qwen2 backbone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cosyvoice.bistream import Feed, Kind
from polyvox.models.cosyvoice.speech_vocabulary import SpeechVocabulary
from polyvox.models.loading import StateDict, WeightsError, load, under
from polyvox.models.lookup import lookup
from polyvox.models.qwen.model import Qwen, QwenConfig, QwenState


@dataclass(frozen=True, slots=True)
class SpeechLmConfig:
    """The backbone and the ids of one version."""

    speech: SpeechVocabulary
    backbone: QwenConfig = field(default_factory=QwenConfig)
    head_bias: bool = True


@dataclass(frozen=True, slots=True)
class SpeechPrompt:
    """What a sequence begins with, each [batch, length]: a transcript with its speech, and the text to be spoken."""

    text: Tensor
    prompt_text: Tensor
    prompt_speech: Tensor


@dataclass(frozen=True, slots=True)
class Limits:
    """How many tokens a sequence may have, and the ids kept from ending it before the least."""

    least: int
    most: int
    suppressed: slice


def limits_for(text_ids: int, speech: SpeechVocabulary, *, original: bool = False) -> Limits:
    """Two to twenty speech tokens for each id of the text."""
    return Limits(2 * text_ids, 20 * text_ids, speech.suppressed(original=original))


Sampler = Callable[[Tensor, int], int]
"""Chooses a token from the scores [rows] of step n."""


class CosyVoiceLm(nn.Module):
    """Scores over speech tokens, step by step; the caller keeps the state and chooses the tokens."""

    def __init__(self, config: SpeechLmConfig) -> None:
        super().__init__()
        self.config = config
        hidden = config.backbone.hidden
        self.backbone = Qwen(config.backbone)
        self.speech_embedding = lookup(config.speech.rows, hidden)
        self.llm_decoder = nn.Linear(hidden, config.speech.rows, bias=config.head_bias)
        self.marks = nn.Parameter(torch.empty(2, hidden))

    def embed_speech(self, tokens: Tensor) -> Tensor:
        """The input rows of speech tokens."""
        return functional.embedding(tokens, self.speech_embedding.weight)

    def embed_text(self, ids: Tensor) -> Tensor:
        """The input rows of text ids."""
        return self.backbone.embed(ids)

    def embed_marks(self, batch: int) -> tuple[Tensor, Tensor]:
        """The input row that starts a sequence and the one that asks for speech."""
        rows = self.marks.expand(batch, 2, -1)
        return rows[:, :1], rows[:, 1:]

    def embed_feed(self, feed: Feed) -> Tensor:
        """The input rows of interleaved text and speech, for one sequence."""
        start, task = self.embed_marks(1)
        rows = {
            Kind.START: lambda ids: start,
            Kind.TASK: lambda ids: task,
            Kind.TEXT: self.embed_text,
            Kind.SPEECH: self.embed_speech,
        }
        ids = [torch.tensor([segment.ids], dtype=torch.long, device=self.marks.device) for segment in feed]
        return torch.cat([rows[segment.kind](each) for segment, each in zip(feed, ids, strict=True)], dim=1)

    def embed_prompt(self, prompt: SpeechPrompt) -> Tensor:
        """The rows before the first speech token: start, transcript and text, task, the transcript's speech."""
        start, task = self.embed_marks(prompt.text.shape[0])
        text = self.embed_text(torch.cat((prompt.prompt_text, prompt.text), dim=1))
        return torch.cat((start, text, task, self.embed_speech(prompt.prompt_speech)), dim=1)

    def forward(self, rows: Tensor, state: QwenState) -> tuple[Tensor, QwenState]:
        """Continue by input rows; log-probabilities [batch, rows] of the token after the last of them."""
        hidden, state = self.backbone(rows, state)
        return self.scores(hidden[:, -1]), state

    def scores(self, hidden: Tensor) -> Tensor:
        """Log-probabilities over the speech head's ids."""
        logits: Tensor = self.llm_decoder(hidden)
        return logits.float().log_softmax(dim=-1)

    def prefill(self, prompt: SpeechPrompt) -> tuple[Tensor, QwenState]:
        """The scores of the first token."""
        return self.forward(self.embed_prompt(prompt), QwenState())

    def step(self, tokens: Tensor, state: QwenState) -> tuple[Tensor, QwenState]:
        """The scores after `tokens` [batch] were chosen."""
        return self.forward(self.embed_speech(tokens[:, None]), state)

    def generate(self, prompt: SpeechPrompt, sample: Sampler, limits: Limits) -> Iterator[int]:
        """The speech tokens of one sequence until it stops or reaches its greatest length."""
        rows, state = self.embed_prompt(prompt), QwenState()
        for step in range(limits.most):
            scores, state = self.forward(rows, state)
            if step < limits.least:
                scores[:, limits.suppressed] = float("-inf")
            token = sample(scores[0], step)
            if token >= self.config.speech.speech:
                return
            yield token
            rows = self.embed_speech(torch.tensor([[token]], device=rows.device))


def load_lm(config: SpeechLmConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> CosyVoiceLm:
    """The model of a published `llm` state dict. The text head in it is a copy that speech never uses."""
    renamed = {f"backbone.{name}": tensor for name, tensor in under("llm.model.model.", state).items()}
    renamed |= {name: tensor for name, tensor in state.items() if not name.startswith("llm.model.")}
    speech = config.speech
    table_name = "speech_embedding.weight" if speech.marks_are_speech_rows else "llm_embedding.weight"
    if table_name not in renamed or renamed[table_name].shape[0] <= max(speech.sos, speech.task):
        raise WeightsError(f"The weights of CosyVoiceLm lack rows {speech.sos} and {speech.task} of {table_name}.")
    renamed["marks"] = renamed[table_name][[speech.sos, speech.task]]
    renamed.pop("llm_embedding.weight", None)
    return load(lambda: CosyVoiceLm(config), renamed, dtype)
