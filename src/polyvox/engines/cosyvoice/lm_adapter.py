"""Adapters of CosyVoice's language models to the LM scheduler."""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from polyvox.engines.cosyvoice.lm_prompt import LmPrompt
from polyvox.models.cosyvoice.bistream import Feed, InputKind
from polyvox.models.cosyvoice.lm import CosyVoiceLm, SpeechPrompt
from polyvox.models.cosyvoice.lm_v1 import CosyVoice1Lm
from polyvox.models.cosyvoice.relative_decoder import RelativeDecoder
from polyvox.models.qwen.model import Qwen
from polyvox.runtime.causal_lm import CausalLm
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.tokens import Prompt


class LmAdapter(CausalLm, Protocol):
    """A network that the scheduler can run, and the form in which it takes prompts."""

    async def lm_input(self, prompt: LmPrompt, ids: Sequence[int]) -> Prompt:
        """The input of a sequence that says a text of these ids."""


class CosyVoiceLmAdapter:
    """Versions 2 and 3. The input ids are text ids, then the start and task tokens, then speech tokens."""

    def __init__(self, lm: CosyVoiceLm) -> None:
        self._lm = lm
        self._start = lm.config.backbone.vocabulary
        self._speech = self._start + 2

    @property
    def backbone(self) -> Qwen:
        return self._lm.backbone

    @property
    def vocabulary(self) -> int:
        return self._lm.config.speech.rows

    async def lm_input(self, prompt: LmPrompt, ids: Sequence[int]) -> Prompt:
        return Prompt(ids=self.prompt((*prompt.prompt_text, *ids), prompt.prompt_speech))

    def prompt(self, text: Sequence[int], speech: Sequence[int]) -> tuple[int, ...]:
        """The input ids of a prompt: start, all text, task, the prompt's speech."""
        return (self._start, *text, self._start + 1, *(self._speech + token for token in speech))

    def feed(self, feed: Feed) -> tuple[int, ...]:
        """The input ids of interleaved text and speech."""
        first = {InputKind.TEXT: 0, InputKind.SPEECH: self._speech}
        marks = {InputKind.START: self._start, InputKind.TASK: self._start + 1}
        ids: list[int] = []
        for kind, own in feed:
            ids += [marks[kind]] if kind in marks else [first[kind] + each for each in own]
        return tuple(ids)

    def embed_ids(self, ids: Tensor) -> Tensor:
        text = self._lm.embed_text(ids.clamp(max=self._start - 1))
        marks = self._lm.marks[(ids - self._start).clamp(0, 1)]
        speech = self._lm.embed_speech((ids - self._speech).clamp(min=0))
        kind = ids[..., None]
        return torch.where(kind < self._start, text, torch.where(kind < self._speech, marks, speech))

    def embed_tokens(self, tokens: Tensor) -> Tensor:
        return self._lm.embed_speech(tokens)

    def logits(self, hidden: Tensor) -> Tensor:
        return self._lm.scores(hidden)


class CosyVoice1LmAdapter:
    """Version 1. Prompts are embeddings, for their text goes through an encoder and a speaker stands before it."""

    def __init__(self, lm: CosyVoice1Lm, executor: DeviceExecutor) -> None:
        """Prompts are encoded one by one, by the thread that also decodes."""
        self._lm = lm
        self._executor = executor

    @property
    def backbone(self) -> RelativeDecoder:
        return self._lm.backbone

    @property
    def vocabulary(self) -> int:
        return self._lm.speech.rows

    async def lm_input(self, prompt: LmPrompt, ids: Sequence[int]) -> Prompt:
        return Prompt(embeds=await self._executor.run(partial(self._embeddings, prompt, ids)))

    @torch.inference_mode()
    def _embeddings(self, prompt: LmPrompt, ids: Sequence[int]) -> Tensor:
        """Input embeddings [n, inputs] of a prompt and its text."""
        device = self._lm.marks.device
        text, before, speech = (
            torch.tensor([list(each)], dtype=torch.long, device=device)
            for each in (ids, prompt.prompt_text, prompt.prompt_speech)
        )
        speaker = None if prompt.speaker is None else torch.from_numpy(prompt.speaker).to(device)[None]
        return self._lm.embed_prompt(SpeechPrompt(text, before, speech, speaker))[0]

    def embed_ids(self, ids: Tensor) -> Tensor:
        """Speech tokens are the only ids that the network takes as such."""
        return self._lm.embed_speech(ids)

    def embed_tokens(self, tokens: Tensor) -> Tensor:
        """The id that ends speech has no embedding of its own, and is never spoken on from."""
        return self._lm.embed_speech(tokens.clamp(max=self._lm.speech.speech - 1))

    def logits(self, hidden: Tensor) -> Tensor:
        return self._lm.scores(hidden)
