"""Fractions, scores, ranges, versions and signs."""

import re
import unicodedata
from typing import Final

from polyvox.text.normalize.japanese.numbers import DASH, NUMBER, NUMBER_END, NUMBER_START, number, spelled
from polyvox.text.tracked import TrackedText

_FRACTION: Final = re.compile(r"(?<![\d./])(?P<top>\d{1,4})/(?P<bottom>\d{1,4})(?![\d/]|\.\d)")
_PRESSURE: Final = re.compile(r"(?<=血圧)(?P<gap>[はが:： ]{0,2})(?P<high>\d{2,3})/(?P<low>\d{2,3})(?![\d/])")
_FEVER: Final = re.compile(r"(?<=\d度)(\d)分(?![の間])")
# A tenth, as of milling, sleeves, cream and interest, and no minute; and figures before a word that begins with 分.
_TENTH: Final = re.compile(
    "(?<=[0-9一二三四五六七八九])分(?=づき|搗き|丈|袖|目(?![にでを立])|刈り|がゆ|通り|どおり|音符|休符|の入り)"
    "|(?<=割[0-9一二三四五六七八九])分|(?<=割[0-9]\\.[0-9])分|(?<=年[0-9一二三四五六七八九])分(?=の(?:割合|利|遅延)|厘)"
)
_SOUNDED: Final = re.compile("(?<=[0-9一二三四五六七八九])分(立て|仕立て|咲き|粥)")
_SOUNDS: Final = {"立て": "ブダテ", "仕立て": "ブジタテ", "咲き": "ブザキ", "粥": "ブガユ"}
_PARTED: Final = re.compile("(?<=[0-9一二三四五六七八九])分([野割類冊岐裂])(?!引|高|安|り)")
_PARTS: Final = {"野": "ブンヤ", "割": "ブンカツ", "類": "ブンルイ", "冊": "ブンサツ", "岐": "ブンキ", "裂": "ブンレツ"}
# The fourth of a batting order.
_CLEAN_UP: Final = re.compile(r"(?<![\d.,])4番(?![\d手線街目])")
_BASEBALL: Final = re.compile("塁|打|ラン|三振|球|イニング|[1-9一二]死")
_TYPE: Final = re.compile("(?<=[A-Za-z])型")
_PORT: Final = re.compile(
    r"(?<![ァ-ヶー])(?P<label>ポート(?:番号)?[はがをにのも:： ]{0,2})(?P<port>(?!\d0{3}(?!\d))\d{3,5})"
    r"(?![\d円個台人本名件校か]|[.,]\d)"
    r"|(?<![\d.,])(?P<before>(?!\d0{3}(?!\d))\d{3,5})(?P<noun>番?ポート(?![ァ-ヶー]))"
)
_SCORE: Final = re.compile(
    rf"{NUMBER_START}(\d{{1,3}})[-–:](\d{{1,3}}){NUMBER_END}(?=で|の(?:勝|敗|接戦|逆転|スコア|同点|大勝|完封|快勝|引|ドロー|タイ|まま|末|僅差)|と|に(?:終|持))"
)
_SET: Final = re.compile(
    r"(?:(?<=[トムアー半][はを])|(?<=[めれげしっ]て))(?<=[^\d])(\d{1,3})[-–](\d{1,3})(?![\d%人円年回個名本日時]|[.,]\d)"
)
_SETS: Final = re.compile(r"(?<![\d.,])\d{1,2}[-–]\d{1,2}(?:[、,] ?\d{1,2}[-–]\d{1,2})++(?![\d.,%])")
_WALK_OFF: Final = re.compile(r"(?<![\dA-Za-z.])(\d{1,2})[xX×](?=[-–]\d{1,2}(?:で|の|と|に(?:終|よ)))")
_POINTS_DASH: Final = re.compile("[-–]")
_RATIO: Final = re.compile(rf"{NUMBER_START}{NUMBER}(?::{NUMBER})++{NUMBER_END}")
_VERSION: Final = re.compile(r"(?<![\d.])\d++(?:\.\d++){2,}+(?!\d)")
_IP: Final = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.]\d|\d)")
_RANGE: Final = re.compile(rf"{NUMBER_START}({NUMBER}){DASH}({NUMBER}){NUMBER_END}")
# Days are counted at both ends, as are one person and two.
_DAYS: Final = re.compile(rf"(?<![\d.,月])(\d{{1,2}}){DASH}(\d{{1,2}})(日(?!本)|人(?<=[-–—~～〜ら][23]人))")
_NEGATIVE: Final = re.compile(r"(?<![\dA-Za-z)])[-−](?=\d)")
_UNIT_PRICE: Final = re.compile(r"(?<![A-Za-z0-9])@(?=[\d,]{1,11}(?:点[零一二三四五六七八九]{1,3})?(?:円|[×x、, ]|$))")
_NUMBER_SIGN: Final = re.compile(r"(?:(?<![A-Za-z])No\.?|№) ?(?=\d)")
# Numerals of Rome, whose letters no other letter touches; a single one only behind a word that is counted by them.
_ROMAN: Final = re.compile(
    "(?<=[\u3041-\u30ff\u4e00-\u9fff])(?:(?:II|III|IV|VI{1,3}|IX|XI{1,3})(?=[ab]?(?![A-Za-z0-9]))|(?<=[第章数節部型度])[IVX](?![A-Za-z0-9.&'-]))"
    "|(?<![A-Za-z0-9.&'-])(?:II|III|IV|VI{1,3}|IX|XI{1,3})(?=[型度期種類世](?![A-Za-z]))|[\u2160-\u216b\u2170-\u217b]"
)
_NUMERAL_LETTER: Final = re.compile("[IVX\u2160-\u217b]")
_ROMAN_VALUES: Final = dict(zip("I II III IV V VI VII VIII IX X XI XII XIII".split(), range(1, 14), strict=True))
# A model of two figures: Core i7-13700.
_MODEL: Final = re.compile(r"(?<=[A-Z])-(?=\d{1,5}[A-Z])|(?<=[A-Za-z]\d)-(?=\d{3,5}(?![\d円]))")
_GENERATION: Final = re.compile(r"(?<![\dA-Za-z])(?P<figure>[2-6])(?P<letter>[GD])(?![A-Za-z\d])")
_ENGLISH: Final = {"2": "ツー", "3": "スリー", "4": "フォー", "5": "ファイブ", "6": "シックス"}
_LETTERS: Final = {"G": "ジー", "D": "ディー"}
_LATIN: Final = re.compile(r"(?<=[A-Za-z])-?(?P<behind>\d{1,4})(?![\dA-Za-z]|\.\d)")
_NUMBER: Final = re.compile(rf"{NUMBER_START}{NUMBER}{NUMBER_END}")
_DIGIT: Final = re.compile("[0-9⁰¹²³⁴-⁹]")
_LETTER: Final = re.compile("[A-Za-z№]")
_BETWEEN: Final = re.compile("[-–—~～〜:−]|[0-9]から")
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_POWER: Final = re.compile(
    r"(?<=[\dA-Za-z)ァ-ヶー])(?:\^(?P<minus>-|マイナス)?(?P<plain>\d{1,3})|(?P<raised_minus>⁻)?(?P<raised>[⁰¹²³⁴-⁹]{1,3}))"
)
_DESERTED: Final = re.compile(
    "人気(?=[のが]な(?:い|く|かった)(?:[、,]|静|寂|夜|深|暗|場所|所|ところ|道|路|通り|裏|公園|広場|山|森|林|海|浜|島|川|街|町|村|駅|寺|神社|境内|校|教室"
    "|部屋|廊下|建物|ビル|家|館|倉庫|オフィス))"
)
_FIRMS: Final = re.compile(r"\((?P<kind>[株有])\)|(?P<square>[㈱㈲])")
_FIRM_NAMES: Final = {"株": "株式会社", "㈱": "株式会社", "有": "有限会社", "㈲": "有限会社"}
_SIGNS: Final = {
    "+": "プラス",
    "=": "イコール",
    "×": "かける",
    "÷": "わる",
    "±": "プラスマイナス",
    "≒": "ほぼ等しい",
    "≠": "等しくない",
    "≤": "ショーナリイコール",
    "≥": "ダイナリイコール",
    "≦": "ショーナリイコール",
    "≧": "ダイナリイコール",
    "&": "アンド",
    "@": "アットマーク",
    "#": "シャープ",
    "%": "パーセント",
    "∞": "無限大",
    "π": "パイ",
    "√": "ルート",
}
_MINUS: Final = re.compile(r"(?<=[\dA-Za-z)²³]) ?[-−] ?(?=\d?[\dA-Za-z.]{0,12}[^\n=。、]{0,12}=)")
_AVERAGE: Final = re.compile(
    r"(?<=[率打])(?P<gap>[はがをもの、,:： ]{0,2})0?\.(?P<tenths>\d)(?P<hundredths>\d)(?P<thousandths>\d)(?!\d)"
)
# Below nought in accounts, and lengths and heights of jumps: 8m44.
_LOSS: Final = re.compile(r"[▲△](?=[\d¥$])")
_JUMP: Final = re.compile(r"(?<![\d.,A-Za-z])(?P<metres>\d{1,2})m(?P<hundredths>\d\d)(?![\dA-Za-z.])")
_TIMES: Final = re.compile(r"(?<=[\dA-Za-z)]) ?\* ?(?=[\dA-Za-z(])")
_LESS: Final = re.compile(r"(?<=[A-Za-z0-9)]) ?<(?P<equal>=?) ?(?=[-零\dA-Za-z])")
_MORE: Final = re.compile(r"(?<=[A-Za-z0-9)]) ?>(?P<equal>=?) ?(?=[-零\d])")
_SAME_LENGTH: Final = re.compile(r"(?<![\d./])(?P<first>\d{2,3})/(?P<second>\d{2,3})(?= ?[A-Za-zΩ]{1,4}(?![A-Za-z/]))")
_ASSISTANT: Final = re.compile("準(?=\\d)")
_SIGN: Final = re.compile(" ?([" + "".join(re.escape(sign) for sign in _SIGNS) + "]) ?")


