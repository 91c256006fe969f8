"""URLs, e-mail addresses, telephone numbers, postcodes and rooms."""

import re
from typing import Final

from polyvox.text.normalize.japanese import loanwords
from polyvox.text.normalize.japanese.designations import named
from polyvox.text.normalize.japanese.numbers import room, spelled
from polyvox.text.tracked import TrackedText

_EMAIL: Final = re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]++@[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]*[A-Za-z0-9])++")
_PATH: Final = r"[A-Za-z0-9._~:/?#@!$&'*+,;=%-]*"
_URL: Final = re.compile(rf"(?<![A-Za-z0-9])(?:https?://|www\.)(?=[A-Za-z0-9]){_PATH}(?<![.,;:!?'*&-])", re.IGNORECASE)
_DOMAIN: Final = re.compile(
    r"(?<![A-Za-z0-9@./-])(?:[A-Za-z0-9-]++\.)+(?:com|jp|org|net|io|info|dev|app)(?![A-Za-z0-9@-]|\.[A-Za-z])"
    rf"(?:[:/?#](?=[A-Za-z0-9]){_PATH}(?<![.,;:!?'*&-]))?"
)
_SCHEME: Final = re.compile(r"https?://", re.IGNORECASE)
_PIECE: Final = re.compile(r"[A-Za-z]+|\d+|.", re.DOTALL)
_MARKS: Final = {
    ".": "ドット",
    "/": "スラッシュ",
    "-": "ハイフン",
    "_": "アンダーバー",
    "@": "アットマーク",
    ":": "コロン",
    "?": "クエスチョンマーク",
    "=": "イコール",
    "&": "アンド",
    "#": "シャープ",
    "%": "パーセント",
    "+": "プラス",
    "~": "チルダ",
}
_SPELLED: Final = frozenset("www jp co or ne ac go ed ad gr lg tv io uk us".split())
_FILE: Final = re.compile(
    r"(?<![A-Za-z0-9_@./\\-])(?!(?:[Nn]ode|[Vv]ue|[Nn]ext|[Rr]eact|[Nn]uxt|[Tt]hree)\.js)(?:\.{0,2}/)?(?:[A-Za-z0-9_.-]++/)*+[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*\."
    r"(?:json|py|js|tsx?|jsx|html?|css|txt|pdf|docx?|xlsx?|pptx?|csv|jpe?g|png|gif|svg|mp[34]|wav|zip|tar|gz|exe|md|"
    r"ya?ml|xml|sh|java|cpp|rs|rb|go|kt|php|sql|log|ini|cfg|conf|toml|lock|env|iso|apk|dll|jar|gradle|vue|swift|ipynb)"
    r"(?![A-Za-z0-9_@-]|\.[A-Za-z0-9])"
)
_FOLDER: Final = re.compile(r"(?<![A-Za-z0-9_/.~])~?(?:/[A-Za-z0-9_.-]+){2,}(?<![.-])")
_NAMED_END: Final = re.compile(r"\.[A-Za-z]")
_PHONE: Final = re.compile(
    r"(?<![\dA-Za-z.-])(?:\+81[ -]?\d{1,4}|\(?0\d{1,4}\)?)[ -]?\d{1,4}-\d{3,4}(?![\d-])"
    r"|(?<![\dA-Za-z.-])0[5789]0\d{8}(?!\d)"
)
_FREE: Final = re.compile(r"(?<![\dA-Za-z.-])0120-\d{2,3}-\d{3,4}(?![\d-])")
_POLICE: Final = re.compile(r"(?<![\d])(?<!\d[.,])110(?=番(?![地目線号]))")
_POSTCODE: Final = re.compile(r"〒 ?(?P<first>\d{3})-?(?P<last>\d{4})(?!\d)")
_ROOM: Final = re.compile(r"(?<![\d-])(?<!\d[.,])\d{3,4}(?=号室)")
_SHORT_NUMBER: Final = re.compile(
    r"(?<=[#＃])\d{3,4}(?!\d)|(?<=桁[はが])\d{2,4}(?![\d.,]\d|\d)|(?<=桁)\d{4}(?![\d.,]\d|\d)"
)
_CODE: Final = re.compile(
    r"(?:(?<=コード)|(?<=品番)|(?<=型番)|(?<=型式)|(?<=番号)|(?<=パスワード)"
    r"|(?<=ID)|(?<=PIN)|(?<=OTP)|(?<=内線))(?P<gap>[はがを]?[:： 「]{0,2})"
    r"(?P<letters>[A-Z]{0,4}-?)(?P<digits>\d{3,}(?:[- ]\d++)*+)(?!\d|[.,]\d|[円人個件年月回])"
)
# Of an account at a bank, and of its branch.
_ACCOUNT: Final = re.compile(
    r"(?:(?<=普通)|(?<=当座)|(?<=預金)|(?<=貯蓄))(?P<gap>[:： 　]{0,2})(?P<digits>\d{7})(?![\d円]|[.,]\d)"
    r"|(?<=支店)(?P<bracket>[(（])(?P<branch>\d{3})(?=[)）])"
)
# A part or a model; round figures are said as a number.
_PART_NUMBER: Final = re.compile(
    r"(?<![A-Za-z0-9-])(?P<letters>[A-Z]{1,4})-(?P<digits>\d{2,}(?!00)\d\d)(?![\dA-Za-z-]|[.,]\d)"
)
_HEXADECIMAL: Final = re.compile(r"(?<![A-Za-z0-9])0x(?P<digits>[0-9A-Fa-f]{1,16})(?![A-Za-z0-9])")
_BANKED: Final = re.compile("普通|当座|預金|貯蓄|支店")
_DIGIT: Final = re.compile("[0-9]")
_GROUP: Final = re.compile(r"\d+")
_LANDMARK: Final = re.compile(
    r"(?<=[\u3040-\u30ff\u4e00-\u9fff])(\d{1,3})-(\d{1,3})(?:-(\d{1,4}))?(?![\d-]|[%人円年回個名本])"
)


