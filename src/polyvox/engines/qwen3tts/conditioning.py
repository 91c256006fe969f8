"""The input of the talker before a text: voice, language and instruction, as rows that are kept."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.engines.qwen3tts.bundle import TextEncoder
from polyvox.engines.qwen3tts.variants import TAGS
from polyvox.engines.qwen3tts.voice import ClonedVoice
from polyvox.models.qwen3tts.input_rows import AUTO, InputRowBuilder, Reference
from polyvox.models.qwen3tts.talker import Talker
from polyvox.runtime.tokens import Prompt

_KEPT = 128
_ASSISTANT, _USER = "assistant\n", "user\n"


@dataclass(frozen=True, slots=True)
class Condition:
    """A built-in speaker by name, a cloned voice, or neither; the model's language; and an instruction."""

    speaker: str
    cloned: ClonedVoice | None
    language: str
    instruction: str

    @property
    def key(self) -> tuple[str, ...]:
        """Conditions of one key begin with the same rows."""
        voice = self.speaker if self.cloned is None else f"clone:{self.cloned.digest}"
        return voice, self.language, self.instruction

    @property
    def continues(self) -> bool:
        """True if the model goes on where a recording ends, and so reads the text with the recording's."""
        return self.cloned is not None and len(self.cloned.frames) > 0


@dataclass(frozen=True, slots=True)
class Opening:
    """The input before the first frame, and the ids of the text that is added to the frames."""

    prompt: Prompt
    trailing: tuple[int, ...]


def model_language(tag: str | None, dialect: str | None) -> str:
    """The model's language of a BCP 47 tag; a speaker of a dialect speaks it where Chinese is meant, or nothing."""
    language = TAGS.get(tag.lower().partition("-")[0], AUTO) if tag else AUTO
    return dialect if dialect and language in (AUTO, TAGS["zh"]) else language


class Conditioner:
    """Builds prompts on the language model's thread."""

    def __init__(self, talker: Talker, encoder: TextEncoder) -> None:
        self._talker, self._encoder = talker, encoder
        ids = talker.config.text_ids
        self._rows = InputRowBuilder(talker, (ids.im_start, *encoder.encode(_ASSISTANT)))
        self._kept: OrderedDict[tuple[str, ...], tuple[Tensor, Reference | None]] = OrderedDict()

    @property
    def end_of_text(self) -> int:
        """The id that announces the end of a text."""
        return self._talker.config.text_ids.eos

    def enough(self, condition: Condition, text: Sequence[int]) -> bool:
        """Return whether a text that goes on can be begun: with a recording, it must be longer than that."""
        if not condition.continues:
            return len(text) > 0
        assert condition.cloned is not None
        transcript = self._encoder.encode(condition.cloned.transcript)
        return len(transcript) + len(text) > len(condition.cloned.frames) + 1

    @torch.inference_mode()
    def open(self, condition: Condition, text: Sequence[int], *, streaming: bool, ended: bool = True) -> Opening:
        """The prompt of a text; with `streaming`, what does not fit into it trails the frames."""
        prefix, reference = self._prefix(condition)
        if streaming or not ended:
            rows = self._rows.streaming(prefix, reference, text, ended=ended)
        else:
            rows = self._rows.whole(prefix, reference, text)
        every = (*text, self._talker.config.text_ids.eos) if ended else tuple(text)
        trailing = every[len(every) - len(rows.trailing) :] if len(rows.trailing) else ()
        return Opening(Prompt(embeds=rows.prompt, shared=rows.shared, key=condition.key), trailing)

    def _prefix(self, condition: Condition) -> tuple[Tensor, Reference | None]:
        if condition.key not in self._kept:
            self._kept[condition.key] = self._made(condition)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(condition.key)
        return self._kept[condition.key]

    def _made(self, condition: Condition) -> tuple[Tensor, Reference | None]:
        weight, codec, text = self._talker.head.weight, self._talker.config.codec_ids, self._talker.config.text_ids
        speaker, reference = None, None
        if condition.cloned is not None:
            speaker = torch.from_numpy(condition.cloned.speaker).to(weight.device, weight.dtype)
            if condition.continues:
                frames = torch.from_numpy(condition.cloned.frames).long().to(weight.device)
                reference = Reference(frames, self._encoder.encode(condition.cloned.transcript))
        elif condition.speaker:
            speaker = self._talker.codec_rows(torch.tensor(codec.speakers[condition.speaker], device=weight.device))
        instruction: tuple[int, ...] = ()
        if condition.instruction:
            body, line = self._encoder.encode(_USER + condition.instruction), self._encoder.encode("\n")
            instruction = (text.im_start, *body, text.im_end, *line)
        return self._rows.prefix(speaker, condition.language, instruction), reference
