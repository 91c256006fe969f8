"""The choice of a model for a voice of the caller's, where the request names none."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CloningModel:
    """A model that clones and is installed; a `wordless` one needs no transcript of the recording."""

    name: str
    wordless: bool
    languages: frozenset[str]
    resident: bool = False
    """True if the server has it loaded all the time."""

    def speaks(self, language: str) -> bool:
        """Return whether it speaks a language, in whichever variety; any model does where none is known."""
        base = language.partition("-")[0]
        return not base or any(tag.partition("-")[0] == base for tag in self.languages)


def best_to_clone(models: Iterable[CloningModel], language: str, *, worded: bool) -> CloningModel | None:
    """The model for a recording, which is `worded` where its transcript is known; None where there is none.

    It depends on what is installed and set, never on what is loaded at the time: the same request gives the same voice.
    """

    def rank(model: CloningModel) -> tuple[bool, bool, bool, bool]:
        usable = worded or model.wordless
        return not model.speaks(language), not usable, not model.resident, not model.wordless

    return min(models, key=rank, default=None)