def read(text: TrackedText, *, emails: bool, urls: bool, phones: bool) -> TrackedText:
    """Everything that one writes to, calls, or goes to."""
    if emails and "@" in text.text:
        text = text.sub(_EMAIL, lambda match: _aloud(match.group()))
    if urls and _NAMED_END.search(text.text):
        text = text.sub(_FILE, lambda match: _aloud(match.group()))
        text = text.sub(_URL, lambda match: _aloud(match.group())).sub(_DOMAIN, lambda match: _aloud(match.group()))
    if urls and "/" in text.text:
        text = text.sub(_FOLDER, lambda match: _aloud(match.group()))
    if _DIGIT.search(text.text) is None:
        return text
    text = text.sub(_POSTCODE, lambda match: f"郵便番号{spelled(match['first'])}の、{spelled(match['last'])}")
    if phones:
        for pattern in (_FREE, _PHONE):
            text = text.sub(pattern, _phone)
        text = text.sub(_POLICE, "ヒャクトー")
    text = text.sub(_HEXADECIMAL, _hexadecimal).sub(_CODE, lambda match: _code(match))
    text = text.sub(_PART_NUMBER, lambda match: f"{match['letters']} {spelled(match['digits'])}")
    if _BANKED.search(text.text):
        text = text.sub(_ACCOUNT, _account)
    text = text.sub(_ROOM, lambda match: room(match.group()))
    text = text.sub(_SHORT_NUMBER, lambda match: spelled(match.group()))
    return text.sub(_LANDMARK, _landmark) if "-" in text.text else text


def _landmark(match: re.Match[str]) -> str | None:
    """None for a score, which stands behind a particle or its name."""
    before = match.string[max(0, match.start() - 4) : match.start()]
    if match[3] is None and before.endswith(
        ("て", "が", "は", "に", "を", "も", "で", "と", "カウント", "スコア", "結果", "戦")
    ):
        return None
    return "の".join(part for part in match.groups() if part)


def _hexadecimal(match: re.Match[str]) -> str:
    return "ゼロエックス" + "".join(spelled(digit) if digit.isdigit() else named(digit) for digit in match["digits"])


def _code(match: re.Match[str]) -> str:
    letters = match["letters"].rstrip("-")
    return match["gap"] + (f"{letters} " if letters else "") + "、".join(map(spelled, _GROUP.findall(match["digits"])))


def _account(match: re.Match[str]) -> str:
    return (match["gap"] or match["bracket"] or "") + spelled(match["digits"] or match["branch"])


def _phone(match: re.Match[str]) -> str:
    groups = _GROUP.findall(match.group())
    if len(groups) == 1:
        groups = [groups[0][:3], groups[0][3:7], groups[0][7:]]
    return ("プラス" if match.group()[0] == "+" else "") + "の、".join(spelled(group) for group in groups)


def _aloud(address: str) -> str:
    pieces = _PIECE.findall(_SCHEME.sub("", address, count=1).rstrip("/"))
    return " ".join(spelled(piece) if piece.isdigit() else _MARKS.get(piece) or _word(piece) for piece in pieces)


def _word(piece: str) -> str:
    return " ".join(piece.upper()) if piece.lower() in _SPELLED else loanwords.kana(piece) or piece
