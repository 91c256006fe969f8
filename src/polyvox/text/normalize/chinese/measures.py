"""Measures with the symbols of their units."""

import re
from typing import Final

from polyvox.text.normalize.chinese import degrees
from polyvox.text.normalize.chinese.amounts import MINUS, SCALE, amounts
from polyvox.text.normalize.chinese.numbers import DASH, NUMBER, NUMBER_END, NUMBER_START, counted, number
from polyvox.text.normalize.chinese.storage import is_room
from polyvox.text.normalize.chinese.unit_names import IN_COMPOUNDS, POWERED, POWERS, TIMES, UNITS, unit_name
from polyvox.text.tracked import TrackedText

_HOURS_MINUTES: Final = re.compile(r"(?<![\dA-Za-z.])(\d{1,3}) ?[hH] ?(\d{1,2}) ?(?:min|m)(?![A-Za-z0-9/])")
_MINUTES_SECONDS: Final = re.compile(r"(?<![\dA-Za-z.])(\d{1,3}) ?(?:min|m) ?(\d{1,2}) ?s(?![A-Za-z0-9/])")
_PER_UNIT: Final = re.compile(
    r"(?:(?<=[方个次升克粒元块镑朗铢盾郎万亿千百滴片支转圈步下字件人台辆桶粒株])|(?<=\d)(?=/(?:h|kg|min)(?![A-Za-z])))/(?P<unit>[A-Za-zμµ]{1,3})(?P<power>[²³])?(?![A-Za-z0-9])"
)
_PER_DEGREE: Final = re.compile("(?<=[方克焦瓦0-9])/(?:℃|°C)")
_PER_HUNDRED: Final = re.compile(r"(?<=[A-Za-z\u4e00-\u9fff])/100 ?(m[Ll]|g|kg|km)(?![A-Za-z0-9])")
# Length, width and height: 4,750/1,921/1,624mm.
# Pressure by a column of water: 12cmH2O.
_WATER: Final = re.compile(r"(?<=\d) ?([cm]m)H[2₂]O(?![A-Za-z0-9])")
# A unit below the line, by the power that it has: m·s⁻², 50s⁻¹.
_DIVISOR: Final = re.compile(
    r"(?<=[A-Za-zμΩ²³¹])[·⋅ ](?P<unit>[A-Za-zμ]{1,4})(?:⁻|\^-)(?P<power>[¹²³123])(?!\d)"
    r"|(?<=[\d⁰¹²³⁴-⁹]) ?(?P<only>[A-Za-zμ]{1,4})(?:⁻|\^-)[¹1](?![\d¹²³])"
)
# So many times pi of a unit: 3πcm².
_OF_CIRCLE: Final = re.compile("(?<=π) ?(?P<unit>[cdkm]?m|rad|s|Hz)(?P<power>[²³])?(?![A-Za-z0-9²³])")
_SIDES: Final = re.compile(r"(?<![\d./,])(?:\d{3,4}|\d,\d{3})(?:/(?:\d{3,4}|\d,\d{3})){2}(?= ?(?:mm|cm|毫米|厘米))")
_MONTHLY: Final = re.compile(r"(?<=[²㎡米])[·⋅•/](?=[月年日天季周])")
# The unit behind a sum and its error: (3.25±0.05)cm.
_BRACKETED: Final = re.compile(r"(?<=\d\))[A-Za-zμ]{1,3}[²³]?(?![A-Za-z0-9])")
_AMPERES: Final = re.compile(
    r"(?<=\d\.\d)A(?![A-Za-z0-9])|(?:(?<=\dV/)|(?<=\dV )|(?<=\d伏/)|(?<=\d[伏V], )"
    r"|(?<=电流)|(?<=电流[为是约达])|(?<=I=)|(?<=断路器)|(?<=空开)|(?<=保险丝)|(?<=插座)|(?<=额定))(\d{1,3})A(?![A-Za-z0-9])"
    r"|(?<![\dA-Za-z])(\d{1,3})A(?=断路器|空开|空气开关|保险|插[座头]|熔断|电流|快充|充电)"
)
_UNIT_LETTER: Final = re.compile("[0-9 千百万亿兆多][A-Za-zμµΩ]")
_SYMBOL: Final = r"[A-Za-zμµΩ]{1,6}+(?:[²³]|\^?[23](?!\d))?"
_FACTOR: Final = rf"(?:{_SYMBOL}|℃)"
_PRODUCT: Final = rf"{_FACTOR}(?:[·⋅•]{_FACTOR}){{1,2}}"
# "m/s", "N·m", "kWh/100km", "mg/kg/d", "W/(m²·K)"
_COMPOUND: Final = (
    rf"(?P<unit>{_SYMBOL}(?:(?:[·⋅•]|(?<=N)\.(?=m)){_SYMBOL})?)"
    rf"(?P<per>(?:/(?:\({_PRODUCT}\)|100(?=km|kg|g|m[lL²]){_SYMBOL}|{_FACTOR}(?:[·⋅•]{_FACTOR})?)){{1,2}})?"
)
_PART: Final = re.compile(r"(?P<hundred>100)?(?P<symbol>[A-Za-zμµΩ℃]{1,6})(?P<power>[²³]|\^?[23])?")
_MEASURE: Final = re.compile(
    rf"{NUMBER_START}(?<!√\()(?<![A-Za-z](?=\d{{1,2}}s))"
    rf"(?<![A-Z](?=\d{{3,4}}[MGTK](?![A-Za-z])))(?<![\u4e00-\u9fff ][A-Z](?=\d{{1,2}}[NLHVWJ](?![A-Za-z])))"
    rf"{MINUS}(?P<amount>{NUMBER})"
    rf"(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END} ?{SCALE}{_COMPOUND}(?![A-Za-z0-9])"
)
_MORE_OF_UNIT: Final = re.compile(
    r"(?:(?<=\d0)|(?<=\d[百千万亿]))(?<!\.\d0) ?\+ ?"
    r"(?=(?:[kcm]?m|km²|m²|㎡|[kKMGTP]B|m[lL]|[km]?g|h|min|kWh?|MW|GW)(?![A-Za-z0-9]))"
)
# So many months' pay, which is written as N: 赔偿金(2N).
_SEVERANCE: Final = re.compile("赔|补偿|裁员|离职|辞退|遣散|解除|解雇|工龄|[Nn]\\+\\d")
# What is pulled, pressed or borne; elsewhere the letter is no newton.
_FORCE_REACH: Final = 80
_FORCE: Final = re.compile("力|[拉推压扭提顶]|牛|物体|弹簧|重|载|荷|静摩擦|[FG]\\d? ?=|k?N/|m/s")
# So many times the pull of the earth.
_GRAVITY: Final = re.compile("(?:重力|过载|加速度|引力)[^,.;!?，。；]{0,6}\\Z")
# Letters of a model before its figures: KFR-35GW.
_MODEL: Final = re.compile("[A-Z]{2}-\\Z")
_INTEREST: Final = re.compile("[利息债汇]率?|收益|差|[上下][调行]|LPR|MLF|国债|美联储|央行")
_GENES: Final = re.compile("DNA|RNA|基因|碱基|序列|引物|PCR|测序|螺旋")
# Of how many nobody knows yet: 还剩多少mL.
_ASKED_UNIT: Final = re.compile("(?:(?<=多少)|(?<=[几每]))(?:[km]?g|[kcm]m|m?[lL]|kcal|k[Ww]h?|dB|Hz)(?![A-Za-z0-9])")
# From one measure to another, each with its unit: 20Hz-40kHz.
_MEASURES_UNTIL: Final = re.compile("(?<=[兹赫米克升瓦伏安帕秒钟斤吨里])[-–—~～](?=[零一二两三四五六七八九十])")
# Parts of a second: 1/250s.
_SHUTTER: Final = re.compile(r"(?<![\d./])1/(?P<part>\d{2,5}) ?(?:s|秒)(?![A-Za-z0-9])")
_RAISED_SIGN: Final = re.compile("[\\^⁰¹²³⁴-⁹]")
# The unit of a power: "3×10^8m/s".
_POWER: Final = r"(?P<power>\d(?:\^-?\d{1,3}|⁻?[⁰¹²³⁴-⁹]{1,3}))"
_RAISED: Final = re.compile(rf"{_POWER} ?{_COMPOUND}(?![A-Za-z0-9])")
_RAISED_DEGREES: Final = re.compile(rf"{_POWER} ?(?:℃|° ?C(?![A-Za-z]))")


