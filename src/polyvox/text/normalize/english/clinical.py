"""Notes of medicine: doses and how often they are taken, laboratory values, patients."""

import re
from typing import Final

from polyvox.text.normalize.english.numbers import cardinal, code, spelled
from polyvox.text.tracked import TrackedText

_CHART: Final = re.compile(
    r"\b(?:\w*grams?|mg|mcg|mEq|ml|mL|milliliters?|tab(?:let)?s?|cap(?:sule)?s?|pills?|units?|puffs?|drops?|doses?|PO"
    r"|[Tt]ake|"
    r"[Gg]ive|[Aa]pply|cream|ointment|[Ll]abs?|[Hh]x|sats|BID|TID|QID|QD|TDS|QDS|WBC|BP|HR|BUN|Hgb|Hb|prn|PRN|[Pp]ts?"
    r"|[Pp]atients?|[Ii]nsulin|[Hh]eparin|Rx|Dx|dx|ER|ED|ICU|d/c|s/p|U/mL|[qQ]\d{1,2}h?)\b|\dm(?:g|cg|[lL])\b"
)
_DOSING: Final = re.compile(
    r"(?<![\w.])(?:BID|TID|QID|[qQ]HS|qAM|qPM|QAM|QPM|QOD|PO|PRN|QD|SL|SC|SQ|BD|OD|TDS|QDS|qds|tds|tid|qid|qhs|qam"
    r"|qpm|qod|qd|prn|po"
    r"|(?<=[a-z\d)] )(?:bid|bd|od)(?=[,;.)]|$| (?:x|×|for|prn|PRN|with|and|until|mane|nocte|after|before|po|if)\b| w/"
    r"| \d))"
    r"(?!\w|\.\w)"
)
# British shares of a week, a month or a year: "for 7/7", "in 2/52", "x 3/12".
_SPAN: Final = re.compile(
    r"(?P<lead>(?:\b(?:[Ff]or|[Ii]n|[Rr]eview|[Aa]fter|[Ee]very|[Ll]ast|[Pp]ast|[Oo]ver|next|then|F/U|f/u) |[x×] ?))"
    r"(?P<count>[1-9]\d?)/(?P<of>7|52|12)(?![\w/]|[.,]\d)"
    r"|(?<![\w./-])(?P<long>[1-9]\d?)/(?P<ago>7|52|12)(?= (?:hx|Hx|history|h/o|ago|duration)\b)"
)
_SPANS: Final = {"7": "day", "52": "week", "12": "month"}
_DOSE: Final = re.compile(
    r"\b(?:\w*grams?|mg|mcg|ml|milliliters?|tab(?:let)?s?|cap(?:sule)?s?|pills?|units?|puffs?|drops?|doses?|PO"
    r"|[Tt]ake|[Tt]akes|[Gg]ive|[Aa]pply|cream|ointment|inhalers?|sprays?)\b"
)
_EVERY: Final = re.compile(
    r"(?<![\w.])[qQ] ?(?P<first>\d{1,2})(?:[-–](?P<last>\d{1,2}))?"
    r" ?(?P<unit>h|hrs?|hours?|mins?|d|days?|wks?|weeks?|mo)(?![\w-])"
)
_INTERVALS: Final = {"h": "hour", "m": "minute", "d": "day", "w": "week", "mo": "month"}
_VALUE: Final = re.compile(
    r"(?<![\w./-])(?P<name>Na|Hgb|Hb|Hct|Plts?|Cr|Mg|Ca|Trop|Bili|Glu|Alb)(?=:? ?[<>]?\d{1,3}(?:\.\d{1,2})?(?![\w/]))"
)
_VALUES: Final = {
    "Na": "sodium",
    "Hgb": "hemoglobin",
    "Hb": "hemoglobin",
    "Hct": "hematocrit",
    "Plt": "platelets",
    "Plts": "platelets",
    "Cr": "creatinine",
    "Mg": "magnesium",
    "Ca": "calcium",
    "Trop": "troponin",
    "Bili": "bilirubin",
    "Glu": "glucose",
    "Alb": "albumin",
}
_SALT: Final = re.compile(r"(?<=\d m[gG] )Na(?!\w)|(?<=\d mEq )Na(?!\w)")
_UNITS: Final = re.compile(r"(?<=\d )U(?= |[.,;)/]|$)|(?<=\d)U(?= (?:of|insulin|heparin|SC|SQ|IV|q)\b)")
_MEDICINE: Final = re.compile(r"\b(?:insulin|heparin|glargine|lispro|penicillin|botox)\b", re.IGNORECASE)
_DISCHARGED: Final = re.compile(r"(?<![\w/])(?P<word>[dD]/[cC])(?P<past>'?e?d)?(?![\w/])")
_THOUSANDS: Final = re.compile(r"(?<=\d) ?[Kk]/(?:[\u00b5\u03bcu]|mc)L(?!\w)")
_SIGHT: Final = re.compile(r"(?<![\w./])(?P<near>20|6)/(?P<far>\d{1,3})(?![\w/]|[.,]\d)")
_GASES: Final = re.compile(r"(?<![\w.])(?P<of>Fi|Sp|Sa|Pa|Pv|Sv|Sc?v|Et|ET|V)(?P<gas>C?O)[2₂](?!\w)")
_EYES: Final = re.compile(r"\b(?:[Vv]ision|acuity|eyes?|eyesight|glasses|OD|OS|OU|sees|Snellen|IOP)\b")
_DAYS: Final = re.compile(
    r"(?P<lead>(?:(?<=[\w),;] )[x×] ?|\bfor ))(?P<count>\d{1,3}) ?d(?:\.(?=[,;)]| [a-z(])|(?=[.,;) ]|$))"
)
_PER_VOLUME: Final = re.compile(r"(?<=\d) ?U/(?P<milli>m)?[Ll](?!\w)")
_SINCE: Final = re.compile(r"(?<=[a-z\d.)] )x ?(?=\d{1,3} ?(?:hrs?|hours?|mins?|minutes|nights?)\b)")
_PATIENT: Final = re.compile(
    r"(?<![\w.])(?P<p>[Pp])t\b\.?(?: (?P<of>c/o)|(?='s\b)|(?= (?:is|was|has|had|presents?|presented|reports?|reported|"
    r"denies|denied|complains|complained|states|stated|seen|admitted|discharged|tolerated)\b))"
)
_THE_PATIENT: Final = re.compile(
    r"(?:(?<=[Tt]he )|(?<=[Tt]his )|(?<= our )|(?<=each ))pt\b(?:\.(?=\s*[a-z,;)]))?(?! \d)"
)
_PATIENTS: Final = re.compile(r"(?<=% of )pts\b(?:\.(?=\s*[a-z(,;]))?")
_NEAR: Final = 32
_STRENGTH: Final = re.compile(
    r"(?:(?<=\d mg)|(?<=\dmg)|(?<=\d mcg)|(?<=\dmcg)|(?<=\d g)|(?<=\d units)|(?<=\d mEq))"
    r"/(?=\d{1,4}(?:\.\d)? ?(?:m[Ll]|L|hr?|actuation|dose)\b)"
)
_SLASHED: Final = re.compile(
    r"(?<![\w/])(?P<short>[fF]/[uU]|[hH]/[oO]|[sS]/[pP]|[rR]/[oO]|[pP]/[wW]|w/u|[bB]/[lL]|[cC]/[oOwW]|u/s|h/a|N/V"
    r"(?:/D)?)"
    r"(?P<past>'?e?d)?(?![\w/])"
)
_SLASHED_WORDS: Final = {
    "f/u": "follow up",
    "h/o": "history of",
    "s/p": "status post",
    "r/o": "rule out",
    "p/w": "presents with",
    "w/u": "workup",
}
# The same, in a patient's chart only.
_CHARTED: Final = {
    "b/l": "bilateral",
    "c/o": "complains of",
    "c/w": "consistent with",
    "u/s": "ultrasound",
    "h/a": "headache",
    "n/v": "nausea and vomiting",
    "n/v/d": "nausea, vomiting and diarrhea",
}
_NOTED: Final = re.compile(
    r"\b(?:[Pp]ts?|[Pp]atients?|y/?o|years? old|year-old|[Hh]x|[Dd]x|[Hh]/o|[Ss]/p|history of|mg|[Ll]abs|BP|HR|CT|MRI|"
    r"CXR|PCP|CHF|COPD|ESRD|CKD|DVT|CVA|MVC|MVA|SOB|NKDA|CABG|PMH|edema|lungs|fever|cough|pain)\b"
)
_TO_NAME: Final = re.compile(r" (?:the )?[A-Z][a-z]")
_AGED: Final = re.compile(
    r"(?<=\d)[ -]?(?:y/?o|y\.o\.|yr[. ]old|YO)[ -]"
    r"(?P<sex>[MF](?![\w.'/])|(?=(?:fe)?male\b|(?:wo)?man\b|boy\b|girl\b|lady\b))"
)
# "67M w/ CHF", "34 F presents": the age and sex with which a note begins.
_AGE_AND_SEX: Final = re.compile(
    r"(?<![\w.,$€£/-])(?P<age>\d{1,3}) ?(?P<sex>[MF])(?=,? (?:w/|with\b|s/p|p/w|c/o|h/o|hx\b|who\b|presents?\b"
    r"|presenting|"
    r"PMHx?\b|presented|here\b|admitted|brought|BIBA|BIBEMS|in ED|found|smoker|nonsmoker|complain)"
    r"|(?= [A-Z]{2,4} (?:w/|with|s/p)))"
)
_ORIENTED: Final = re.compile(r"(?<!\w)(?:A&Ox|AAOx|A&O x|AOx|A\+Ox) ?(?P<times>[1-4])(?!\w)")
_RESULT: Final = re.compile(
    r"(?<=[A-Z]{2} )(?P<result>neg|pos)(?:\.(?=\s*[a-z,;)])|(?![\w.]))|(?<=[A-Z]{2} )(?P<last>neg)(?=\.)"
)
_REPEATED: Final = re.compile(
    r"(?:(?<=[A-Z]{2} )|(?<=neg\. )|(?<=pos\. )|(?<=negative )|(?<=positive ))x ?(?=[1-9]\d?(?!\w|\.\d))"
)
# Half the usual salt: "D5 ½NS".
_SALINE: Final = re.compile(r"(?<![\w./])1/(?P<part>[24]) ?NS(?!\w)")
# Pregnancies and births, each of the last four counted for itself: "G3P2012".
_BIRTHS: Final = re.compile(r"(?<!\w)G(?P<pregnant>\d{1,2}) ?P(?P<born>\d{4})(?!\w)")
_BASELINE: Final = re.compile(r"(?<![\w/])b/l(?= \d)")
_SEXES: Final = {"M": "male", "F": "female", "": ""}


