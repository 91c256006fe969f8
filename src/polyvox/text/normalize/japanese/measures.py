"""Money, percentages, temperatures and measures."""

import re
from typing import Final

from polyvox.text.normalize.japanese.numbers import DASH, NUMBER, NUMBER_END, NUMBER_START, number
from polyvox.text.tracked import TrackedText

_CURRENCIES: Final = {
    "¥": "円",
    "￥": "円",
    "JPY": "円",
    "$": "ドル",
    "US$": "ドル",
    "USD": "ドル",
    "€": "ユーロ",
    "EUR": "ユーロ",
    "£": "ポンド",
    "GBP": "ポンド",
    "₩": "ウォン",
    "元": "元",
    "CNY": "元",
}
_UNITS: Final = {
    "mm": "ミリメートル",
    "cm": "センチメートル",
    "m": "メートル",
    "km": "キロメートル",
    "nm": "ナノメートル",
    "mg": "ミリグラム",
    "g": "グラム",
    "kg": "キログラム",
    "t": "トン",
    "ml": "ミリリットル",
    "mL": "ミリリットル",
    "dl": "デシリットル",
    "l": "リットル",
    "L": "リットル",
    "cc": "シーシー",
    "ms": "ミリ秒",
    "s": "秒",
    "sec": "秒",
    "min": "分",
    "h": "時間",
    "Hz": "ヘルツ",
    "kHz": "キロヘルツ",
    "MHz": "メガヘルツ",
    "GHz": "ギガヘルツ",
    "KB": "キロバイト",
    "MB": "メガバイト",
    "GB": "ギガバイト",
    "TB": "テラバイト",
    "Mbps": "メガビーピーエス",
    "Gbps": "ギガビーピーエス",
    "W": "ワット",
    "kW": "キロワット",
    "kWh": "キロワット時",
    "V": "ボルト",
    "A": "アンペア",
    "mAh": "ミリアンペアアワー",
    "dB": "デシベル",
    "hPa": "ヘクトパスカル",
    "kcal": "キロカロリー",
    "cal": "カロリー",
    "ha": "ヘクタール",
    "px": "ピクセル",
    "rpm": "回転毎分",
    "mol": "モル",
    "mmol": "ミリモル",
    "μg": "マイクログラム",
    "µg": "マイクログラム",
    "Pa": "パスカル",
    "kPa": "キロパスカル",
    "MPa": "メガパスカル",
    "N": "ニュートン",
    "J": "ジュール",
    "kJ": "キロジュール",
    "Ω": "オーム",
    "mV": "ミリボルト",
    "mA": "ミリアンペア",
    "MW": "メガワット",
    "cl": "センチリットル",
    "dL": "デシリットル",
    "mmHg": "ミリエイチジー",
    "ppm": "ピーピーエム",
    "ppb": "ピーピービー",
    "bpm": "ビーピーエム",
    "fps": "エフピーエス",
    "dpi": "ディーピーアイ",
    "kbps": "キロビーピーエス",
    "μm": "マイクロメートル",
    "µm": "マイクロメートル",
    "μL": "マイクロリットル",
    "ng": "ナノグラム",
    "kL": "キロリットル",
    "kl": "キロリットル",
    "oz": "オンス",
    "lb": "ポンド",
    "ft": "フィート",
    "mi": "マイル",
    "mph": "マイル毎時",
    "K": "ケー",
    "GW": "ギガワット",
    "Wh": "ワット時",
    "MWh": "メガワット時",
    "kV": "キロボルト",
    "kΩ": "キロオーム",
    "PB": "ペタバイト",
    "MP": "メガピクセル",
    "mSv": "ミリシーベルト",
    "μSv": "マイクロシーベルト",
    "Bq": "ベクレル",
    "lx": "ルクス",
    "lm": "ルーメン",
    "cd": "カンデラ",
    "PS": "馬力",
    "IU": "アイユー",
    "hr": "時間",
    "mEq": "メック",
    "pt": "ポイント",
    "eV": "電子ボルト",
    "keV": "キロ電子ボルト",
    "MeV": "メガ電子ボルト",
    "GeV": "ギガ電子ボルト",
    "TeV": "テラ電子ボルト",
    "Cap": "カプセル",
    "cap": "カプセル",
    "tab": "錠",
    "mIU": "ミリアイユー",
    "kN": "キロニュートン",
    "mbar": "ミリバール",
    "pg": "ピコグラム",
    "fL": "フェムトリットル",
    "ct": "カラット",
    "Mb": "メガビット",
    "Gb": "ギガビット",
    "EB": "エクサバイト",
    "ZB": "ゼタバイト",
    "GJ": "ギガジュール",
    "MJ": "メガジュール",
    "dm": "デシメートル",
    "yd": "ヤード",
}
_POWERS: Final = {"²": "平方", "2": "平方", "^2": "平方", "³": "立方", "3": "立方", "^3": "立方"}
_POWERED: Final = frozenset(("mm", "cm", "m", "km"))
_EACH: Final = {
    "h": "毎時",
    "s": "毎秒",
    "min": "毎分",
    "s²": "毎秒毎秒",
    "L": "パーリットル",
    "l": "パーリットル",
    "dL": "パーデシリットル",
    "dl": "パーデシリットル",
    "mL": "パーミリリットル",
    "ml": "パーミリリットル",
    "mol": "パーモル",
    "kg": "パーキログラム",
    "g": "パーグラム",
    "cm²": "パー平方センチメートル",
    "cm2": "パー平方センチメートル",
    "cm³": "パー立方センチメートル",
    "cm3": "パー立方センチメートル",
    "m²": "パー平方メートル",
    "m2": "パー平方メートル",
    "m³": "パー立方メートル",
    "m3": "パー立方メートル",
    "km²": "パー平方キロメートル",
    "km2": "パー平方キロメートル",
    "μL": "パーマイクロリットル",
    "100g": "、100グラムあたり",
    "day": "パーデイ",
}
# Rooms, seats and gates are named so.
_NAMES: Final = frozenset("ABCDEFGHJKLMNV")
_NAMED: Final = re.compile("(?:[室席棟列組館]|ゲート|出口|ホール|クラス|番線|ブロック|号車)[はのがを:、 ]?\\Z")
_ANY_EACH: Final = "|".join(sorted(_EACH, key=len, reverse=True))