def read_firms(text: TrackedText) -> TrackedText:
    """Firms by the short forms of their kinds."""
    return text.sub(_FIRMS, lambda match: _FIRM_NAMES[match["kind"] or match["square"]])


def read_measured(text: TrackedText) -> TrackedText:
    """Signs of loss, marks of jumps, and two figures before one unit, which a reader of units would take apart."""
    if _DIGIT.search(text.text) is None:
        return text
    text = text.sub(_WALK_OFF, r"\1").sub(_LOSS, "-").sub(_JUMP, _jump)
    return text.sub(_SAME_LENGTH, r"\g<first>、\g<second>") if "/" in text.text else text


def read(text: TrackedText) -> TrackedText:
    """Every figure that is left, without its commas."""
    text = text.sub(_DESERTED, "ひとけ")
    if "分" in text.text:
        text = (
            text.sub(_TENTH, "ブ")
            .sub(_SOUNDED, lambda match: _SOUNDS[match[1]])
            .sub(_PARTED, lambda match: _PARTS[match[1]])
        )
    if _NUMERAL_LETTER.search(text.text):
        text = text.sub(_ROMAN, _roman)
    if _DIGIT.search(text.text) is None:
        return text.sub(_TYPE, "がた")
    if "=" in text.text:
        text = text.sub(_MINUS, "マイナス")
    if "ポート" in text.text:
        text = text.sub(_PORT, _port)
    text = _read_batting(text).sub(_ASSISTANT, "ジュン").sub(_FEVER, r"\1ブ").sub(_POWER, _power)
    if _LETTER.search(text.text):
        text = text.sub(_NUMBER_SIGN, "ナンバー").sub(_MODEL, " ").sub(_GENERATION, _generation).sub(_TYPE, "がた")
    if "/" in text.text:
        text = text.sub(_PRESSURE, r"\g<gap>\g<high>の\g<low>")
        text = text.sub(_FRACTION, lambda match: f"{match['bottom']}分の{match['top']}")
    if _BETWEEN.search(text.text):
        text = _read_pairs(text)
    if "." in text.text:
        text = text.sub(_IP, lambda match: "テン".join(map(spelled, match.group().split("."))))
        text = text.sub(_VERSION, lambda match: "点".join(match.group().split(".")))
    text = text.sub(_NUMBER, lambda match: number(match.group()))
    return text.sub(_LATIN, lambda match: f" {match['behind']}")


