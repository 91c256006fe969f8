"""Money, measures, percentages and degrees of the Romance languages."""

import re
from dataclasses import dataclass

from polyvox.text.normalize.romance.language import Gender, Noun, RomanceCurrency, RomanceLanguage
from polyvox.text.normalize.romance.numbers import DASH, NUMBER, NUMBER_END, NUMBER_START, is_one, number, parts
from polyvox.text.tracked import TrackedText

_MINUS = r"(?P<minus>(?<!\w)[-–−])?"
# What follows a degree sign that stands for an ordinal: "1° posto", not "25° di sera".
_NOUN = re.compile(
    r" (?!(?:di|a|al|alla|da|de|del|en|à|au|no|na|nel|sotto|sopra|e|y|et|o|ou|ce|ao|à) |all')[a-zà-ÿ]{3,}"
)


@dataclass(frozen=True, slots=True)
class Quantities:
    """The patterns of one language."""

    language: RomanceLanguage
    before: re.Pattern[str]
    behind: re.Pattern[str]
    percent: re.Pattern[str]
    degrees: re.Pattern[str]
    measure: re.Pattern[str]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "Quantities":
        sign = "|".join(re.escape(key) for key in sorted(language.currencies, key=len, reverse=True))
        scale = "|".join(sorted(language.scales, key=len, reverse=True))
        unit = "|".join(re.escape(key) for key in sorted(language.units, key=len, reverse=True))
        amount = rf"{_MINUS}(?P<amount>{NUMBER})"
        upto = rf"(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END}"
        scaled = rf"(?: ?(?P<scale>{scale})(?![\w²³]))?+"
        per = r"(?:/(?P<per>[^\W\d_]{1,6})(?!\w))?"
        return cls(
            language,
            re.compile(rf"(?<![\w.,])(?P<minus>-)?+(?P<sign>{sign}) ?(?P<amount>{NUMBER}){upto}{scaled}{per}"),
            re.compile(rf"{NUMBER_START}{amount}{upto}{scaled}(?: de| d')? ?(?P<sign>{sign})(?![\w]){per}"),
            re.compile(rf"{NUMBER_START}{amount}(?: ?%)?{upto} ?%"),
            re.compile(rf"{NUMBER_START}{amount}{upto} ?(?:°|º)(?: ?(?P<scale>[CFK])(?![A-Za-z]))?"),
            re.compile(
                rf"{NUMBER_START}{amount}{upto}(?P<gap>[ -]?)(?P<unit>{unit})(?P<power>[²³])?(?:/(?P<per>{unit})"
                rf"(?P<per_power>[²³])?)?(?P<dot>\.(?= [a-zà-ÿ]))?+(?![\w'’/])"
            ),
        )

    def read(self, text: TrackedText) -> TrackedText:
        """Sums of money, percentages, temperatures, and measures with the symbol of a unit."""
        text = text.sub(self.before, self._sum).sub(self.behind, self._sum)
        text = text.sub(self.percent, self._percent).sub(self.degrees, self._degrees)
        return text.sub(self.measure, self._measure)

    def _amount(self, match: re.Match[str], gender: Gender = Gender.ALONE) -> str:
        words = [self.language.minus] if match["minus"] else []
        words.append(number(match["amount"], self.language, gender))
        if match["upto"]:
            words += [self.language.upto, number(match["upto"], self.language, gender)]
        return " ".join(words)

    def _percent(self, match: re.Match[str]) -> str:
        return f"{self._amount(match)} {self.language.percent}"

    def _degrees(self, match: re.Match[str]) -> str | None:
        if match["scale"] is None and (match.group().endswith("º") or _NOUN.match(match.string, match.end())):
            return None
        one = is_one(match["amount"]) and not match["upto"]
        noun = self.language.degrees.one if one else self.language.degrees.many
        scale = self.language.temperature_scales.get(match["scale"] or "", "")
        return f"{self._amount(match, Gender.MASCULINE)} {noun} {scale}".rstrip()

    def _sum(self, match: re.Match[str]) -> str | None:
        currency = self.language.currencies[match["sign"]]
        if match["scale"]:
            words = self._scaled(match, currency)
        elif match["upto"]:
            words = f"{self._amount(match, currency.name.gender)} {currency.name.many}"
        else:
            words = self._exact(match, currency)
        return words + (f" {self.language.per} {self._each(match['per'])}" if match["per"] else "")

    def _each(self, written: str) -> str:
        unit = self.language.units.get(written)
        return written if unit is None else unit.one

    def _scaled(self, match: re.Match[str], currency: RomanceCurrency) -> str:
        scale = self.language.scales[match["scale"]]
        one = parts(match["upto"] or match["amount"])[0] in ("0", "1")
        words = f"{self._amount(match, Gender.MASCULINE)} {scale.one if one else scale.many}"
        many = currency.name.many
        return f"{words} {self.language.of(many) if scale.counted_of else many}"

    def _exact(self, match: re.Match[str], currency: RomanceCurrency) -> str:
        whole, decimals = parts(match["amount"])
        minus = f"{self.language.minus} " if match["minus"] else ""
        if decimals.strip("0") and (len(decimals) != 2 or currency.cent is None):
            return f"{minus}{number(match['amount'], self.language)} {currency.name.many}"
        name = currency.name
        main = self._counted(int(whole), name) if len(whole) <= 15 else f"{number(whole, self.language)} {name.many}"
        if not decimals.strip("0") or currency.cent is None:
            return minus + main
        cents = self._counted(int(decimals), currency.cent)
        return minus + (cents if int(whole) == 0 else f"{main} {self.language.and_cents} {cents}")

    def _counted(self, count: int, noun: Noun) -> str:
        name = noun.one if count == 1 else noun.many
        millions = count > 0 and count % 1_000_000 == 0
        return f"{self.language.cardinal(count, noun.gender)} {self.language.of(name) if millions else name}"

    def _measure(self, match: re.Match[str]) -> str | None:
        unit = self.language.units[match["unit"]]
        one = is_one(match["amount"]) and not match["upto"]
        words = f"{self._amount(match, unit.gender)} {unit.one if one else unit.many}"
        if match["power"]:
            words += f" {self.language.powers[match['power']][0 if one else 1]}"
        if match["per"]:
            words += f" {self.language.per} {self.language.units[match['per']].one}"
            if match["per_power"]:
                words += f" {self.language.powers[match['per_power']][0]}"
        return words