def read(text: TrackedText) -> TrackedText:
    """Values and intervals, which a figure belongs to."""
    if ("20/" in text.text or "6/" in text.text) and _EYES.search(text.text):
        text = text.sub(_SIGHT, lambda match: f"{cardinal(match['near'])} {code(match['far'])}")
    if "y" in text.text or "YO" in text.text:
        text = text.sub(_AGED, lambda match: f"-year-old {_SEXES[match['sex']]}")
    if "% of pts" in text.text:
        text = text.sub(_PATIENTS, "patients")
    text = _shorthand(text)
    if "O2" in text.text:
        text = text.sub(_GASES, lambda match: f"{'.'.join((match['of'] + match['gas']).upper())} two")
    if _CHART.search(text.text) is None and _NOTED.search(text.text) is None:
        return text
    if "/" in text.text:
        text = text.sub(_SPAN, _span)
    text = text.sub(_AGE_AND_SEX, lambda match: f"{match['age']}-year-old {_SEXES[match['sex']]}")
    text = text.sub(_DAYS, _days).sub(_REPEATED, "times ").sub(_THOUSANDS, " thousand per microliter")
    text = text.sub(_EVERY, _every).sub(_VALUE, lambda match: _VALUES[match["name"]]).sub(_SALT, "sodium")
    if _MEDICINE.search(text.text):
        text = text.sub(_UNITS, lambda match: " units" if match.string[match.start() - 1] != " " else "units")
    if "/" in text.text:
        text = text.sub(_STRENGTH, " per ")
    text = text.sub(_PER_VOLUME, lambda match: f" units per {'milli' if match['milli'] else ''}liter")
    return text.sub(_SINCE, "times ").sub(_DISCHARGED, _discharged)