def _read_batting(text: TrackedText) -> TrackedText:
    """Averages of batters, and the fourth of them."""
    if "4番" in text.text and _BASEBALL.search(text.text):
        text = text.sub(_CLEAN_UP, "ヨバン")
    return text.sub(_AVERAGE, _average)


def _read_pairs(text: TrackedText) -> TrackedText:
    """Points, ratios and ranges, and what is below nought."""
    text = text.sub(_SETS, lambda match: _POINTS_DASH.sub("対", match.group()))
    text = text.sub(_SET, r"\1対\2").sub(_SCORE, r"\1対\2")
    if ":" in text.text:
        text = text.sub(_RATIO, lambda match: "対".join(map(number, match.group().split(":"))))
    return text.sub(_DAYS, r"\1\3から\2\3").sub(_RANGE, _range).sub(_NEGATIVE, "マイナス")


def read_signs(text: TrackedText) -> TrackedText:
    """Signs of arithmetic and of the keyboard as words; that of a price apiece is not said."""
    text = text.sub(_TIMES, "カケル").sub(_LESS, lambda match: "ショーナリ" + ("イコール" if match["equal"] else ""))
    text = text.sub(_MORE, lambda match: "ダイナリ" + ("イコール" if match["equal"] else ""))
    return text.sub(_UNIT_PRICE, "").sub(_SIGN, lambda match: _SIGNS[match[1]])


