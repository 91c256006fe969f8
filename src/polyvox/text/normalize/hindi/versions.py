"""Versions of programs, which are numbers with points between and no decimals."""

import re
from typing import Final

from polyvox.text.normalize.english.technical.codes import PROGRAMS
from polyvox.text.normalize.hindi.numbers import cardinal
from polyvox.text.tracked import TrackedText

_HINDI_NAMES: Final = (
    "संस्करण वर्ज़न वर्ज़न वर्जन रिलीज़ रिलीज कर्नल पायथन पाइथन जावा नोड रूबी रस्ट उबुंटू उबुंटु डेबियन "
    "फ़ेडोरा फेडोरा लिनक्स विंडोज़ विंडोज मैकओएस एंड्रॉइड एंड्रॉयड एंड्राइड क्रोम फ़ायरफ़ॉक्स फायरफॉक्स "
    "सफ़ारी सफारी डॉकर कुबेरनेट्स जांगो फ़्लास्क रिएक्ट एंगुलर वर्डप्रेस लारावेल पोस्टग्रेस रेडिस ब्लूटूथ "
    "गिट आईओएस"
).split()
_ENGLISH_NAMES: Final = (
    "version Version ver Ver release Release V v js JS Bash OpenSSL OpenJDK Office Rocky Alma CentOS RHEL".split()
)
_NAMES: Final = PROGRAMS.difference("C").union(_HINDI_NAMES, _ENGLISH_NAMES)
_SMALL_NAMES: Final = frozenset(name.lower() for name in _NAMES)
_COUNTED: Final = r"(?! ?(?:[%°₹]|लाख|करोड़|करोड़|हज़ार|हजार|गुना|प्रतिशत|[kKMGT]B(?![A-Za-z])))"
_DOTTED: Final = rf"\d{{1,4}}\.\d{{1,2}}(?!\d|[.,]\d|/|[A-Za-z]{{2}}){_COUNTED}"
_VERSIONS: Final = re.compile(rf"(?<![\d.,/]){_DOTTED}(?:(?: (?:से|या|और|व) |, ?| ?[-–/] ?){_DOTTED}(?! ?[A-Za-z]))*")
_POINTED: Final = re.compile(r"\d+\.\d+")
_POINT: Final = re.compile(r"\d\.\d")
"""In every version, and found in linear time where there is none."""
_NAME: Final = re.compile(r"(?<![A-Za-z\u0900-\u0963])([A-Za-z]+|[\u0900-\u0963]+)\.?(?: |: ?|-|==|@)?\Z")
_LONGEST: Final = 20


def read(text: TrackedText) -> TrackedText:
    """Versions of two parts behind the name of a program or behind "version", and others tied to them."""
    return text.sub(_VERSIONS, _versions) if _POINT.search(text.text) else text


def points(written: str) -> str:
    """The parts of a version as numbers: "3.11" is three point eleven."""
    return " पॉइंट ".join(cardinal(part) for part in written.split("."))


def _versions(match: re.Match[str]) -> str | None:
    """None where nothing says that it is a version."""
    name = _NAME.search(match.string, max(0, match.start() - _LONGEST), match.start())
    if name is None or (name[1] not in _NAMES and name[1].lower() not in _SMALL_NAMES):
        return None
    gap = "" if match.string[match.start() - 1].isspace() else " "
    return gap + _POINTED.sub(lambda version: points(version.group()), match.group())
