"""Money, measures, percentages and degrees of the Romance languages."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import Gender, Noun, RomanceCurrency, RomanceLanguage
from polyvox.text.normalize.romance.measures.ranges import Ranges
from polyvox.text.normalize.romance.measures.units import any_unit
from polyvox.text.normalize.romance.numbers import (
    DASH,
    FIRST_NUMBER,
    NEGATIVE,
    NUMBER,
    NUMBER_END,
    in_millions,
    is_one,
    number,
    parts,
)
from polyvox.text.tracked import TrackedText

_NOUN = re.compile(r" ([a-zà-ÿ]{2,})(?![\w'])")
_INCHES = re.compile(r"[\"”″](?<=\d.)(?!\w)")
_QUOTED = re.compile(r"(?:\A|[\s(¿¡])[\"“](?=\S)[^\"“”]*\Z")
_QUOTE_REACH: Final = 160
_DASH = re.compile("[-–−]")
_DEGREES_APART = re.compile(r"(?<=\d)°?/(?=[-−]?\d{1,2} ?°)")
_SCALES_APART = re.compile(r"(?<=[°º][CF])/(?=\d)")
_METRES_GLUED = re.compile(r"(\d(?<![\w.,/].)\d?)m(\d\d)(?!\w)")
_BEHIND_AREA: Final = frozenset("de di en in con com et ed per par por al".split())
_HEATED = frozenset("ventilato statico preriscaldato forno grill".split())
_NAMED = re.compile(r" (?!Celsius|Fahrenheit|Kelvin|Nord|Sud|Est|Ovest|Ouest)[A-ZÀ-Ý][a-zà-ÿ]")
_CLAUSE_END = re.compile(r" ?(?:$|[.,;:!?)])")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_PARTICIPLES: Final = ("ado", "ido", "cho", "ato", "uto", "ito", "tto", "nto", "sto", "rso")
_RANKED = re.compile(r"\b(?:[Ii]l|[ds]?[ae]l|nel) $")
_PART_OF = re.compile(r"\d/\d d[ei]$")
_SIDE_BEFORE: Final = r"(?:(?<=\d)|(?<=\dm)|(?<=\d m)|(?<=\d[ckm]m)|(?<=\d [ckm]m))"
_SHORT_RATE = re.compile(r"\.(?<=[^\W\d_]\.)(?=/\w)")
# The power of a length in a plain figure: "75 m2", "mg/m2".
_PLAIN_POWER: Final = re.compile(r"(?:(?<=\d)|(?<=\d )|(?<=[lr] )|(?<=/))([kcdm]?m)([23])(?![\w]|[.,]\d)")
_ISO_CODE: Final = 3
_OF_AN_OVEN: Final = 3  # digits of degrees that nothing is ranked by
_HUNDRED: Final = 100
_POWERS: Final = {"2": "²", "3": "³"}
_ROUND: Final = frozenset(("1", "10", "100", "1000"))
_OF_DEVICES: Final = ("V", "A", "Ah", "W", "Wh", "Hz", "B", "o")  # units that nothing is for so many of
_THOUSANDS: Final = 3  # no sum has so many decimals
_PART = re.compile(r"\d/\d\Z")
_SPLIT_SUM = re.compile(r"(?<![\w.,])(\d{1,6})€(\d\d)(?![\d.,])")


SAID_SCALES: Final = frozenset(
    "mil mille mila millón millones million millions milione milioni milhão milhões".split()
) | frozenset("billón billones milliard milliards miliardo miliardi bilhão bilhões k K".split())
"""Scales that are words, and thousands in short, which only money is counted in."""

_ONE_THOUSAND: Final = frozenset(("mil", "mille"))
_MANY: Final = SAID_SCALES - {"k", "K", "billón", "billones", "bilhão", "bilhões"}
_BARE: Final = frozenset("km kg cm mm mg ml kWh MWh GWh kW MW GW kB MB GB TB MHz GHz km/h kmh mq kmq mc m".split())
_SINGULAR: Final = frozenset(
    "un una uno um uma une el la le lo il o por par per ao al au du del do no cada chaque ogni cada each".split()
)


@dataclass(frozen=True, slots=True)
class Quantities:
    """The patterns of one language."""

    language: RomanceLanguage
    sign: re.Pattern[str]
    before: re.Pattern[str]
    behind: re.Pattern[str]
    scaled: re.Pattern[str]
    percent: re.Pattern[str]
    degrees: re.Pattern[str]
    measure: re.Pattern[str]
    each: re.Pattern[str]
    place: re.Pattern[str]
    product: re.Pattern[str]
    many: re.Pattern[str]
    bare: re.Pattern[str]
    rate: re.Pattern[str]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "Quantities":
        sign = "|".join(re.escape(key) for key in sorted(language.currencies, key=len, reverse=True))
        scale = "|".join(sorted(language.scales, key=len, reverse=True))
        unit = any_unit(language.units)
        codes = "|".join(key for key in language.currencies if len(key) == _ISO_CODE and key.isalpha())
        rates = "|".join(sorted(language.rates))
        amount = rf"(?P<amount>{FIRST_NUMBER})"
        upto = rf"(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END}"
        short = "|".join(key for key in sorted(language.scales, key=len, reverse=True) if key not in SAID_SCALES)
        scaled = rf"(?: ?(?P<scale>{scale})(?![\w²³]))?+"
        per = rf"(?:/(?P<per>{unit}|[^\W\d_]{{1,8}})(?P<per_power>[²³])?(?!\w))?"
        said = "|".join(key[1:] for key in sorted(language.scales, key=len, reverse=True) if key in _MANY)
        bare = "|".join(re.escape(key) for key in sorted(_BARE & language.units.keys(), key=len, reverse=True))
        return cls(
            language,
            re.compile(sign),
            re.compile(
                rf"(?<![\w.,])(?P<minus>-)?+(?P<sign>{sign}) ?(?P<amount>{NUMBER}){upto}{scaled}"
                rf"(?: (?P<code>{codes})(?!\w))?{per}"
            ),
            re.compile(rf"{amount}{upto}{scaled}(?: de| d'| di)? ?(?P<sign>{sign})(?![\w]){per}"),
            re.compile(rf"{amount} ?(?P<scale>{short})(?= d'| d[ei] | [a-zà-ÿ]{{3,}}| a m(?:ais|enos))"),
            re.compile(rf"{amount}(?: ?%)?{upto} ?%"),
            re.compile(rf"{amount}{upto} ?(?:°|º)(?: ?(?P<scale>[CFKcf])(?![A-Za-z]))?"),
            re.compile(
                rf"{amount}{upto}(?P<gap>[ -]?)(?P<unit>{unit})(?P<power>[²³])?"
                rf"(?:/(?P<per_amount>\d{{1,3}}(?:\.\d{{3}}|[.,]\d{{1,2}})? ?)?"
                rf"(?P<per>{unit}|{rates})(?P<per_power>[²³])?"
                rf"(?:/(?P<each_amount>\d{{1,3}}(?:[.,]\d{{1,2}})? ?)?(?P<each>{unit}|{rates})(?P<each_power>[²³])?)?)?"
                rf"(?P<dot>\.(?=[,;:)]| [(+a-zà-ÿ]))?+(?![\w/]|['’]\w)"
            ),
            re.compile(r"/(?<=\d/)(?P<per>mm|cm|m|ml|µl|μl|dl|l|L|min|kg|h)(?P<power>[²³]|(?<=m)[23])?(?![\w/²³])"),
            re.compile(r"[kK](?<![\w/].)(?<!\d .)m\.? ?(?=\d)"),
            re.compile(rf"{_SIDE_BEFORE} ?[x×] ?(?=\d+(?:[.,]\d+)? ?(?P<unit>{unit}|[€$])[²³]?(?!\w))"),
            re.compile(
                rf"m(?<!\w.)(?P<scale>{said})(?:(?: d[ei])? | d')(?P<unit>{unit})(?P<power>[²³])?"
                rf"(?:/(?P<per>{unit}|{rates})(?P<per_power>[²³])?)?(?![\w/]|['’]\w)"
            ),
            re.compile(
                rf" (?=[ckmKMGT])(?<=[A-Za-zà-ÿ] )(?P<unit>{bare})(?P<power>[²³])?"
                r"(?:/(?P<per>h|s|l)(?P<per_power>²)?)?(?![\w/]|['’]\w| \d+\+\d)"
            ),
            re.compile(r"/(?<=\w/) ?(?P<per>[km]?m(?=[²³])|[µmd][lL]|min)(?P<per_power>[²³])?(?!\w)"),
        )

    def read(self, text: TrackedText) -> TrackedText:
        """Sums of money, percentages, temperatures, and measures with the symbol of a unit."""
        if "x" in text.text or "×" in text.text:
            text = text.sub(self.product, self._product)
        text = text.sub(_INCHES, self._inches)
        if "./" in text.text:
            text = text.sub(_SHORT_RATE, "")
        if "/" in text.text:
            text = text.sub(self.each, self._for_each)
        text = text.sub(self.place, self._place).sub(_METRES_GLUED, r"\1 m \2")
        if _DASH.search(text.text):
            text = text.sub(NEGATIVE, f"{self.language.minus} ")
        if self.sign.search(text.text):
            text = text.sub(_SPLIT_SUM, r"\1,\2 €").sub(self.before, self._sum).sub(self.behind, self._sum)
        scaled = text.sub(self.scaled, self._many)
        text = scaled if scaled is text else scaled.sub(self.many, self._counted_unit)
        if "%" in text.text:
            text = text.sub(self.percent, self._percent)
        if "°" in text.text or "º" in text.text:
            text = text.sub(_DEGREES_APART, "°, ").sub(_SCALES_APART, ", ").sub(self.degrees, self._degrees)
        text = text.sub(self.measure, self._measure)
        return text.sub(self.rate, lambda match: f" {self._each(match)}") if "/" in text.text else text

    def read_bare(self, text: TrackedText) -> TrackedText:
        """Units without a figure: "millones de km", "por kg"."""
        if "m2" in text.text or "m3" in text.text:
            text = text.sub(_PLAIN_POWER, lambda match: match[1] + ("²" if match[2] == "2" else "³"))
        return text.sub(self.many, self._counted_unit).sub(self.bare, self._bare)

    def _counted_unit(self, match: re.Match[str]) -> str:
        scale = self.language.scales[f"m{match['scale']}"]
        words = self._unit(match, one=False)
        return f"m{match['scale']} {self.language.of(words) if scale.counted_of else words}"

    def _bare(self, match: re.Match[str]) -> str | None:
        """None for a metre without a power, which is a letter more often."""
        if match["unit"] == "m" and not match["power"]:
            return None
        before = match.string[max(0, match.start() - 8) : match.start()]
        one = before.rpartition(" ")[2].lower() in _SINGULAR or _PART_OF.search(before) is not None
        return f" {self._unit(match, one=one)}"

    def _unit(self, match: re.Match[str], *, one: bool) -> str:
        """The words of a unit, of its power and of what it is for."""
        unit = self.language.units[match["unit"]]
        words = unit.one if one else unit.many
        if match["power"]:
            words += f" {self.language.powers[match['power']][0 if one else 1]}"
        return f"{words} {self._each(match)}" if match["per"] else words

    def _measured(self, written: str, gender: Gender) -> str:
        return number(written, self.language, gender, measured=True)

    def _amount(self, match: re.Match[str], gender: Gender = Gender.ALONE, counted: str = "°") -> str:
        """A number, or the range of what is `counted`."""
        written = match["amount"]
        plain = written[1:] if len(written) == 2 and written[0] == "0" else written  # "09 s"
        words = [number(plain, self.language, gender, measured=True)]
        if match["upto"]:
            span = Ranges(self.language).said(match, (plain, match["upto"]), counted, self._measured, gender)
            if span is not None:
                return span
            words += [self.language.upto, number(match["upto"], self.language, gender, measured=True)]
        return " ".join(words)

    def _inches(self, match: re.Match[str]) -> str | None:
        """None for a mark that closes a quotation."""
        if match.group() != "″" and _QUOTED.search(match.string[max(0, match.start() - _QUOTE_REACH) : match.start()]):
            return None
        if _PART.search(match.string, max(0, match.start() - 3), match.start()):
            return "″"
        inch = self.language.units["″"]
        one = match.string.endswith((" 1", "(1"), 0, match.start())
        return f" {inch.one if one else inch.many}"

    def _product(self, match: re.Match[str]) -> str:
        """Sides, or so many of a measure: "6 x 75 cl"."""
        side = match["unit"].endswith("m") or match["unit"] in "″"
        return f" {self.language.by if side else self.language.signs['×']} "

    def _for_each(self, match: re.Match[str]) -> str | None:
        """Units that a bare count is for: "245.000/mm³"; None for a metre, which is a letter more often."""
        unit = self.language.units.get(match["per"])
        if unit is None or (match["per"] in ("m", "mm", "cm") and not match["power"]):
            return None
        power = _POWERS.get(match["power"] or "", match["power"])
        words = f"{unit.one} {self.language.powers[power][0]}" if power else unit.one
        return f" {self.language.per(words)}"

    def _place(self, match: re.Match[str]) -> str:
        """The unit in front of a figure, which is a place on a road."""
        return f"{self.language.units['km'].one} "

    def _many(self, match: re.Match[str]) -> str:
        """Millions in short: "68 M d'habitants"."""
        amount = number(match["amount"], self.language, Gender.MASCULINE, measured=True)
        words = self._thousand(match) or f"{amount} {self._scale(match['scale'], match['amount'])}"
        noun = _NOUN.match(match.string, match.end())
        if noun is None or noun[1] in self.language.function_words:
            return words
        of = self.language.of(noun[1]).removesuffix(noun[1])
        return f"{words} {of.rstrip()}" if of.endswith(" ") else words

    def _thousand(self, match: re.Match[str]) -> str | None:
        """One thousand, which no number stands before."""
        scale = self.language.scales[match["scale"]]
        one = match["amount"] == "1" and not match.groupdict().get("upto") and scale.one in _ONE_THOUSAND
        return scale.one if one else None

    def _scale(self, written: str, amount: str) -> str:
        scale = self.language.scales[written]
        whole, decimals = parts(amount)
        one = whole in ("0", "1") if self.language.one_below_two else (whole, decimals) == ("1", "")
        return scale.one if one else scale.many

    def _percent(self, match: re.Match[str]) -> str:
        return f"{self._amount(match, counted='%')} {self.language.percent}"

    def _degrees(self, match: re.Match[str]) -> str | None:
        if match["scale"] is None and _RANKED.search(match.string[max(0, match.start() - 5) : match.start()]):
            return None
        noun = _NOUN.match(match.string, match.end())
        counted = noun is not None and noun[1] not in self.language.function_words
        counted = counted and noun is not None and noun[1] not in _HEATED
        counted = counted or _NAMED.match(match.string, match.end()) is not None
        negative = match.string.endswith(f"{self.language.minus} ", 0, match.start())
        ranked = match.group().endswith("º") and len(match["upto"] or match["amount"]) < _OF_AN_OVEN
        if match["scale"] is None and not negative and (ranked or counted):
            return None
        one = is_one(match["amount"]) and not match["upto"]
        name = self.language.degrees.one if one else self.language.degrees.many
        scale = self.language.temperature_scales.get((match["scale"] or "").upper(), "")
        return f"{self._amount(match, Gender.MASCULINE)} {name} {scale}".rstrip()

    def _sum(self, match: re.Match[str]) -> str | None:
        currency = self.language.currencies[match.groupdict().get("code") or match["sign"]]
        if match["scale"]:
            words = self._scaled(match, currency)
        elif match["upto"]:
            words = f"{self._amount(match, currency.name.gender)} {currency.name.many}"
        else:
            words = self._exact(match, currency)
        minus = f"{self.language.minus} " if match.groupdict().get("minus") else ""
        return minus + words + (f" {self._each(match)}" if match["per"] else "")

    def _each(self, match: re.Match[str]) -> str:
        """The unit that a price or a measure is for."""
        words = self._for(match["per"])
        return f"{words} {self.language.powers[match['per_power']][0]}" if match["per_power"] else words

    def _for(self, written: str) -> str:
        unit = self.language.units.get(written)
        return self.language.per(written if unit is None else unit.one)

    def _for_several(self, amount: str, written: str, power: str | None) -> str:
        """Several units that a measure is for: "cada doce horas", "por cien kilómetros"."""
        unit = self.language.units.get(written) or Noun(written, written)
        many = f"{number(amount, self.language, unit.gender, measured=True)} {unit.many}"
        if power:
            many += f" {self.language.powers[power][1]}"
        return self.language.per(many) if amount == str(_HUNDRED) else f"{self.language.every} {many}"

    def _scaled(self, match: re.Match[str], currency: RomanceCurrency) -> str:
        scale = self.language.scales[match["scale"]]
        amount = self._amount(match, Gender.MASCULINE)
        words = self._thousand(match) or f"{amount} {self._scale(match['scale'], match['upto'] or match['amount'])}"
        many = currency.name.many
        return f"{words} {self.language.of(many) if scale.counted_of else many}"

    def _exact(self, match: re.Match[str], currency: RomanceCurrency) -> str:
        whole, decimals = parts(match["amount"])
        in_euros = "," in match["amount"] and (match["sign"] in ("€", "EUR") or self.language.decimal_comma)
        if len(decimals) == _THOUSANDS and len(whole) <= _THOUSANDS and whole != "0" and not in_euros:
            whole, decimals = whole + decimals, ""
        if decimals.strip("0") and (len(decimals) != 2 or currency.cent is None):
            return f"{number(match['amount'], self.language, measured=True)} {currency.name.many}"
        name = currency.name
        main = self._counted(int(whole), name) if len(whole) <= 15 else f"{number(whole, self.language)} {name.many}"
        if not decimals.strip("0") or currency.cent is None:
            return main
        cents = self._counted(int(decimals), currency.cent)
        return cents if int(whole) == 0 else f"{main} {self.language.and_cents} {cents}"

    def _counted(self, count: int, noun: Noun) -> str:
        name = noun.one if count == 1 else noun.many
        millions = count > 0 and count % 1_000_000 == 0
        return f"{self.language.cardinal(count, noun.gender)} {self.language.of(name) if millions else name}"

    def _is_verb(self, match: re.Match[str]) -> bool:
        """Return whether "ha" behind a figure is no area: "nel 2023 ha vinto"."""
        behind = _NOUN.match(match.string, match.end())
        if behind is not None and behind[1].endswith(_PARTICIPLES):
            return True
        area = behind is not None and behind[1] in _BEHIND_AREA
        ends = _CLAUSE_END.match(match.string, match.end()) is not None
        return _YEAR.fullmatch(match["amount"]) is not None and not (area or ends)

    def _measure(self, match: re.Match[str]) -> str | None:
        if match["unit"] == "ha" and self._is_verb(match):
            return None
        unit = self.language.units[match["unit"]]
        one = (is_one(match["amount"]) or self._is_below_two(match["amount"])) and not match["upto"]
        amount = self._amount(match, unit.gender, unit.many)
        if match["per_amount"] and self._stand_apart(match["unit"], match["per"], match["per_amount"].strip()):
            count, other = match["per_amount"].strip(), self.language.units.get(match["per"], unit)
            return (
                f"{amount} {unit.one if one else unit.many}, "
                f"{self._measured(count, other.gender)} {other.one if is_one(count) else other.many}"
            )
        if match["per_amount"]:
            several = self._for_several(match["per_amount"].strip(), match["per"], match["per_power"])
            return f"{amount} {unit.one if one else unit.many} {several}"
        name = self._unit(match, one=one)
        words = f"{amount} {self.language.of(name) if in_millions(match['upto'] or match['amount']) else name}"
        if match["each_amount"]:
            return f"{words} {self._for_several(match['each_amount'].strip(), match['each'], match['each_power'])}"
        return f"{words} {self._for(match['each'])}" if match["each"] else words

    def _is_below_two(self, amount: str) -> bool:
        """Return whether nothing, a part, or one and a part, is counted as one: "1,5 litre", "0 km"."""
        whole, decimals = parts(amount)
        return self.language.measures_one_below_two and (whole == "0" or (decimals != "" and whole == "1"))

    def _stand_apart(self, unit: str, per: str, amount: str) -> bool:
        """Return whether two measures with a slash are of one thing: "36 V/13 Ah", "1 g/125 mg"."""
        doses = unit.endswith("g") and per.endswith("g") and amount not in _ROUND
        return per == unit or doses or per.endswith(_OF_DEVICES)
