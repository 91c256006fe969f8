"""Capitals of the Romance languages: which are said as a word, and which letter by letter."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import AcronymHabits
from polyvox.text.tracked import TrackedText

_CAPITALS: Final = re.compile(r"(?P<capitals>[A-ZÀ-ÖØ-Ý](?<![^\W_].)[A-ZÀ-ÖØ-Ý]{1,4})s?(?![^\W_])")
_VOWELS: Final = "AEIOUYÀ-ÆÈ-ÏÒ-ÖÙ-Ý"
_OPENING: Final = r"(?:[BCFGPT]R|[BCFGP]L|DR|CH|QU|GN|S[CPT]|[B-DF-HJ-NP-TVXZKÇ])"
_SAID: Final = re.compile(
    rf"{_OPENING}?[{_VOWELS}]+(?:(?:[LMNRS]?{_OPENING}|SS|LL|TT)[{_VOWELS}]+)*(?:[BCDFGKLMNPRSTXZ]|[LNR][DKMNT])?"
)
_DOTTED: Final = re.compile(r"[A-Z](?<![\w.].)(?:\.-?[A-Z]){1,5}\.(?![\w-])")
_INITIAL: Final = re.compile(r"(?P<letter>[A-Z](?<![\w.].))\.(?= (?P<next>[A-ZÀ-Ý](?:[a-zà-ÿ]+|(?=\.))))")
_STARTS_ANEW: Final = re.compile(r"[»”\")]*(?:\s*$|\s*\n|\s+[“«\"(¿¡]?(?P<word>[A-ZÀ-Ý][^\W\d_]*))")
_JOINED: Final = re.compile(r"-([A-Z]{2})(?!\w)")
_JOINING: Final = re.compile(r"(?<![\w-])([A-Z]{2})-\Z")
_HAS_VOWEL: Final = re.compile(f"[{_VOWELS}]")
_MIXED_CASE: Final = {
    "NaCl": "N A C L", "SpO": "S P O", "SatO": "sat O", "Hb": "H B", "CaCO": "C A C O", "dCi": "D C I",
    "PaO": "P A O", "KCl": "K C L", "HbA": "H B A", "WiFi": "wifi", "IgG": "I G G", "IgE": "I G E",
    "NVMe": "N V M E", "PCIe": "P C I E", "IoT": "I O T", "PhD": "P H D", "mRNA": "M R N A", "ARNm": "A R N M",
    "RNAm": "R N A M", "iOS": "I O S", "macOS": "mac O S", "QoS": "Q O S", "IPv": "I P V", "pH": "P H",
    "GmbH": "G M B H", "vCPU": "V C P U", "vCPUs": "V C P U", "vGPU": "V G P U", "DJe": "D J E",
    "eSIM": "e sim", "VoIP": "voip", "DDoS": "D dos", "SaaS": "sas", "PaaS": "pas",
}  # fmt: skip
_OF_SOMETHING: Final = re.compile(r"(?<![^\W_])[A-Z]d[A-Z](?![^\W_])")  # "CdA", "TdF"
_MIXED_NAME: Final = re.compile(f"(?<![^\\W_])(?:{'|'.join(_MIXED_CASE)})(?![^\\W\\d_])")
_CAPITAL_BEHIND: Final = re.compile("[a-z][A-Z]|[A-Z]{2}[a-z]|Hb")
_LONG_CAPITALS: Final = re.compile(r"[A-ZÀ-ÖØ-Ý]{4,}")
_CAPITAL_LETTERS: Final = "BCDFGHJKLMNPQRSTVWXYZ"
_REACH: Final = 16
# Consonants alone are no word, but the sounds of people and bees: "php", and not "pff".
_CLUSTER: Final = (
    r"(?!(?:m{3}|hm+|br+|gr+|pf+|ps+t|zz+|ss?h+|bz+|vr+|ts+)(?<!ssh)(?!\w))[b-df-hj-np-tv-xz]{3,5}(?![\w'’])"
)
_CONSONANTS: Final = re.compile(rf"[ (/\"“«-]{_CLUSTER}")
_FIRST: Final = re.compile(rf"\A{_CLUSTER}")


@dataclass(frozen=True, slots=True)
class Acronyms:
    """The acronyms of one language."""

    habits: AcronymHabits
    sentence_starters: frozenset[str]

    def read(self, text: TrackedText) -> TrackedText:
        """Spell the capitals that are no word, and write as a word those that are."""
        if _CAPITAL_BEHIND.search(text.text):
            text = text.sub(_MIXED_NAME, lambda match: _MIXED_CASE[match.group()])
            text = text.sub(_OF_SOMETHING, lambda match: " ".join(match.group().upper()))
        if "." in text.text:
            text = text.sub(_DOTTED, self._dotted).sub(_INITIAL, self._initial)
        text = text.sub(_CAPITALS, self._read).sub(_CONSONANTS, _letters)
        return text.sub(_FIRST, _letters) if _FIRST.match(text.text) else text

    def _initial(self, match: re.Match[str]) -> str | None:
        """The letter of a name without its stop; None where a sentence may end with it."""
        if match["next"].lower() in self.sentence_starters:
            return None
        before = match.string[max(0, match.start() - _REACH) : match.start()].split(" ")
        if len(before) > 1 and len(before[-2]) == 1 and before[-2] in _CAPITAL_LETTERS:
            return None  # the last of several letters, as of an address
        named = len(before) < 2 or before[-2].istitle() or before[-2].lower() in self.sentence_starters
        return match["letter"] if named else None

    def _dotted(self, match: re.Match[str]) -> str | None:
        """Letters with full stops as letters without; the last stop stays where it ends a sentence too."""
        letters = re.sub("[.-]", "", match.group())
        follows = _STARTS_ANEW.match(match.string, match.end())
        ends = follows is not None and (not follows["word"] or follows["word"].lower() in self.sentence_starters)
        said = letters.lower() if self._is_said(letters) else " ".join(letters)
        return said + ("." if ends else "")

    def _read(self, match: re.Match[str]) -> str | None:
        capitals = match["capitals"]
        if "_" in match.string[max(0, match.start() - 1) : match.end() + 1] and _HAS_VOWEL.search(capitals):
            return capitals.lower()  # of a name such as "MAX_RETRY"
        bracketed = (
            match.string[match.start() - 1 : match.start()] == "("
            and match.string[match.end() : match.end() + 1] == ")"
        )
        if capitals in self.habits.short_words and (bracketed or self._is_joined(match)):
            return " ".join(capitals)
        if capitals in self.habits.short_words or (_HAS_VOWEL.search(capitals) and _is_shouted(match)):
            return None
        if not self._is_said(capitals):
            return " ".join(capitals)
        return capitals.lower() + (self.habits.plural if match.group().endswith("s") else "")

    def _is_joined(self, match: re.Match[str]) -> bool:
        """Return whether other letters stand beside a hyphen: "MI-MB"."""
        behind = _JOINED.match(match.string, match.end()) or _JOINING.search(
            match.string, max(0, match.start() - 4), match.start()
        )
        return behind is not None and behind[1] not in self.habits.short_words

    def _is_said(self, capitals: str) -> bool:
        if capitals in self.habits.said:
            return True
        if capitals in self.habits.spelled or len(capitals) < self.habits.shortest_said:
            return False
        return _SAID.fullmatch(capitals) is not None


def _letters(match: re.Match[str]) -> str:
    """Consonants as letters, behind what stood before them."""
    before, word = ("", match.group()) if match.group()[0].isalpha() else (match.group()[0], match.group()[1:])
    return before + " ".join(word.upper())


def _is_shouted(match: re.Match[str]) -> bool:
    """Return whether long capitals stand beside these, as in a headline and not as in a list."""
    before = match.string[max(0, match.start() - _REACH) : match.start()].split()
    after = match.string[match.end() : match.end() + _REACH].split()
    listed = match.string[match.end() : match.end() + 1] == ","
    beside = (*(word for word in before[-1:] if not word.endswith(",")), *(() if listed else after[:1]))
    words = (word.strip(".,;:!?()") for word in beside)
    return any(_LONG_CAPITALS.fullmatch(word) and len(_HAS_VOWEL.findall(word)) > 1 for word in words)