def _shorthand(text: TrackedText) -> TrackedText:
    """Births, salt and what is usual, which a slash or a row of figures would hide from the other readers."""
    if "G" in text.text and "P" in text.text:
        text = text.sub(_BIRTHS, lambda match: f"G {cardinal(match['pregnant'])} P {spelled(match['born'])}")
    if "/" not in text.text:
        return text
    text = text.sub(_SALINE, lambda match: f"{'half' if match['part'] == '2' else 'quarter'} NS")
    return text.sub(_BASELINE, "baseline")


def read_notes(text: TrackedText) -> TrackedText:
    """The patient, and the initials of how often a medicine is taken."""
    if "Ox" in text.text or "O x" in text.text:
        text = text.sub(_ORIENTED, r"A and O times \g<times>")
    if " neg" in text.text or " pos" in text.text:
        text = text.sub(_RESULT, lambda match: "positive" if match["result"] == "pos" else "negative")
    if "/" in text.text:
        text = text.sub(_SLASHED, _slashed)
    if "pt" in text.text or "Pt" in text.text:
        text = text.sub(_PATIENT, lambda match: f"{match['p']}atient{' complains of' if match['of'] else ''}")
    text = text.sub(_THE_PATIENT, "patient") if " pt" in text.text else text
    return text.sub(_DOSING, _dosing) if _DOSE.search(text.text) else text


