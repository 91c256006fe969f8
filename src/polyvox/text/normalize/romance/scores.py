"""Sets of tennis: "6-4, 3-6 y 7-6 (7-5)"."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import Gender, RomanceLanguage
from polyvox.text.tracked import TrackedText

_SET: Final = r"(?:6[-–/][0-4]|[0-4][-–/]6|7[-–/][56]|[56][-–/]7)(?: ?\(\d\d?(?:[-–/]\d\d?)?\))?(?![\w/])"
_SETS: Final = re.compile(rf"(?<![\w.,/]){_SET}(?:,? (?:e |y |et |ed )?{_SET}){{1,4}}")
_GAMES: Final = re.compile(r"(\d{1,2})[-–/](\d{1,2})")
_TWO_GAMES: Final = re.compile(r"[-–/](?<=[0-7].)[0-7]")


@dataclass(frozen=True, slots=True)
class Scores:
    """The rules of one language."""

    language: RomanceLanguage

    def read(self, text: TrackedText) -> TrackedText:
        return text.sub(_SETS, self._sets) if _TWO_GAMES.search(text.text) else text

    def _sets(self, match: re.Match[str]) -> str:
        return _GAMES.sub(self._games, match.group())

    def _games(self, match: re.Match[str]) -> str:
        joint = f" {self.language.upto} " if self.language.scored_by_x else " "
        return joint.join(self.language.cardinal(int(games), Gender.ALONE) for games in match.groups())