def read_units(text: TrackedText) -> TrackedText:
    """Temperatures, angles, and measures with a unit symbol."""
    text = degrees.read_strokes(degrees.read(_read_powers(text)))
    if "±" in text.text:
        text = text.sub(_BRACKETED, lambda match: _product(match.group(), compound=False))
    if "+" in text.text:
        text = text.sub(_MORE_OF_UNIT, "多")
    if _UNIT_LETTER.search(text.text) is None:
        return text
    if "A" in text.text:
        text = text.sub(_AMPERES, lambda match: f"{match[1] or match[2] or ''}安")
    text = text.sub(_HOURS_MINUTES, lambda match: f"{counted(match[1])}小时{counted(match[2])}分钟")
    text = text.sub(_MINUTES_SECONDS, lambda match: f"{counted(match[1])}分{counted(match[2])}秒")
    return text.sub(_SHUTTER, _shutter).sub(_MEASURE, _measure).sub(_MEASURES_UNTIL, "到")


def _read_powers(text: TrackedText) -> TrackedText:
    """Units with powers of their own or behind powers of ten, and lengths of sides."""
    if "⁻" in text.text or "^-" in text.text:
        text = text.sub(_DIVISOR, _divisor)
    if "π" in text.text:
        text = text.sub(_OF_CIRCLE, lambda match: _product(match.group().strip(), compound=True))
    if "mH" in text.text:
        text = text.sub(_WATER, lambda match: UNITS[match[1]] + "水柱")
    if "/" in text.text:
        text = text.sub(_SIDES, lambda match: ", ".join(match.group().split("/")))
    if _RAISED_SIGN.search(text.text):
        text = text.sub(_MONTHLY, "每").sub(_RAISED, _raised).sub(_RAISED_DEGREES, r"\g<power>摄氏度")
    return text


