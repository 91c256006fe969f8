"""Money, percentages, temperatures and measures."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import DASH, NUMBER, NUMBER_END, NUMBER_START, counted, number, spelled
from polyvox.text.normalize.chinese.storage import is_room
from polyvox.text.tracked import TrackedText

_CURRENCIES: Final = {
    "¥": "元",
    "￥": "元",
    "$": "美元",
    "US$": "美元",
    "HK$": "港元",
    "€": "欧元",
    "£": "英镑",
    "￡": "英镑",
    "₩": "韩元",
    "₽": "卢布",
    "₹": "卢比",
    "RMB": "元",
    "CNY": "元",
    "USD": "美元",
    "EUR": "欧元",
    "GBP": "英镑",
    "JPY": "日元",
    "HKD": "港元",
    "RM": "令吉",
    "MYR": "令吉",
    "S$": "新元",
    "SGD": "新元",
    "NT$": "新台币",
    "TWD": "新台币",
    "A$": "澳元",
    "AUD": "澳元",
    "C$": "加元",
    "CAD": "加元",
    "THB": "泰铢",
    "฿": "泰铢",
}
_UNITS: Final = {
    "mm": "毫米",
    "cm": "厘米",
    "dm": "分米",
    "m": "米",
    "km": "公里",
    "nm": "纳米",
    "Nm": "牛米",
    "μm": "微米",
    "ft": "英尺",
    "in": "英寸",
    "mg": "毫克",
    "g": "克",
    "kg": "千克",
    "t": "吨",
    "lb": "磅",
    "oz": "盎司",
    "ml": "毫升",
    "mmol": "毫摩尔",
    "mol": "摩尔",
    "μmol": "微摩尔",
    "μg": "微克",
    "ng": "纳克",
    "pg": "皮克",
    "kmol": "千摩尔",
    "nmol": "纳摩尔",
    "pmol": "皮摩尔",
    "dL": "分升",
    "μL": "微升",
    "IU": "国际单位",
    "mIU": "毫国际单位",
    "mmHg": "毫米汞柱",
    "L": "升",
    "ms": "毫秒",
    "μs": "微秒",
    "ns": "纳秒",
    "s": "秒",
    "min": "分钟",
    "h": "小时",
    "H": "小时",
    "Hz": "赫兹",
    "kHz": "千赫",
    "MHz": "兆赫",
    "GHz": "吉赫",
    "THz": "太赫",
    "W": "瓦",
    "kW": "千瓦",
    "MW": "兆瓦",
    "GW": "吉瓦",
    "mW": "毫瓦",
    "Wh": "瓦时",
    "kWh": "千瓦时",
    "MWh": "兆瓦时",
    "GWh": "吉瓦时",
    "TWh": "太瓦时",
    "kVA": "千伏安",
    "MVA": "兆伏安",
    "V": "伏",
    "kV": "千伏",
    "mV": "毫伏",
    "mA": "毫安",
    "μA": "微安",
    "kA": "千安",
    "Ah": "安时",
    "mAh": "毫安时",
    "dB": "分贝",
    "Pa": "帕",
    "kPa": "千帕",
    "hPa": "百帕",
    "MPa": "兆帕",
    "GPa": "吉帕",
    "TPa": "太帕",
    "μH": "微亨",
    "mH": "毫亨",
    "nH": "纳亨",
    "N": "牛",
    "kN": "千牛",
    "MN": "兆牛",
    "kΩ": "千欧",
    "MΩ": "兆欧",
    "Ω": "欧姆",
    "μF": "微法",
    "nF": "纳法",
    "pF": "皮法",
    "lm": "流明",
    "lx": "勒克斯",
    "eV": "电子伏",
    "keV": "千电子伏",
    "MeV": "兆电子伏",
    "GeV": "吉电子伏",
    "TW": "太瓦",
    "atm": "个大气压",
    "pct": "个百分点",
    "kDa": "千道尔顿",
    "kgf": "千克力",
    "kpc": "千秒差距",
    "Mpc": "兆秒差距",
    "mT": "毫特",
    "μT": "微特",
    "mGy": "毫戈瑞",
    "fL": "飞升",
    "mSv": "毫西弗",
    "μSv": "微西弗",
    "Mbit": "兆比特",
    "Gbit": "吉比特",
    "kcal": "千卡",
    "cal": "卡",
    "kJ": "千焦",
    "J": "焦",
    "MJ": "兆焦",
    "GJ": "吉焦",
    "ha": "公顷",
    "mph": "英里每小时",
    "kph": "公里每小时",
    "rpm": "转每分钟",
    "px": "像素",
    "bpm": "次每分钟",
    "bp": "个基点",
    "bar": "巴",
    "tsp": "茶匙",
    "tbsp": "汤匙",
    "mbar": "毫巴",
    "nit": "尼特",
    "nits": "尼特",
    "lux": "勒克斯",
    "ug": "微克",
    "uL": "微升",
    "um": "微米",
    "umol": "微摩尔",
    "uA": "微安",
    "mEq": "毫当量",
    "hr": "小时",
    "hrs": "小时",
    "mins": "分钟",
    "sec": "秒",
    "kWp": "千瓦",
    "MWp": "兆瓦",
    "GWp": "吉瓦",
    "kvar": "千乏",
    "Mvar": "兆乏",
    "dBm": "分贝毫瓦",
    "bps": "比特每秒",
    "mpg": "英里每加仑",
}
_POWERS: Final = {"²": "平方", "2": "平方", "^2": "平方", "³": "立方", "3": "立方", "^3": "立方"}
_TIMES: Final = {"d": "天", "w": "周", "y": "年"}
_POWERED: Final = frozenset(("mm", "cm", "dm", "m", "km", "ft", "in"))
# Units only beside others, since alone they are as often grades, names or models.
_IN_COMPOUNDS: Final = {
    "A": "安",
    "C": "库",
    "K": "开",
    "d": "天",
    "U": "单位",
    "cd": "坎德拉",
    "Mb": "兆比特",
    "Gb": "吉比特",
    "lbf": "磅力",
    "r": "转",
    "Sv": "西弗",
    "Gy": "戈瑞",
    "Bq": "贝克勒尔",
    "℃": "摄氏度",
}
# Read by their letters, in these capitals.
_LETTERED: Final = (
    "KB",
    "MB",
    "GB",
    "TB",
    "PB",
    "M",
    "G",
    "T",
    "Mbps",
    "Gbps",
    "kbps",
    "fps",
    "dpi",
    "ppm",
    "ppi",
    "psi",
    "cc",
    "TOPS",
    "ANSI",
    "MP",
    "ppb",
    "AU",
    "QPS",
    "TPS",
    "TFLOPS",
    "PFLOPS",
    "GFLOPS",
    "EFLOPS",
    "FLOPS",
    "IOPS",
    "MIPS",
)
_ANY_CASE: Final = {unit.lower(): name for unit, name in reversed(_UNITS.items()) if len(unit) > 1} | {
    "l": "升",
    "v": "伏",
}
del _ANY_CASE["ev"]  # EV are steps of light, and cars
_LETTERED_ANY_CASE: Final = {unit.lower(): unit for unit in _LETTERED if len(unit) > 1}
_EXACT: Final = _UNITS | {unit: unit for unit in _LETTERED}

_MINUS: Final = r"(?P<minus>(?<![\dA-Za-z])-)?"
_SIGN: Final = "|".join(re.escape(sign) for sign in sorted(_CURRENCIES, key=len, reverse=True))
_SCALE: Final = "(?P<scale>[千百万亿兆]{0,3}多?)"
_MONEY_BEFORE: Final = re.compile(
    rf"(?:(?<![A-Za-z])|(?=[¥￥€£])){_MINUS}(?P<sign>{_SIGN}) ?"
    rf"(?P<below>-)?(?P<amount>{NUMBER})(?:{DASH}(?:(?P=sign))?(?P<upto>{NUMBER}))?"
    rf"{NUMBER_END} ?{_SCALE}(?P<named>日元|港元|美元|台币)?元?"
)
_MONEY_BEHIND: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>{NUMBER})(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END} ?{_SCALE}"
    r" ?(?P<sign>[¥￥€£]|\$(?![A-Za-z\d])|(?:RMB|CNY|USD|EUR|GBP|JPY|HKD|MYR|SGD|TWD|AUD|CAD|THB)(?![A-Za-z]))"
)
_HOURS_MINUTES: Final = re.compile(r"(?<![\dA-Za-z.])(\d{1,3}) ?[hH] ?(\d{1,2}) ?(?:min|m)(?![A-Za-z0-9/])")
_MINUTES_SECONDS: Final = re.compile(r"(?<![\dA-Za-z.])(\d{1,3}) ?(?:min|m) ?(\d{1,2}) ?s(?![A-Za-z0-9/])")
_PER_UNIT: Final = re.compile(
    r"(?<=[方个次升克粒元块万亿千百滴片支转圈步下字件人台辆桶粒株])/(?P<unit>[A-Za-zμµ]{1,3})(?P<power>[²³])?(?![A-Za-z0-9])"
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
_SIDES: Final = re.compile(r"(?<![\d./,])(?:\d{3,4}|\d,\d{3})(?:/(?:\d{3,4}|\d,\d{3})){2}(?= ?(?:mm|cm|毫米|厘米))")
_MONTHLY: Final = re.compile(r"(?<=[²㎡米])[·⋅•/](?=[月年日天季周])")
_THOUSANDS: Final = re.compile(
    rf"{NUMBER_START}(?<![A-Za-z])(?P<amount>\d{{1,3}}(?:\.\d)?)"
    rf"(?:[kK]{DASH}(?P<upto>\d{{1,3}}(?:\.\d)?)[kK]|k"
    rf"|{DASH}(?P<last>\d{{1,2}})[kK](?=[·•*×]\d|/月|薪|左右|[,，。.]|\Z))"
    r"(?![A-Za-z0-9Ω])(?!/(?!月))"
)
# Months that are paid for in a year: 20-35K·15薪.
_PAYS: Final = re.compile(r"(?<=[kK])[·•](?=\d\d薪)")
_TEN_THOUSANDS: Final = re.compile(rf"(?<=\d)(?<![A-Za-z]\d)w(?=\+|{DASH}\d|[^A-Za-z0-9/]|/m²|/[\u4e00-\u9fff]|\Z)")
# A thousand or ten thousand and so many hundreds or thousands: 1k2, 3w5.
_AND_PART: Final = re.compile(r"(?<![A-Za-z\d.,_-])(\d{1,2})([kw])([1-9])(?![A-Za-z\d._-])")
_SHORTENED: Final = re.compile(
    rf"(?<![A-Za-z])(?P<sign>{_SIGN}) ?(?P<amount>\d{{1,4}}(?:\.\d{{1,3}})?) ?(?P<scale>[KkMmBbT]|bn)(?![A-Za-z0-9])"
)
_CURRENCY_SIGN: Final = re.compile("[¥￥$€£￡₩₽₹฿]|R[MB]|[A-Z]{3}")
_MANY: Final = re.compile("[0-9][kKw]")
_PARTS: Final = {"k": "千", "w": "万"}
_POWERS_OF_TEN: Final = {"k": 3, "m": 6, "b": 9, "bn": 9, "t": 12}
_IDLE_NOUGHTS: Final = re.compile(r"(?<=\d)(?:\.00?|(?<=\.\d)0)(?= ?(?:[元块]|[美欧港日加澳]元|英镑|令吉))")
_PERCENT: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>{NUMBER})(?P<inner> ?[%‰])?"
    rf"(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END} ?(?P<sign>[%‰])"
    r"(?:/(?P<per>[天周次晚期笔单]|日(?!均|利)|月(?!薪|利|均)|年度?(?![化终会均利])|小时|分钟|秒|季度?|(?:h|d|min)(?![A-Za-z])))?"
)
_DEGREES: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>{NUMBER})(?: ?(?:°[CF]?|[℃℉]))?"
    rf"(?:{DASH}(?P<below>-)?\+?(?P<upto>{NUMBER}))?{NUMBER_END} ?(?P<sign>℃|℉|° ?[CF](?![A-Za-z])|°)"
)
_IN_PROPORTION: Final = re.compile(r"(?<=%) ?: ?(?=\d{1,3}(?:\.\d{1,4})?%)")
_MYRIAD_DEGREES: Final = re.compile(r"(?<=[万亿]) ?(?:℃|° ?C(?![A-Za-z]))")
_DEGREE_SIGN: Final = re.compile("[°℃℉′]|度[0-9]")
_GROWTH: Final = re.compile(r"(?<=[同环]比) ?\+ ?(?=\d)")
_WHOLE: Final = 100
_PACE: Final = re.compile(
    r"(?<![\d.'′°度高])(?<!高[:： 是])(?P<minutes>\d{1,2})['′](?P<seconds>[0-5]\d)(?:[\"″]|'')"
    r"(?P<rest>\d{1,3})?(?P<per>/(?:km|公里))?(?![\dA-Za-z])"
)
_MATCH_MINUTE: Final = re.compile(
    r"(?<![\d.'′])(?P<minute>\d{1,3})(?:\+(?P<added>\d{1,2}))?['′]"
    r"(?:(?<=第\d')|(?<=第\d\d')|(?=[进破各入攻射头助扳绝染吃换替红黄补推远闪]|点球|任意|乌龙|首开|, ?\d{1,3}['′]))"
)
# Seconds and parts of one: 12"64.
_SECONDS: Final = re.compile(r"(?<![\d.'′\"″])(?P<seconds>\d{1,2})[\"″](?P<rest>\d{2,3})(?![\dA-Za-z])")
# Minutes, and points of an examination, where no quotation ends: 课间10', 每题2'.
_LONE_MINUTES: Final = re.compile(
    r"(?<![A-Za-z\d.'′高])(?<!高[:： 是])(?P<minutes>\d{1,2})['′](?=[,，。;；)、\u4e00-\u9fff]|$)"
)
_QUOTED: Final = re.compile(r"(?<!\d)['‘]")
# The unit behind a sum and its error: (3.25±0.05)cm.
_BRACKETED: Final = re.compile(r"(?<=\d\))[A-Za-zμ]{1,3}[²³]?(?![A-Za-z0-9])")
_AMPERES: Final = re.compile(
    r"(?<=\d\.\d)A(?![A-Za-z0-9])|(?:(?<=电流)|(?<=电流[为是约达])|(?<=I=)|(?<=断路器)|(?<=空开)|(?<=保险丝)|(?<=插座)|(?<=额定))(\d{1,3})A(?![A-Za-z0-9])"
    r"|(?<![\dA-Za-z])(\d{1,3})A(?=断路器|空开|空气开关|保险|插[座头]|熔断|电流|快充|充电)"
)
_UNIT_LETTER: Final = re.compile("[0-9 千百万亿兆多][A-Za-zμµΩ]")
_MINUTES: Final = re.compile(r"(?<=[°度])(?P<minutes>[0-5]?\d)[′'](?:(?P<seconds>[0-5]?\d)[″\"])?")
_INCHES: Final = re.compile(r"(?:(?<=[^\d.'′分度°][1-9]\d)|(?<=\d\.\d))[\"″](?![\d\w])")
_PRIME: Final = re.compile("[0-9]['′]")
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
    rf"(?<![A-Z](?=\d{{3,4}}[MGTK](?![A-Za-z])))(?<![\u4e00-\u9fff ][A-Z](?=\d{{1,2}}[NL](?![A-Za-z])))"
    rf"{_MINUS}(?P<amount>{NUMBER})"
    rf"(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END} ?{_SCALE}{_COMPOUND}(?![A-Za-z0-9])"
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


def read_money(text: TrackedText) -> TrackedText:
    """Sums with a sign or a code, and wages from so many thousands to so many."""
    if "." in text.text:
        text = text.sub(_IDLE_NOUGHTS, "")
    if _CURRENCY_SIGN.search(text.text):
        text = text.sub(_SHORTENED, _written_out).sub(_MONEY_BEFORE, _money).sub(_MONEY_BEHIND, _money)
    if _MANY.search(text.text) is None:
        return text
    text = text.sub(_AND_PART, lambda match: f"{counted(match[1])}{_PARTS[match[2]]}{number(match[3])}")
    return text.sub(_PAYS, ", ").sub(_TEN_THOUSANDS, "万").sub(_THOUSANDS, _thousands)


def read_shares(text: TrackedText) -> TrackedText:
    """Percentages and parts per thousand."""
    if "%" not in text.text and "‰" not in text.text:
        return text
    return text.sub(_IN_PROPORTION, "比").sub(_GROWTH, "增长").sub(_PERCENT, _percent)


def read_units(text: TrackedText) -> TrackedText:
    """Temperatures, angles, and measures with a unit symbol."""
    if "⁻" in text.text or "^-" in text.text:
        text = text.sub(_DIVISOR, _divisor)
    if "mH" in text.text:
        text = text.sub(_WATER, lambda match: _UNITS[match[1]] + "水柱")
    if "/" in text.text:
        text = text.sub(_SIDES, lambda match: ", ".join(match.group().split("/")))
    if _RAISED_SIGN.search(text.text):
        text = text.sub(_MONTHLY, "每").sub(_RAISED, _raised).sub(_RAISED_DEGREES, r"\g<power>摄氏度")
    if _DEGREE_SIGN.search(text.text):
        text = text.sub(_MINUTES, _minutes).sub(_DEGREES, _degrees).sub(_MYRIAD_DEGREES, "摄氏度")
    text = _read_primes(text)
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


def _read_primes(text: TrackedText) -> TrackedText:
    """Inches, minutes and seconds by the strokes that stand for them."""
    if text.text.count('"') == 1 or "″" in text.text:
        text = text.sub(_INCHES, "英寸")
    if _PRIME.search(text.text):
        text = text.sub(_PACE, _pace).sub(_MATCH_MINUTE, _match_minute)
        text = text if _QUOTED.search(text.text) else text.sub(_LONE_MINUTES, r"\1分")
    if '"' in text.text or "″" in text.text:
        text = text.sub(_SECONDS, lambda match: f"{counted(match['seconds'])}秒{spelled(match['rest'])}")
    return text


def read_asked_units(text: TrackedText) -> TrackedText:
    """A unit symbol behind a word that asks for its number."""
    return text.sub(_ASKED_UNIT, lambda match: _unit(match.group()))


def read_rates(text: TrackedText) -> TrackedText:
    """A unit symbol that something in words is divided by."""
    text = text.sub(_PER_DEGREE, "每摄氏度").sub(_PER_HUNDRED, lambda match: f"每一百{_unit(match[1])}")
    return text.sub(_PER_UNIT, _per_unit)


def _divisor(match: re.Match[str]) -> str | None:
    if match["only"]:
        unit = _unit(match["only"])
        return f"每{unit}" if unit else None
    return f"/{match['unit']}{'' if match['power'] in '¹1' else match['power']}"


def _per_unit(match: re.Match[str]) -> str | None:
    unit = _unit(match["unit"]) or _TIMES.get(match["unit"])
    return f"每{_POWERS.get(match['power'] or '', '')}{unit}" if unit else None


def _amounts(match: re.Match[str], negative: str = "负") -> str:
    """The number or range in front of a unit."""
    words = (negative if match["minus"] else "") + counted(match["amount"])
    return f"{words}到{counted(match['upto'])}" if match["upto"] else words


def _money(match: re.Match[str]) -> str:
    """A sum; the noughts that fill up a price are not read."""
    amount = match["amount"]
    if "." in amount and not match["scale"]:
        amount = amount.rstrip("0").rstrip(".")
    words = ("负" if match["minus"] or match.groupdict().get("below") else "") + counted(amount)
    if _CURRENCIES[match["sign"]] == "令吉" and not match["upto"] and not match["scale"]:
        return ("负" if match["minus"] else "") + _ringgit(amount)
    if match["upto"]:
        words += ("减" if match.string.endswith("满", 0, match.start()) else "到") + counted(match["upto"])
    named = match.groupdict().get("named")
    return words + match["scale"] + (named or _CURRENCIES[match["sign"]])


def _thousands(match: re.Match[str]) -> str:
    return "到".join(number(str(round(float(match[end]) * 1000))) for end in ("amount", "upto", "last") if match[end])


def _written_out(match: re.Match[str]) -> str:
    whole, _, decimals = match["amount"].partition(".")
    return match["sign"] + whole.lstrip("0") + decimals.ljust(_POWERS_OF_TEN[match["scale"].lower()], "0")


def _ringgit(amount: str) -> str:
    """Ringgit and sen, as Malaysians say them in Mandarin."""
    whole, _, decimals = amount.replace(",", "").partition(".")
    if len(decimals) > 2:
        return f"{number(amount)}令吉"
    sen = f"{number(decimals.ljust(2, '0').lstrip('0'))}仙" if decimals.strip("0") else ""
    return sen if sen and not int(whole) else f"{counted(whole)}令吉{sen}"


def _percent(match: re.Match[str]) -> str:
    share = "百分之" if match["sign"] == "%" else "千分之"
    words = ("负" if match["minus"] else "") + share + number(match["amount"])
    if match["per"]:
        words = f"每{_unit(match['per']) or _IN_COMPOUNDS.get(match['per']) or match['per']}{words}"
    if not match["upto"]:
        return words
    first, last = (float(match[end].replace(",", "")) for end in ("amount", "upto"))
    parts = (
        match["inner"]
        and first >= last
        and float(match["amount"].replace(",", "")) + float(match["upto"].replace(",", "")) == _WHOLE
    )
    return f"{words}{'比' if parts else '到'}{share if match['inner'] else ''}{number(match['upto'])}"


def _degrees(match: re.Match[str]) -> str:
    sign = match["sign"]
    name = "摄氏度" if sign == "℃" or "C" in sign else "华氏度" if sign == "℉" or "F" in sign else "度"
    if match["minus"] and match["upto"] and not match["below"] and name != "度":
        return f"零下{number(match['amount'])}{name}到{number(match['upto'])}{name}"
    words = _amounts(match, negative="零下" if name != "度" else "负")
    if match["upto"] and match["amount"] == "2" and name != "度":
        words = words.replace("两", "二", 1)  # a scale is read along: 二到八摄氏度
    if match["below"]:
        words = words.replace("到", "到零下")
    return words + name


def _minutes(match: re.Match[str]) -> str:
    """Minutes and seconds of an angle."""
    return f"{number(match['minutes'])}分" + (f"{number(match['seconds'])}秒" if match["seconds"] else "")


def _pace(match: re.Match[str]) -> str:
    """Minutes and seconds of a run, for each kilometre where that is written."""
    words = f"{counted(match['minutes'])}分{number(str(int(match['seconds'])))}秒{spelled(match['rest'] or '')}"
    return f"{words}每公里" if match["per"] else words


def _match_minute(match: re.Match[str]) -> str:
    added = f"加{number(match['added'])}" if match["added"] else ""
    return f"{number(match['minute'])}{added}分钟"


def _shutter(match: re.Match[str]) -> str:
    return f"{number(match['part'])}分之一秒"


def _measure(match: re.Match[str]) -> str | None:
    if match["unit"].endswith("W") and _MODEL.search(match.string, 0, match.start("amount")):
        return None
    if match["unit"] == "N" and not match["per"] and not _is_force(match):
        return None
    if match["unit"] == "g" and _GRAVITY.search(match.string, 0, match.start("amount")):
        return _amounts(match) + "G"
    if match["unit"] in ("g", "m", "t") and not match["per"] and is_room(match):
        return _amounts(match) + match["scale"] + match["unit"].upper()
    unit = _named(match)
    return _amounts(match) + match["scale"] + unit if unit else None


def _is_force(match: re.Match[str]) -> bool:
    """Return whether N is for newtons, and not for months of pay or any number."""
    near = match.string[max(0, match.start() - _FORCE_REACH) : match.end() + _FORCE_REACH]
    return _SEVERANCE.search(near) is None and _FORCE.search(near) is not None


def _raised(match: re.Match[str]) -> str | None:
    unit = _named(match) or (None if match["per"] else _IN_COMPOUNDS.get(match["unit"]))
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
        name = (_IN_COMPOUNDS.get(symbol) if compound else None) or _unit(symbol)
        if name is None or (power and not (compound or symbol in _POWERED)):
            return None
        words += ("百" if part["hundred"] else "") + _POWERS.get(power or "", "") + name
    return words


def _unit(symbol: str) -> str | None:
    """The name of a unit; in other capitals too where that makes no other unit of it."""
    symbol = symbol.replace("µ", "μ")
    folded = symbol.lower()
    return _EXACT.get(symbol) or _ANY_CASE.get(folded) or _LETTERED_ANY_CASE.get(folded)
