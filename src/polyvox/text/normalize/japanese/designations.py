"""Letters with figures and marks between them as Japanese say them: formulas of chemistry, H1N1, B2B, UI/UX, SDGs."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

LETTERS: Final = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "エー ビー シー ディー イー エフ ジー エイチ アイ ジェー ケー エル エム エヌ オー ピー キュー "
        "アール エス ティー ユー ブイ ダブリュー エックス ワイ ゼット".split(),
        strict=True,
    )
)
ENGLISH_DIGITS: Final = dict(
    zip(
        map(str, range(1, 13)),
        "ワン ツー スリー フォー ファイブ シックス セブン エイト ナイン テン イレブン トゥエルブ".split(),
        strict=True,
    )
)
_SYMBOLS: Final = "He|Li|Be|Ne|Na|Mg|Al|Si|Cl|Ar|Ca|Ti|Cr|Mn|Fe|Co|Ni|Cu|Zn|Br|Ag|Sn|Ba|Pt|Au|Hg|Pb"
_ATOMS: Final = rf"(?:{_SYMBOLS}|[HBCNOFPSKI])(?:1[0-2]|[2-9])?"
# Of several elements and with a figure or a small letter; or a gas of one.
_FORMULA: Final = re.compile(
    rf"(?<![A-Za-z])(?=[A-Z]{{1,8}}[a-z\d])(?:(?:{_ATOMS}){{2,8}}|[HNO]2|O3|Cl2)(?![A-Za-z\d]|-[A-Za-z])"
)
_ATOM: Final = re.compile(r"[A-Za-z]|\d+")
_ELEMENT: Final = re.compile(
    r"(?<![A-Za-z.])(?:Na|Mg|Si|Cl|Ca|Ti|Cr|Mn|Fe|Cu|Zn|Br|Ag|Sn|Ba|Pt|Hg|Pb)(?![A-Za-z]|\.[A-Za-z])"
)
_AMID: Final = re.compile(
    r"(?<=[A-Z])[1-9](?=[A-Z](?![a-zA-Z])|[a-z](?![A-Za-z]))(?<!B\d)|(?<=B)[2-9](?=[A-EG-Z](?![A-Za-z]))"
)
_TWICE: Final = re.compile(r"(?<![A-Za-z\d])([A-Z])([1-9])([A-Z])([1-9])(?![A-Za-z\d])")
_PRODUCT: Final = re.compile(r"(?<![A-Za-z])[a-z](?=[xyz](?:[²³^]| ?[-+=−]))|(?<=[-+=−])[a-z](?=[xyz](?![A-Za-z]))")
# Quantities side by side: E=mc², F=ma, W=mgh.
_QUANTITIES: Final = re.compile(
    r"(?<=(?<![A-Za-z])[A-Za-z][=＝])(?!sin|cos|tan|log|exp|max|min|on|off|yes|no)[a-z]{2,3}(?![A-Za-z\d_./-])"
    r"|(?<![A-Za-z\d])(?![mckdn]m)[a-z]{2}(?=[²³])"
)
_CORNER: Final = re.compile(r"(?P<corner>[△∠])(?=[A-Z]{1,3}(?![A-Za-z]))")
_PLURAL: Final = re.compile(r"(?<![A-Za-z\d])(?P<letters>[A-Z]{2,5})s(?![A-Za-z])")
_OF_TRADE: Final = re.compile(r"(?<![A-Za-z])(?P<seller>[BCDG]) ?to ?(?P<buyer>[BCEG])(?![A-Za-z])")
_BESIDE: Final = re.compile(r"(?<![A-Za-z])(?P<first>[A-Z]{1,4})/(?=[A-Z]{1,4}(?![A-Za-z]))")
_TITLES: Final = {
    "Mr": "ミスター",
    "Mrs": "ミセス",
    "Ms": "ミズ",
    "Dr": "ドクター",
    "St": "セント",
    "Mt": "マウント",
}
_TITLE: Final = re.compile(rf"(?<![A-Za-z])(?P<title>{'|'.join(_TITLES)})\. ?(?=[A-Za-z\u30a0-\u30ff\u4e00-\u9fff])")
# The number of a work of music, and of a piece in it: Op.125, Op. 9 No. 2.
_OPUS: Final = re.compile(
    r"(?<![A-Za-z])(?:[Oo]p\.|OP\.|Op) ?(?P<work>\d{1,3})(?![\d.]*\d)"
    r"(?:(?:[-–]|,? ?[Nn]o\. ?)(?P<piece>\d{1,2})(?!\d))?"
)
_LEVEL: Final = re.compile(r"(?<![A-Za-z])(?:L[Vv]|(?P<channel>[Cc]h))\.? ?(?=\d)")
_ORDINALS: Final = dict(
    zip(
        "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th 20th 30th".split(),
        "ファースト セカンド サード フォース フィフス シックスス セブンス エイトス ナインス テンス トゥエンティース "
        "サーティース".split(),
        strict=True,
    )
)
_ORDINAL: Final = re.compile(rf"(?<![\dA-Za-z.])(?:{'|'.join(_ORDINALS)})(?![A-Za-z])")


_JUNCTIONS: Final = {"IC": "インター", "JCT": "ジャンクション", "SA": "サービスエリア", "PA": "パーキングエリア"}
_JUNCTION: Final = re.compile(
    rf"(?<=[\u4e00-\u9fffヶ])(?<![系体型用式子声])(?P<kind>{'|'.join(_JUNCTIONS)})"
    r"(?=[~～〜、,。()でをにへ付出入間まとのは・-]|から|$)"
)


def read(text: TrackedText) -> TrackedText:
    """Designations, neither words nor initials alone; letters that stay are called by their names later."""
    text = text.sub(_ORDINAL, lambda match: _ORDINALS[match.group()])
    text = text.sub(_TITLE, lambda match: _TITLES[match["title"]])
    text = text.sub(_JUNCTION, lambda match: _JUNCTIONS[match["kind"]])
    text = text.sub(_OPUS, _opus)
    text = text.sub(_LEVEL, lambda match: "チャンネル" if match["channel"] else "レベル")
    text = text.sub(_FORMULA, _formula).sub(_ELEMENT, lambda match: named(match.group()))
    text = text.sub(_TWICE, lambda match: "".join(ENGLISH_DIGITS.get(one) or LETTERS[one] for one in match.groups()))
    text = text.sub(_PRODUCT, lambda match: named(match.group()))
    text = text.sub(_QUANTITIES, lambda match: named(match.group())) if "=" in text.text else text
    text = text.sub(_CORNER, lambda match: "三角形" if match["corner"] == "△" else "カク")
    text = text.sub(_AMID, lambda match: ENGLISH_DIGITS[match.group()])
    text = text.sub(_OF_TRADE, lambda match: f"{LETTERS[match['seller']]}トゥー{LETTERS[match['buyer']]}")
    text = text.sub(_PLURAL, lambda match: named(match["letters"]) + "ズ")
    return text.sub(_BESIDE, r"\g<first> ") if "/" in text.text else text


def _opus(match: re.Match[str]) -> str:
    return f"作品{match['work']}" + (f"の{match['piece']}" if match["piece"] else "")


def named(letters: str) -> str:
    """Letters by their names."""
    return "".join(LETTERS[letter] for letter in letters.upper())


def _formula(match: re.Match[str]) -> str:
    return "".join(ENGLISH_DIGITS.get(piece) or named(piece) for piece in _ATOM.findall(match.group()))
