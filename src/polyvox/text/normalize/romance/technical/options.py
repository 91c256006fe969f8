"""Options of commands, with their dashes: "rm -f", "git commit --amend"."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.commands import OPTION, OPTION_LETTERS, follows_command
from polyvox.text.normalize.romance.language import RomanceLanguage
from polyvox.text.tracked import TrackedText

_CALLED: Final = re.compile(
    r"\b(?:flags?|options?|opci(?:ón|ones)|opç(?:ão|ões)|opzion[ei]|par[aáâ]metros?"
    r"|paramètres?|parametr[io]|argumentos?"
    r"|us[ae]|utilisez|utilise|añad[ea]|ajoutez|ajoute|aggiungi|adicion[ae]) \Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Options:
    """The rule of one language."""

    language: RomanceLanguage

    def read(self, text: TrackedText) -> TrackedText:
        return text.sub(OPTION, self._option) if " -" in text.text else text

    def _option(self, match: re.Match[str]) -> str | None:
        """None for a dash of a sentence."""
        if not follows_command(match, _CALLED):
            return None
        name, dash = match["name"], self.language.web["-"]
        value = f" {self.language.signs['=']} " if match["value"] else ""
        if match["dashes"] == "--":
            return f"{dash} {dash} {name.replace('-', ' ')}{value}"
        letters = " ".join(name.upper()) if name.isalpha() and len(name) <= OPTION_LETTERS else name.replace("-", " ")
        return f"{dash} {letters}{value}"