def _span(match: re.Match[str]) -> str:
    """ "for 7/7": days of a week, weeks of a year, months of one."""
    if match["long"]:
        return f"{cardinal(match['long'])} {_SPANS[match['ago']]}{'' if match['long'] == '1' else 's'}"
    lead = "for " if match["lead"][0] in "x×" else match["lead"]
    return f"{lead}{cardinal(match['count'])} {_SPANS[match['of']]}{'' if match['count'] == '1' else 's'}"


def _days(match: re.Match[str]) -> str:
    lead = match["lead"] if match["lead"] == "for " else "times "
    return f"{lead}{cardinal(match['count'])} day{'' if match['count'] == '1' else 's'}"


def _every(match: re.Match[str]) -> str:
    """ "q8h", "q5-15 min": every so many hours or minutes."""
    name = _INTERVALS["mo" if match["unit"] == "mo" else match["unit"][0]]
    last = f" to {cardinal(match['last'])}" if match["last"] else ""
    if match["first"] == "1" and not last:
        return f"every {name}"
    return f"every {cardinal(match['first'])}{last} {name}s"


def _slashed(match: re.Match[str]) -> str | None:
    short = match["short"].lower()
    if short == "c/o" and _TO_NAME.match(match.string, match.end()):
        return None
    word = _SLASHED_WORDS.get(short) or (_CHARTED[short] if _NOTED.search(match.string) else None)
    if word is None or (match["past"] and short != "f/u"):
        return None
    if match["past"]:
        word = "followed up"
    return word.capitalize() if short[0] != match["short"][0] and not match["short"].isupper() else word


def _discharged(match: re.Match[str]) -> str:
    return "discharged" if match["past"] else "discharge"


def _dosing(match: re.Match[str]) -> str | None:
    """The initials of "twice a day", where a dose stands before them."""
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    return ".".join(match.group().upper()) if _DOSE.search(before) else None