def _jump(match: re.Match[str]) -> str:
    hundredths = match["hundredths"]
    return f"{match['metres']}メートル" + (spelled(hundredths) if hundredths[0] == "0" else hundredths)


def _port(match: re.Match[str]) -> str:
    return (match["label"] or "") + spelled(match["port"] or match["before"]) + (match["noun"] or "")


def _power(match: re.Match[str]) -> str:
    minus = "マイナス" if match["minus"] or match["raised_minus"] else ""
    return f"の{minus}{match['plain'] or match['raised'].translate(_SUPERSCRIPTS)}ジョー"


def _average(match: re.Match[str]) -> str:
    """A batting average in tenths, hundredths and thousandths, as baseball has it."""
    parts = zip((match["tenths"], match["hundredths"], match["thousandths"]), ("割", "ブ", "リン"), strict=True)
    return match["gap"] + ("".join(f"{figure}{name}" for figure, name in parts if figure != "0") or "0割")


def _range(match: re.Match[str]) -> str:
    """From one number to another; points where the first is the greater, since no range goes down."""
    first, last = match[1], match[2]
    points = first.isdigit() and last.isdigit() and len(first) <= 3 and int(first) > int(last)
    return f"{number(first)}{'対' if points else 'から'}{number(last)}"


def _roman(match: re.Match[str]) -> str:
    return str(_ROMAN_VALUES[unicodedata.normalize("NFKC", match.group()).upper()])


def _generation(match: re.Match[str]) -> str:
    return _ENGLISH[match["figure"]] + _LETTERS[match["letter"]]