_MINUS: Final = r"(?P<minus>(?<![\dA-Za-z])-)?"
_SIGN: Final = "|".join(re.escape(sign) for sign in sorted(_CURRENCIES, key=len, reverse=True))
_SCALE: Final = "(?P<scale>[千万億兆]{0,3}π?)"
_MONEY: Final = re.compile(
    rf"(?<![A-Za-z]){_MINUS}(?P<sign>{_SIGN}) ?(?P<amount>{NUMBER})(?:{DASH}(?:(?P=sign))?(?P<upto>{NUMBER}))?"
    rf"{NUMBER_END} ?{_SCALE}円?"
)
_PERCENT: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>{NUMBER})(?P<inner> ?%)?(?:{DASH}(?P<upto>{NUMBER}))?"
    rf"{NUMBER_END} ?(?P<sign>[%‰])"
)
_PER_HEAD: Final = re.compile(
    "(?<=[円回件人個本枚拍台])/(人|個|本|枚|台|回|日|週|月|年|時間|泊|名|世帯|分|秒|時|kWh|kg|km|m²|[hgL])(?![A-Za-z曜])"
)
_PERIODS: Final = {
    "月": "1か月",
    "週": "1週間",
    "h": "1時間",
    "kWh": "1キロワット時",
    "kg": "1キログラム",
    "km": "1キロメートル",
    "m²": "1平方メートル",
    "g": "1グラム",
    "L": "1リットル",
}
_TEMPI: Final = {"分": "毎分", "秒": "毎秒", "時": "毎時"}
_DISCOUNT: Final = re.compile("(?<=[%割円])引き(?![きくけ出上])")
_DEGREES: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>{NUMBER})(?P<inner> ?(?:°C?|℃))?(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END}"
    r" ?(?P<sign>℃|℉|° ?[CF](?![A-Za-z])|°)"
)
_RATE: Final = re.compile(r"(?<=\d)/(?P<each>μL|µL|mL|dL|L|m²|m2|km²|km2|min|h|s)(?![A-Za-z0-9])")
_DEGREE_SIGN: Final = re.compile("[°℃℉]")
_UNIT_LETTER: Final = re.compile("[0-9 千万億兆π][A-Za-zΩμµ]")
_SYMBOL: Final = r"(?P<{0}>[A-Za-zΩμµ]{{1,4}}+)(?P<{0}_power>[²³]|\^?[23](?!\d))?"
_MEASURE: Final = re.compile(
    rf"{NUMBER_START}(?P<lettered>(?<=[A-Za-z]))?{_MINUS}(?P<amount>{NUMBER})(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END}"
    rf" ?{_SCALE}{_SYMBOL.format('unit')}(?:/(?P<each>{_ANY_EACH}))?(?![A-Za-z0-9])"
)


