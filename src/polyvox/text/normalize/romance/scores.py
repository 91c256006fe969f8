"""Sets of tennis, "6-4, 3-6 y 7-6 (7-5)", and figures of one digit in a row: doses of a day, lines of a team."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import Gender, RomanceLanguage
from polyvox.text.tracked import TrackedText

_SET: Final = r"(?:6[-–/][0-4]|[0-4][-–/]6|7[-–/][56]|[56][-–/]7)(?: ?\(\d\d?(?:[-–/]\d\d?)?\))?(?![\w/])"
_SETS: Final = re.compile(rf"(?<![\w.,/]){_SET}(?:,? (?:e |y |et |ed )?{_SET}){{1,4}}")
_MONTHS: Final = 12
_GAMES: Final = re.compile(r"(\d{1,2})[-–/](\d{1,2})")
_ROW: Final = re.compile(r"(?<![\w.,/–-])(?:[0-6]|½|1/2)(?:[-–](?:[0-6]|½|1/2)(?!\w)){2,4}(?![–/-]|[.,]\d)")
_VOLLEYS: Final = re.compile(r"(?<![\w.,/])[1-4]\d/[1-4]\d(?:(?:,| e| y| et) [1-4]\d/[1-4]\d){1,4}(?![\w/]|[.,]\d)")
_TWO_GAMES: Final = re.compile(r"[-–/](?<=[0-7].)[0-7]")


@dataclass(frozen=True, slots=True)
class Scores:
    """The rules of one language."""

    language: RomanceLanguage

    def read(self, text: TrackedText) -> TrackedText:
        if "/" in text.text:
            text = text.sub(_VOLLEYS, self._volleys)
        if _TWO_GAMES.search(text.text) is None:
            return text
        return text.sub(_SETS, self._sets).sub(_ROW, _in_a_row)

    def _sets(self, match: re.Match[str]) -> str:
        return _GAMES.sub(self._games, match.group())

    def _volleys(self, match: re.Match[str]) -> str | None:
        """None for days of months."""
        lost = max(int(points) for points in re.findall(r"/(\d\d)", match.group()))
        return self._sets(match) if lost > _MONTHS else None

    def _games(self, match: re.Match[str]) -> str:
        joint = f" {self.language.upto} " if self.language.scored_by_x else " "
        return joint.join(self.language.cardinal(int(games), Gender.ALONE) for games in match.groups())


def _in_a_row(match: re.Match[str]) -> str:
    return re.sub("[-–]", ", ", match.group())
