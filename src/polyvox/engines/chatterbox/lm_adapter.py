"""T3 on the LM scheduler: its prompts, the positions of its tokens, and guidance as two sequences of one slot."""

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from polyvox.engines.chatterbox.sampling import T3Sampling
from polyvox.engines.chatterbox.speech_tokens import SPEECH_TOKENS, T3Conditions
from polyvox.errors import InvalidRequestError
from polyvox.models.chatterbox.gpt2 import Gpt2
from polyvox.models.chatterbox.t3 import SPEECH_IDS, START_SPEECH, STOP_SPEECH, T3, TurboT3
from polyvox.runtime.causal_lm import CausalLm
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.guidance import GuidedBackbone
from polyvox.runtime.lm_scheduler import LmReport, LmScheduler, LmSchedulerConfig
from polyvox.runtime.lm_step import SlotStart, SlotText
from polyvox.runtime.pinned_output import upload
from polyvox.runtime.sampling.sampler import SamplingPlan
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams, TokenStream


class T3Adapter(CausalLm, Protocol):
    """A token network that the scheduler can run, and the form in which it takes prompts and tokens."""

    def prompt_rows(self, conditions: T3Conditions, text_ids: Sequence[int]) -> tuple[Tensor, int]:
        """Input embeddings of a prompt, and how many of them are the voice's."""

    def token_rows(self, tokens: Tensor, numbers: Tensor) -> Tensor:
        """Input embeddings of tokens, each with its number in its sequence, from 1."""


