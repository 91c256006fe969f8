"""CosyVoice's language models: text ids in, speech tokens out; versions 2 and 3 are on a Qwen2 backbone."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cosyvoice.speech_vocabulary import SpeechVocabulary
from polyvox.models.loading import StateDict, WeightsError, load, under
from polyvox.models.lookup import lookup
from polyvox.models.qwen.model import Qwen, QwenConfig, QwenState


@dataclass(frozen=True, slots=True)
class CosyVoiceLmConfig:
    """Backbone and vocabulary of version 2 or 3."""

    speech: SpeechVocabulary
    backbone: QwenConfig = field(default_factory=QwenConfig)
    head_bias: bool = True


@dataclass(frozen=True, slots=True)
class SpeechPrompt:
    """Prompt of a sequence, each [batch, length]: the text to speak, and a transcript with its speech tokens.

    Version 1 may also be given the embedding [batch, 192] of the speaker.
    """

    text: Tensor
    prompt_text: Tensor
    prompt_speech: Tensor
    speaker: Tensor | None = None


@dataclass(frozen=True, slots=True)
class LengthLimits:
    """Minimum and maximum length of a sequence in tokens, and the ids suppressed before the minimum."""

    minimum: int
    maximum: int
    suppressed: slice


def length_limits(text_ids: int, speech: SpeechVocabulary, *, original: bool = False) -> LengthLimits:
    """Two to twenty speech tokens for each text id."""
    return LengthLimits(2 * text_ids, 20 * text_ids, speech.suppressed(original=original))


SampleToken = Callable[[Tensor, int], int]
"""Samples a token from the scores [rows] of step n."""


@dataclass(frozen=True, slots=True)
class HeadSizes:
    """Widths of the backbone's input and output, rows of the speech embedding, and whether the head has a bias."""

    inputs: int
    hidden: int
    embedded: int
    bias: bool = True


class SpeechTokenLm(nn.Module):
    """Log-probabilities of speech tokens, step by step; the caller keeps the state and samples the tokens.

    The versions differ in the backbone and in the embedding of text.
    """

    def __init__(self, speech: SpeechVocabulary, backbone: nn.Module, sizes: HeadSizes) -> None:
        super().__init__()
        self.speech = speech
        self.backbone = backbone
        self.speech_embedding = lookup(sizes.embedded, sizes.inputs)
        self.llm_decoder = nn.Linear(sizes.hidden, speech.rows, bias=sizes.bias)
        self.marks = nn.Parameter(torch.empty(2, sizes.inputs))

    def embed_speech(self, tokens: Tensor) -> Tensor:
        """Input embeddings of speech tokens."""
        return functional.embedding(tokens, self.speech_embedding.weight)

    @abstractmethod
    def embed_text(self, ids: Tensor) -> Tensor:
        """Input embeddings of text ids."""

    def embed_speaker(self, prompt: SpeechPrompt) -> tuple[Tensor, ...]:
        """Input embeddings of the prompt's speaker, where the version takes one."""
        return ()

    def embed_marks(self, batch: int) -> tuple[Tensor, Tensor]:
        """Input embeddings of the start token and of the task token, which asks for speech."""
        rows = self.marks.expand(batch, 2, -1)
        return rows[:, :1], rows[:, 1:]

    def embed_prompt(self, prompt: SpeechPrompt) -> Tensor:
        """Input embeddings of a prompt: start, speaker, transcript and text, task, the transcript's speech."""
        start, task = self.embed_marks(prompt.text.shape[0])
        text = self.embed_text(torch.cat((prompt.prompt_text, prompt.text), dim=1))
        speech = self.embed_speech(prompt.prompt_speech)
        return torch.cat((start, *self.embed_speaker(prompt), text, task, speech), dim=1)

    def forward(self, rows: Tensor, state: QwenState) -> tuple[Tensor, QwenState]:
        """Continue by input embeddings; log-probabilities [batch, ids] of the token after the last of them."""
        hidden, state = self.backbone(rows, state)
        return self.scores(hidden[:, -1]), state

    def scores(self, hidden: Tensor) -> Tensor:
        """Log-probabilities over the speech head's ids."""
        logits: Tensor = self.llm_decoder(hidden)
        return logits.float().log_softmax(dim=-1)

    def prefill(self, prompt: SpeechPrompt) -> tuple[Tensor, QwenState]:
        """Log-probabilities of the first token."""
        return self.forward(self.embed_prompt(prompt), QwenState())

    def step(self, tokens: Tensor, state: QwenState) -> tuple[Tensor, QwenState]:
        """Log-probabilities of the token after `tokens` [batch]."""
        return self.forward(self.embed_speech(tokens[:, None]), state)

    def generate(self, prompt: SpeechPrompt, sample: SampleToken, limits: LengthLimits) -> Iterator[int]:
        """The speech tokens of one sequence until it ends or reaches its maximum length."""
        rows, state = self.embed_prompt(prompt), QwenState()
        for step in range(limits.maximum):
            scores, state = self.forward(rows, state)
            if step < limits.minimum:
                scores[:, limits.suppressed] = float("-inf")
            token = sample(scores[0], step)
            if token >= self.speech.speech:
                return
            yield token
            rows = self.embed_speech(torch.tensor([[token]], device=rows.device))


class CosyVoiceLm(SpeechTokenLm):
    """The language model of versions 2 and 3."""

    backbone: Qwen

    def __init__(self, config: CosyVoiceLmConfig) -> None:
        hidden = config.backbone.hidden
        sizes = HeadSizes(hidden, hidden, config.speech.rows, config.head_bias)
        super().__init__(config.speech, Qwen(config.backbone), sizes)
        self.config = config

    def embed_text(self, ids: Tensor) -> Tensor:
        return self.backbone.embed(ids)


def load_lm(config: CosyVoiceLmConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> CosyVoiceLm:
    """Load a published `llm` state dict. The text head in it is never used for speech."""
    renamed = {f"backbone.{name}": tensor for name, tensor in under("llm.model.model.", state).items()}
    renamed |= {name: tensor for name, tensor in state.items() if not name.startswith("llm.model.")}
    return load(lambda: CosyVoiceLm(config), with_marks(config.speech, renamed), dtype)


def with_marks(speech: SpeechVocabulary, state: StateDict) -> dict[str, Tensor]:
    """A state dict with the embeddings of start and task token under a name of their own."""
    table_name = "speech_embedding.weight" if speech.marks_are_speech_rows else "llm_embedding.weight"
    if table_name not in state or state[table_name].shape[0] <= max(speech.sos, speech.task):
        raise WeightsError(f"The weights of CosyVoiceLm lack rows {speech.sos} and {speech.task} of {table_name}.")
    marked = {**state, "marks": state[table_name][[speech.sos, speech.task]]}
    marked.pop("llm_embedding.weight", None)
    return marked