# Behind a power of ten.
_RAISED: Final = re.compile(
    rf"(?:(?<=10[⁰¹²³⁴-⁹])|(?<=10[⁰¹²³⁴-⁹⁻][⁰¹²³⁴-⁹])|(?<=10⁻[⁰¹²³⁴-⁹]{{2}}))"
    rf" ?{_SYMBOL.format('unit')}(?:/(?P<each>{_ANY_EACH}))?(?![A-Za-z0-9])"
)
_POWER_OF_TEN: Final = re.compile("10[⁰¹²³⁴-⁹⁻]")
# Units without a figure, which touch a word: the price of a kWh.
_BARE: Final = re.compile(
    r"(?<=[\u3041-\u30ff\u4e00-\u9fff/])(?P<behind>kWh|mmHg|kcal|[GMk]?Hz|dB|[hkM]Pa|[MG]bps|mAh|k[gmWV]|[cmnμ]m|m[gLl])"
    r"(?![A-Za-z0-9/²³])|(?<![A-Za-z0-9./])(?P<before>kWh|mmHg|kcal|[GMk]?Hz|dB|[hkM]Pa|[MG]bps|mAh|k[gmWV]|[cmnμ]m|m[gLl])"
    r"(?=[\u3041-\u30ff\u4e00-\u9fff])"
)
_BARE_CUE: Final = re.compile("[GMkdhmcnμ][A-Za-z]")


def read_money(text: TrackedText) -> TrackedText:
    return text.sub(_MONEY, lambda match: _amounts(match) + match["scale"] + _CURRENCIES[match["sign"]])


def read_shares(text: TrackedText) -> TrackedText:
    """Percentages and parts per thousand, and what is taken off a price."""
    text = text.sub(_DISCOUNT, "びき")
    if "%" in text.text or "‰" in text.text:
        text = text.sub(_PERCENT, _share)
    return text.sub(
        _PER_HEAD, lambda match: _TEMPI.get(match[1]) or f"、{_PERIODS.get(match[1], f'1{match[1]}')}あたり"
    )


def _share(match: re.Match[str]) -> str:
    name = "パーセント" if match["sign"] == "%" else "パーミル"
    words = _amounts(match) + name
    return words.replace("から", f"{name}から") if match["inner"] else words


def read_units(text: TrackedText) -> TrackedText:
    """Temperatures, angles, and measures with a unit symbol."""
    if _DEGREE_SIGN.search(text.text):
        text = text.sub(_DEGREES, _degrees)
    if "/" in text.text:
        text = text.sub(_RATE, lambda match: _EACH[match["each"].replace("µ", "μ")])
    if _UNIT_LETTER.search(text.text):
        text = text.sub(_MEASURE, _measure)
    if _POWER_OF_TEN.search(text.text):
        text = text.sub(_RAISED, _raised)
    if _BARE_CUE.search(text.text) is None:
        return text
    return text.sub(_BARE, lambda match: _UNITS[match["behind"] or match["before"]])


def _amounts(match: re.Match[str]) -> str:
    words = ("マイナス" if match["minus"] else "") + number(match["amount"])
    return f"{words}から{number(match['upto'])}" if match["upto"] else words


def _degrees(match: re.Match[str]) -> str:
    words = _amounts(match)
    if match["inner"]:
        words = words.replace("から", "度から")
    return ("華氏" if "F" in match["sign"] or match["sign"] == "℉" else "") + words + "度"


def _raised(match: re.Match[str]) -> str | None:
    unit = _UNITS.get(match["unit"])
    if unit is None or (match["unit_power"] and match["unit"] not in _POWERED):
        return None
    return _POWERS.get(match["unit_power"] or "", "") + unit + (_EACH[match["each"]] if match["each"] else "")


def _measure(match: re.Match[str]) -> str | None:
    unit = _UNITS.get(match["unit"])
    if match["unit"] in _NAMES and _NAMED.search(match.string, max(0, match.start() - 4), match.start()):
        return None
    if match["lettered"] is not None and len(match["unit"]) == 1:
        return None
    if unit is None or (match["unit_power"] and match["unit"] not in _POWERED):
        return None
    unit = _POWERS.get(match["unit_power"] or "", "") + unit
    if match["each"]:
        unit += _EACH[match["each"]]
    return _amounts(match) + match["scale"] + unit
