"""LanguageRouter: a recogniser of many languages, and others for some of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from polyvox.types import Pcm
from polyvox.voices.recognition.recogniser import DetectingRecogniser, Recogniser, Recognition, RecognitionTask
from polyvox.voices.recognition.transcribe import windows

_SURE: Final = 0.5


@dataclass(frozen=True, slots=True)
class NamedRecogniser:
    """A recogniser, and the name of its model."""

    name: str
    recogniser: Recogniser


@dataclass(frozen=True, slots=True)
class LanguageRouter:
    """Has the language of each window detected, and gives it to the recogniser of that language, where there is one."""

    detector: DetectingRecogniser
    others: Mapping[str, NamedRecogniser]

    @property
    def longest(self) -> float:
        return self.detector.longest

    def recognise(self, window: Pcm, task: RecognitionTask, check: Callable[[], None]) -> Recognition:
        """The words of a window whose language the task leaves open."""
        heard = self.detector.listen(window)
        check()
        other = self.others.get(heard.language)
        if other is None or heard.probability < _SURE:
            return heard.recognise(task, check)
        own_task, own = replace(task, language=heard.language), other.recogniser
        parts = [own.recognise(part, own_task, check) for part in windows(window, own.longest)]
        return replace(_joined(parts), language_probability=heard.probability, model=other.name)


def _joined(parts: Sequence[Recognition]) -> Recognition:
    """The recognitions of a window's parts as one; it has no times of words, which are found afterwards."""
    found = [part for part in parts if part.text] or parts[:1]
    return Recognition(
        " ".join(part.text for part in found),
        found[0].language,
        tuple(token for part in found for token in part.tokens),
        float(np.average([part.log_prob for part in found], weights=[max(1, len(part.tokens)) for part in found])),
        found[0].temperature,
    )