class GuidedT3Adapter:
    """The English and multilingual networks: every row is that of the guided sequence and of the other."""

    def __init__(self, network: T3) -> None:
        self._network = network
        self.backbone = GuidedBackbone(network.backbone)
        self._last_position = network.config.speech_positions - 1

    @property
    def vocabulary(self) -> int:
        return SPEECH_IDS

    def prompt_rows(self, conditions: T3Conditions, text_ids: Sequence[int]) -> tuple[Tensor, int]:
        speaker, tokens = _tensors(conditions, self._network.speech_head.device)
        voice = self._network.condition_rows(speaker, tokens, conditions.exaggeration)
        return self._network.prompt_rows(voice, text_ids).flatten(1), len(voice)

    def token_rows(self, tokens: Tensor, numbers: Tensor) -> Tensor:
        # Nothing ends the sequence of the spare slot, so that its numbers outgrow the table.
        rows = self._network.token_rows(tokens, numbers.clamp(max=self._last_position))
        return torch.cat((rows, rows), dim=-1)

    def embed_tokens(self, tokens: Tensor) -> Tensor:
        return self.token_rows(tokens, torch.ones_like(tokens))

    def embed_ids(self, ids: Tensor) -> Tensor:
        """Prompts are given as embeddings: speech tokens are the only ids that need no context."""
        return self.embed_tokens(ids)

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., 2 * hidden] to [..., 2, vocabulary]."""
        return self._network.logits(hidden.view(*hidden.shape[:-1], 2, -1))


class TurboT3Adapter:
    """The networks of Turbo and Nano, which know no guidance and no positions of speech."""

    def __init__(self, network: TurboT3) -> None:
        self._network = network

    @property
    def backbone(self) -> Gpt2:
        return self._network.backbone

    @property
    def vocabulary(self) -> int:
        return SPEECH_IDS

    def prompt_rows(self, conditions: T3Conditions, text_ids: Sequence[int]) -> tuple[Tensor, int]:
        voice = self._network.condition_rows(*_tensors(conditions, self._network.speech_head.device))
        return self._network.prompt_rows(voice, text_ids), len(voice)

    def token_rows(self, tokens: Tensor, numbers: Tensor) -> Tensor:
        return self._network.token_rows(tokens)

    def embed_tokens(self, tokens: Tensor) -> Tensor:
        return self._network.token_rows(tokens)

    def embed_ids(self, ids: Tensor) -> Tensor:
        """Prompts are given as embeddings: speech tokens are the only ids that need no context."""
        return self.embed_tokens(ids)

    def logits(self, hidden: Tensor) -> Tensor:
        return self._network.logits(hidden)


class TokenSteps:
    """The last token of each slot and its number; see `FrameSteps`. A frame is a single token."""

    groups = 1

    def __init__(self, adapter: T3Adapter, slots: int) -> None:
        """`slots` besides the spare one."""
        self._adapter = adapter
        device = adapter.backbone.norm.weight.device
        self._last = torch.zeros(slots + 1, dtype=torch.long, device=device)
        self._fed = torch.zeros_like(self._last)

    def start(self, starts: Sequence[SlotStart]) -> None:
        if starts:
            slots = upload(torch.tensor([start.slot for start in starts]), self._fed.device)
            self._fed.index_fill_(0, slots, 0)

    def feed(self, texts: Sequence[SlotText]) -> None:
        if texts:
            raise ValueError("All text of T3 is in its prompt.")

    def rows(self, slots: Tensor) -> Tensor:
        numbers = self._fed[slots] + 1
        self._fed[slots] = numbers
        return self._adapter.token_rows(self._last[slots], numbers)

    def complete(self, hidden: Tensor, tokens: Tensor, slots: Tensor, plan: SamplingPlan) -> Tensor:
        self._last[slots] = tokens.clamp(min=0)
        return tokens[:, None]


class T3Tokens:
    """The speech tokens of all sessions; see `SpeechTokens`."""

    def __init__(
        self,
        network: T3 | TurboT3,
        config: LmSchedulerConfig,
        *,
        executor: DeviceExecutor,
        observer: Callable[[LmReport], None] | None = None,
        replay: Replay | None = None,
    ) -> None:
        """The scheduler's sizes are the caller's; the order of its limits and penalties is the network's."""
        turbo = isinstance(network, TurboT3)
        self._config = network.config
        self._adapter: T3Adapter = TurboT3Adapter(network) if isinstance(network, TurboT3) else GuidedT3Adapter(network)
        self._executor = executor
        self._scheduler = LmScheduler(
            self._adapter,
            replace(config, nested_top_p=True, late_penalty=turbo),
            executor=executor,
            observer=observer,
            replay=replay,
            frames=TokenSteps(self._adapter, config.slots),
        )

    def capture(self, sampling: T3Sampling) -> None:
        """Capture all steps where steps are replayed; see `LmScheduler.capture`."""
        self._scheduler.capture(_params(sampling, 0))

    @asynccontextmanager
    async def speak_tokens(
        self, text_ids: Sequence[int], conditions: T3Conditions, sampling: T3Sampling, seed: int
    ) -> AsyncIterator[TokenStream]:
        if sampling.max_tokens > self._config.speech_tokens:
            raise InvalidRequestError(
                f"A stretch of speech has at most {self._config.speech_tokens} tokens.", field="max_tokens"
            )
        self._check_text(text_ids)
        self._check_voice(conditions)
        prompt = await self._executor.run(partial(self._prompt, conditions, text_ids))
        limits = GenerationLimits(
            sampling.max_tokens,
            sampling.min_tokens,
            stop_tokens=frozenset({STOP_SPEECH}),
            banned_tokens=frozenset({START_SPEECH}),
        )
        async with self._scheduler.generate(prompt, _params(sampling, seed), limits) as stream:
            yield stream

    async def close(self) -> None:
        await self._scheduler.close()

    @torch.inference_mode()
    def _prompt(self, conditions: T3Conditions, text_ids: Sequence[int]) -> Prompt:
        rows, shared = self._adapter.prompt_rows(conditions, text_ids)
        return Prompt(embeds=rows, shared=shared, key=_digest(conditions))

    def _check_text(self, ids: Sequence[int]) -> None:
        if not ids:
            raise InvalidRequestError("The text has nothing to say.", field="text")
        if len(ids) > self._config.text_ids:
            raise InvalidRequestError(
                f"A stretch of text has at most {self._config.text_ids} ids, and this one {len(ids)}; send less.",
                field="text",
            )
        if min(ids) < 0 or max(ids) >= self._config.text:
            raise ValueError(f"The tokenizer has ids beyond the network's {self._config.text}.")

    def _check_voice(self, conditions: T3Conditions) -> None:
        """Refuse a voice that was not made for this network, before an index of it reaches the device."""
        speaker, tokens = conditions.speaker_embedding, conditions.prompt_tokens
        if speaker.shape != (self._config.speaker,) or not np.isfinite(speaker).all():
            raise ValueError(f"The vector of a voice has {self._config.speaker} finite values.")
        if not 0 < len(tokens) <= self._config.prompt_tokens:
            raise ValueError(f"A voice has 1 to {self._config.prompt_tokens} speech tokens, not {len(tokens)}.")
        if min(tokens) < 0 or max(tokens) >= SPEECH_TOKENS:
            raise ValueError(f"Speech tokens are below {SPEECH_TOKENS}.")


def _params(sampling: T3Sampling, seed: int) -> SamplingParams:
    return SamplingParams(
        temperature=sampling.temperature,
        top_k=sampling.top_k,
        top_p=sampling.top_p,
        repetition_penalty=sampling.repetition_penalty,
        seed=seed,
        min_p=sampling.min_p,
        guidance=sampling.cfg_weight,
    )


def _tensors(conditions: T3Conditions, device: torch.device) -> tuple[Tensor, Tensor]:
    speaker = torch.tensor(conditions.speaker_embedding, dtype=torch.float32, device=device)
    return speaker, torch.tensor(conditions.prompt_tokens, device=device)


def _digest(conditions: T3Conditions) -> str:
    """A name of all that the rows of a voice depend on."""
    found = hashlib.sha256(np.asarray(conditions.speaker_embedding, np.float32).tobytes())
    found.update(np.asarray([*conditions.prompt_tokens], np.int64).tobytes())
    found.update(np.float64(conditions.exaggeration).tobytes())
    return found.hexdigest()