def read_asked_units(text: TrackedText) -> TrackedText:
    """A unit symbol behind a word that asks for its number."""
    return text.sub(_ASKED_UNIT, lambda match: unit_name(match.group()))


def read_rates(text: TrackedText) -> TrackedText:
    """A unit symbol that something in words is divided by."""
    text = text.sub(_PER_DEGREE, "每摄氏度").sub(_PER_HUNDRED, lambda match: f"每一百{unit_name(match[1])}")
    return text.sub(_PER_UNIT, _per_unit)


def _divisor(match: re.Match[str]) -> str | None:
    if match["only"]:
        unit = unit_name(match["only"])
        return f"每{unit}" if unit else None
    return f"/{match['unit']}{'' if match['power'] in '¹1' else match['power']}"


def _per_unit(match: re.Match[str]) -> str | None:
    unit = unit_name(match["unit"]) or TIMES.get(match["unit"])
    return f"每{POWERS.get(match['power'] or '', '')}{unit}" if unit else None


def _shutter(match: re.Match[str]) -> str:
    return f"{number(match['part'])}分之一秒"


def _measure(match: re.Match[str]) -> str | None:
    if match["unit"].endswith("W") and _MODEL.search(match.string, 0, match.start("amount")):
        return None
    if match["unit"] == "N" and not match["per"] and not _is_force(match):
        return None
    if match["unit"] == "g" and _GRAVITY.search(match.string, 0, match.start("amount")):
        return amounts(match) + "G"
    if match["unit"] in ("g", "m", "t") and not match["per"] and is_room(match):
        return amounts(match) + match["scale"] + match["unit"].upper()
    unit = _named(match)
    if unit is None and match["per"]:
        alone = _product(match["unit"], compound=False)
        return amounts(match) + match["scale"] + alone + match["per"] if alone else None
    return amounts(match) + match["scale"] + unit if unit else None


def _is_force(match: re.Match[str]) -> bool:
    """Return whether N is for newtons, and not for months of pay or any number."""
    near = match.string[max(0, match.start() - _FORCE_REACH) : match.end() + _FORCE_REACH]
    return _SEVERANCE.search(near) is None and _FORCE.search(near) is not None


def _raised(match: re.Match[str]) -> str | None:
    unit = _named(match) or (None if match["per"] else IN_COMPOUNDS.get(match["unit"]))
    return match["power"] + unit if unit else None


def _named(match: re.Match[str]) -> str | None:
    """The words of a unit; what counts in money counts pairs of bases where genes are spoken of."""
    if match["unit"] == "bps" and _INTEREST.search(match.string):
        return "个基点"
    return "个碱基对" if match["unit"] == "bp" and _GENES.search(match.string) else _units(match)


def _units(match: re.Match[str]) -> str | None:
    """A unit or a product of units, and the units that it is divided by."""
    unit, per = match["unit"], match["per"] or ""
    compound = bool(per) or not unit.rstrip("23").isalpha()
    names = [_product(part, compound) for part in (unit, *per.split("/")[1:])]
    return "每".join(name for name in names if name) if all(names) else None


def _product(written: str, compound: bool) -> str | None:
    """The names of units that are multiplied, with their powers."""
    words = ""
    for part in _PART.finditer(written):
        symbol, power = part["symbol"], part["power"]
        name = (IN_COMPOUNDS.get(symbol) if compound else None) or unit_name(symbol)
        if name is None or (power and not (compound or symbol in POWERED)):
            return None
        words += ("百" if part["hundred"] else "") + POWERS.get(power or "", "") + name
    return words
