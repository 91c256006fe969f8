"""Input rows of the talker: what is fed before the first frame, and the text that is added to each frame after it."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.models.qwen3tts.talker import Talker

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Reference:
    """A recording to clone: its frames [n, groups], and the ids of its transcript."""

    frames: Tensor
    transcript: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class InputRows:
    """`prompt` [n, hidden] is fed at once; `trailing` [m, hidden] is added to the frames behind it, one row a frame.

    The first `shared` rows do not depend on the text.
    """

    prompt: Tensor
    trailing: Tensor
    shared: int


class InputRowBuilder:
    """Rows of one model. `role` are the ids with which a text begins: the mark, `assistant` and a line's end."""

    def __init__(self, talker: Talker, role: Sequence[int]) -> None:
        self._talker = talker
        self._codec = talker.config.codec_ids
        ids = talker.config.text_ids
        self._pad, self._bos, self._eos = (self._text((each,)) for each in (ids.pad, ids.bos, ids.eos))
        self._role = self._text(role)

    def prefix(self, speaker: Tensor | None, language: str, instruction: Sequence[int] = ()) -> Tensor:
        """The rows before the text: instruction, role, language, speaker and the start.

        `speaker` [hidden] is a row of the codec's side; None where the instruction describes the voice.
        """
        tags = self._pad + self._talker.codec_rows(self._ids(self._tags(language)))
        voice = [] if speaker is None else [self._pad + speaker[None]]
        start = self._bos + self._mark(self._codec.pad)
        return torch.cat((*([self._text(instruction)] if instruction else []), self._role, tags, *voice, start))

    def streaming(
        self, prefix: Tensor, reference: Reference | None, text: Sequence[int], *, ended: bool = True
    ) -> InputRows:
        """Text and frames advance together, so that speech begins with the first ids of a text that may go on."""
        end = [self._eos] if ended else []
        if reference is None:
            rows = torch.cat((self._text(text), *end))
            first = rows[:1] + self._mark(self._codec.bos)
            return InputRows(torch.cat((prefix, first)), rows[1:], len(prefix))
        words = torch.cat((self._text((*reference.transcript, *text)), *end))
        codec = self._reference_rows(reference)
        if len(words) > len(codec):
            return InputRows(torch.cat((prefix, words[: len(codec)] + codec)), words[len(codec) :], len(prefix))
        silent = self._pad.expand(len(codec) - len(words), -1)
        return InputRows(torch.cat((prefix, torch.cat((words, silent)) + codec)), self._pad[:0], len(prefix))

    def whole(self, prefix: Tensor, reference: Reference | None, text: Sequence[int]) -> InputRows:
        """All of the text is read before the first frame."""
        transcript = () if reference is None else reference.transcript
        words = torch.cat((self._text((*transcript, *text)), self._eos)) + self._mark(self._codec.pad)
        begin = self._mark(self._codec.bos) if reference is None else self._reference_rows(reference)
        return InputRows(torch.cat((prefix, words, self._pad + begin)), self._pad[:0], len(prefix))

    def _reference_rows(self, reference: Reference) -> Tensor:
        return torch.cat((self._mark(self._codec.bos), self._talker.frame_rows(reference.frames)))

    def _tags(self, language: str) -> tuple[int, ...]:
        codec = self._codec
        if language == AUTO:
            return codec.nothink, codec.think_bos, codec.think_eos
        return codec.think, codec.think_bos, codec.languages[language], codec.think_eos

    def _mark(self, mark: int) -> Tensor:
        return self._talker.codec_rows(self._ids((mark,)))

    def _text(self, ids: Sequence[int]) -> Tensor:
        return self._talker.text_rows(self._ids(ids))

    def _ids(self, ids: Sequence[int]) -> Tensor:
        return torch.tensor(ids, dtype=torch.long, device=self._talker.head.weight.device)
