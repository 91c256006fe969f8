"""Abbreviations with a full stop, and the few that are common without one."""

import re
from typing import Final

from polyvox.text.normalize.english.abbreviations import before_figures, courts, idioms, phrases, settings, short_forms
from polyvox.text.normalize.english.abbreviations.before_figures import BEFORE_FIGURES
from polyvox.text.normalize.english.abbreviations.words import (
    ANYWHERE,
    BEFORE_RANKS,
    BEHIND_NAMES,
    COUNTED,
    DOTTED,
    GOING_ON,
    LABELS,
    RANKS,
    ROADS,
    TITLES,
    WITHIN,
)
from polyvox.text.normalize.english.context import STARTERS, final_stop, word_after, word_before, words_of
from polyvox.text.normalize.english.letters import spelled_pair
from polyvox.text.tracked import TrackedText

LABEL_WORDS: Final = frozenset(
    (
        "vitamin plan grade group option type class hepatitis section appendix part team category exhibit letter point"
    ).split()
)
_ALWAYS: Final = frozenset("Mr Mrs Ms Mx Messrs Mme Mlle Prof Sgt Cmdr Wm Chas Thos Jas".split())
_DOTTED_LETTERS: Final = re.compile(r"(?<![\w.])(?:[A-Za-z]\.){2,}+(?:[A-Za-z](?![\w.']))?")
# Letters that are a word without their stops, and another's name with them.
_LETTERS_ALONE: Final = frozenset(
    "ACE ACT ADD AGE AID AIM AIR ALE ANT APE APT ARC ARM ART ASH ASK BAD BAG BAM BAN BAR BAT BED BEN BET BIG BIN "
    "BIT BOB BOX "
    "BOY BUD BUS CAB CAN CAP CAR CUT DAD DAN DAY DEN DIE DIG DIM DIP DOC DOG DOS DOT DRY EAR EAT FAN FAR FAT FED "
    "FIT FIX FLU "
    "FLY FOX FUN GAP GAS GIF GUM GUN GUT GUY HAL HAM HAT HER HIS HIT HOT HUB HUT ICE IKE INK JAB JAM JAR JAW JET "
    "JIM JOB JOE "
    "JOY KEN KEY KID KIT LAB LAP LAW LAY LEE LEG LET LID LIE LIP LOG LOT LOU LOW MAD MAN MAP MAT MAX MEL MEN MET "
    "MIX MOB MUD "
    "MUG NAP NED NET NUT OAK ODD OIL OLD OUT OWL OWN PAD PAN PAT PAY PEG PEN PET PIE PIG PIN PIT POT PUB RAG RAM "
    "RAT RAW RAY "
    "RED REM RIB RID RIP ROB ROD ROM RON ROW RUB RUG RUN SAD SAM SAY SEA SEE SET SHE SHY SID SIM SIT SIX SKI SKY "
    "SON SPY SUM "
    "SUN TAG TAN TAP TAX TEA TED TEN TIE TIM TIN TIP TOE TOM TON TOP TOY TUB USE VAL VAN VET WAR WAY WEB WET WIN "
    "WIT YES ZOO".split()
)
_DEGREE: Final = re.compile(r"\b(?:Ph\.D|M\.Sc|B\.Sc|[DM]\.Phil|Ed\.D|M\.Ed|B\.Ed)\b\.?|\bPhD\b")
_INITIALS: Final = re.compile(r"(?<![\w.])[A-Z]\.(?: [A-Z]\.)+(?= [A-Z])")
_INITIAL: Final = re.compile(r"(?<![\w.])[A-Z]\.(?= [A-Z]|[A-Z][a-z])")
# The kind of a plant, an animal or a germ, whose first name is an initial: "E. coli".
SPECIES: Final = re.compile(r"[a-z]{2,}(?:us|um|is|ae|ens|ans|li|ori|ile|ii|rex|aster|ana|osa|era)\b")
_SPECIES: Final = re.compile(rf"(?<![\w.])([A-Z])\.(?= {SPECIES.pattern})")
_DOCTOR_OR_DRIVE: Final = re.compile(r"\bDr\b\.?(?!\w)")
_AGAINST: Final = re.compile(r"(?<=[A-Za-z.,)] )v\.(?= [A-Z])")
_OF_COUNTIES: Final = frozenset(
    "attorney clerk commissioner commissioners coroner court deputies executive jail judge prosecutor prosecutors "
    "sheriff sheriff's Sheriff Sheriff's Jail Court".split()
)
_SAINTED: Final = frozenset("Port Mount Mt East North South West Fort Ft Lake Bay Cape Sault Old New Upper".split())
"""Before the saint of a place's name: "Port St. Lucie"."""
_BEHIND_STREET: Final = frozenset(
    (
        "Apartment Apartments Apt Auto Bakery Bank Bar Bistro Books Bookstore Brewery Brewing Bridge Cafe Café "
        "Capital Church Cleaners Clinic Coffee Condos Deli Dental Diner Elementary Exit Farmers Fire Friday Gallery "
        "Garage Grill Grocery Hardware Holdings Inn Investments Journal LLC Library Lofts Management Market Methodist "
        "Mission Monday Office Parking Partners Pharmacy Pier Pizza Place Plaza Post Properties Pub Realty Records "
        "Rental Rentals Saturday School Self Shelter Shops Station Storage Studio Subway Suite Sunday Tavern Theater "
        "Theatre Thursday Trust Tuesday Unit Ventures Wednesday YMCA"
    ).split()
)
_STREET_BEFORE: Final = re.compile(
    r"(?:\b\d{1,5}|\b(?:[Oo]ne|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]even|[Ee]ight|[Nn]ine|[Tt]en)|teen|ty|twelve"
    r"|eleven|hundred) (?:[A-Z][a-z]*\.? )?(?:[A-Z][a-z]+|\d{1,3}(?:st|nd|rd|th)) \Z"
)
_POINTS: Final = frozenset("North South East West Northeast Northwest Southeast Southwest".split())
_ORDINAL: Final = re.compile(r"(?:first|second|third|[a-z]+th|\d+(?:st|nd|rd|th))\Z")
_SAINT_OR_STREET: Final = re.compile(r"\bSt\b\.?(?!\w)")
# "Serial no." and "ref. no.", with a word behind it that is no figure.
_LABEL_NUMBER: Final = re.compile(r"[Nn]o(?<=[A-Za-z] [Nn]o)\.(?! ?\d)")
# "My new no. is": a refusal is owned by nobody, and nothing is said of it in small letters behind a full stop.
_OWNED_NUMBER: Final = re.compile(
    r"\b(?:[Mm]y|[Yy]our|[Uu]r|[Hh]is|[Hh]er|[Oo]ur|[Tt]heir|(?P<article>[Tt]he|[Tt]h(?:is|at)|[Aa])) "
    r"(?:(?P<kind>new|old|current|correct|wrong|same|direct|temporary|cell|work|home|office|landline|WhatsApp|emergency"
    r"|UK|US) ){0,2}\Z"
)
_BEHIND_NUMBER: Final = re.compile(
    r":| \+\d| (?:is|was|isn't|wasn't|has|will|won't|changed|changes|remains|stays|starts|begins|ends"
    r"|belongs|again|below|above|for|on|and|or|if|in|when|instead|with|you|from)\b"
)
_ENDS_QUESTION: Final = re.compile(r"[?,;)]")
_REFERENCE: Final = re.compile(
    r"(?<![\w.])(?P<label>[Rr]ef|[Cc]onf|[Rr]eg)\.?(?= (?:no|num|number|code|id)\b|:)|"
    r"(?<![\w.])(?P<of>[Ii]nv|[Ss]er|[Pp]ol|[Mm]em|[Cc]ert|[Ll]ic|[Cc]ust|[Rr]esv|[Cc]at|[Aa]rb|[Pp]erm|[Ss]ub"
    r"|[Cc]trl)\.?"
    r"(?= (?:no|num|number|code|id)\b)"
)
_REFERENCES: Final = {
    "ref": "eference",
    "conf": "onfirmation",
    "reg": "egistration",
    "inv": "nvoice",
    "ser": "erial",
    "pol": "olicy",
    "mem": "embership",
    "cert": "ertificate",
    "lic": "icense",
    "cust": "ustomer",
    "resv": "eservation",
    "cat": "atalog",
    "arb": "rbitration",
    "perm": "ermit",
    "sub": "ubscription",
    "ctrl": "ontrol",
}
_SHORT_WORDS: Final = short_forms.WORDS.union(_REFERENCES)
_NUMBERED: Final = frozenset(
    "account badge batch booking card case claim confirmation contact customer docket employee fax file flight id "
    "invoice item license lot member membership mobile model order page part passport patent permit phone plate policy "
    "receipt reference registration room seat serial telephone ticket tracking version chassis engine frame".split()
)
_PLURAL_INITIALS: Final = re.compile(r"(?<=[A-Z]&[A-Z])s(?!\w)")
_FORWARDED: Final = re.compile(r"^(?:FW|Fw)(?=:)", re.MULTILINE)
_SIZE: Final = "(?:X{1,3}[SL]|[2-6]XL|[SML])"
_SIZES: Final = re.compile(
    rf"(?<![\w-])({_SIZE})(?: ?[–—] ?|-(?=\d?X)|(?<=X[SL])-|(?<=[Ss]ize [SML])-|(?<=[Ss]izes [SML])-)"
    rf"(?={_SIZE}(?![\w-]))"
)
_LARGEST: Final = re.compile("[-–—] ?[2-6X]{0,3}[LM]")
_WEEKDAYS: Final = re.compile(
    r"(?<![\w-])(?:(?P<first>M|Tu|W|Th|Sa|Su) ?[-–] ?(?P<last>F|Th|Sa|Su)|(?P<second>T) ?[-–] ?(?P<end>Th|Sa"
    r"|Su))(?![\w-])"
)
_DAYS: Final = {
    "M": "Monday", "T": "Tuesday", "Tu": "Tuesday", "W": "Wednesday", "Th": "Thursday", "F": "Friday",
    "Sa": "Saturday", "Su": "Sunday",
}  # fmt: skip
_DOCTOR: Final = re.compile(r"(?<![\w.])(?P<lead>(?:the|my|your|her|his|a|to) )dr\b\.?(?='s\b| [a-z]|[,;!?)]|$)")
_BEFORE_NUMERAL: Final = re.compile(
    r"(?<![\w.'])([Vv]ols?|[Cc]hs?|[Cc]hap|[Ff]igs?|[Ss]ecs?|[Ss]ect|[Aa]rts?|pp?|[Bb]k|[Ss]c|mvt|Amend|App|Div|[Pp]t)\."
    r"(?= (?:[IVXLC]{1,7}|[ivxl]{1,7})(?![\w']))"
)
_WITH_STOP: Final = re.compile(r"(?<![\w.'\\])([A-Za-z]{1,7})\.(?!\w)")
_JOURNEYS: Final = {"arr": "arrival", "dep": "departure"}
_GOES_ON: Final = re.compile(r"[,;:)]| (?:[a-z\d(&@+=~<>$£€–-]|[A-Z](?![A-Za-z]))")
_LEAVING: Final = re.compile(
    r" [A-Z][a-z]+(?: [A-Z][a-z]+)?,? (?:at )?(?:\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|noon|midnight)\b)"
)
_AIRPORT: Final = 3
_COUNTING: Final = re.compile(r"(?:\d\+?|one|two|three|four|five|six|seven|eight|nine|ten|een|ty|elve|dred)[ -]\Z")
_WITHOUT_STOP: Final = re.compile(r"\b(Mr|Mrs|Ms|Prof)(?= [A-Z])|\bvs\b(?!\.)")
_ROAD: Final = re.compile(
    r"(?<=[A-Za-z0-9] )(?:(Ave|Blvd|Pkwy|Hwy|Bldg|Fwy|Tpke)(?![\w.'])|(Cir|Ct|Expy|Ln|Pl|Rd|Sq|Ter|Trl)(?![\w.'-]))"
)
# Two abbreviations of an office, or one before what it is the office of.
_OFFICE: Final = re.compile(
    r"\b(?:(?P<chief>Sec|Adj|Comp|Cons|Gov|Atty|Dir|Maj|Brig|Surg|Insp|Lt|Solic)\.?[ -]Gen\b\.?"
    r"|(?P<deputy>Dep)\. (?=(?:Prime|Sec|Dir|Gov|Chief|Mayor|Atty|Minister|Speaker|Sheriff)\b)"
    r"|(?P<secretary>Sec)\. (?=of (?:[A-Z]|the [A-Z])))"
)
_UNIVERSITY: Final = re.compile(r"\bU\. (?=of [A-Z])")
_ELECT: Final = re.compile(r"\b(Pres|Gov|Sen|Rep)\.(?=-elect\b)")
_OFFICES: Final = {
    "Sec": "Secretary",
    "Adj": "Adjutant",
    "Atty": "Attorney",
    "Comp": "Comptroller",
    "Cons": "Consul",
    "Gov": "Governor",
    "Dir": "Director",
    "Maj": "Major",
    "Brig": "Brigadier",
    "Surg": "Surgeon",
    "Insp": "Inspector",
    "Lt": "Lieutenant",
    "Solic": "Solicitor",
}


def read(text: TrackedText) -> TrackedText:
    """Abbreviations in full; letters with stops between them as capitals, which are spelled when spoken."""
    words = words_of(text.text)
    if "&" in text.text:
        text = text.sub(_PLURAL_INITIALS, "'s")
    text = _initialled(settings.read(courts.read(text), words))
    if text.text.startswith(("FW:", "Fw:")):
        text = text.sub(_FORWARDED, "Forward")
    short = not words.isdisjoint(_SHORT_WORDS)
    if short:
        text = text.sub(_REFERENCE, _reference)
    if "." in text.text:
        text = text.sub(_LABEL_NUMBER, _label_number).sub(_AGAINST, "versus").sub(_WITH_STOP, _with_stop)
    text = text.sub(_WITHOUT_STOP, _without_stop).sub(_ROAD, _road)
    if _LARGEST.search(text.text):
        text = text.sub(_SIZES, r"\1 to ")
    if "-" in text.text or "–" in text.text:
        text = text.sub(_WEEKDAYS, _weekdays)
    return short_forms.read(text) if short else text


def _weekdays(match: re.Match[str]) -> str:
    return f"{_DAYS[match['first'] or match['second']]} to {_DAYS[match['last'] or match['end']]}"


def _initialled(text: TrackedText) -> TrackedText:
    """Phrases, offices, degrees, initials, and what "Dr" and "St" stand for."""
    text = short_forms.read_elisions(phrases.read(idioms.read(text))).sub(_DEGREE, _degree)
    if "." in text.text:
        text = _stopped(text)
    if "Dr" in text.text:
        text = text.sub(_DOCTOR_OR_DRIVE, _doctor_or_drive)
    if "St" in text.text:
        text = text.sub(_SAINT_OR_STREET, _saint_or_street)
    return text.sub(_DOCTOR, r"\g<lead>doctor") if " dr" in text.text else text


def _stopped(text: TrackedText) -> TrackedText:
    """Numbered parts, universities, offices, initials and species."""
    text = before_figures.read_lettered(text).sub(_BEFORE_NUMERAL, lambda match: BEFORE_FIGURES.get(match[1]))
    if "U. " in text.text:
        text = text.sub(_UNIVERSITY, "University ")
    if ".-" in text.text:
        text = text.sub(_ELECT, lambda match: TITLES[match[1]])
    if "Gen" in text.text or "Sec." in text.text or "Dep." in text.text:
        text = text.sub(_OFFICE, _office)
    text = text.sub(_DOTTED_LETTERS, _dotted_letters).sub(_INITIALS, _initials)
    return text.sub(_SPECIES, r"\1").sub(_INITIAL, _initial)


def _reference(match: re.Match[str]) -> str:
    label = match["label"] or match["of"]
    return label[0] + _REFERENCES[label.lower()]


def _label_number(match: re.Match[str]) -> str | None:
    named = word_before(match).lower() in _NUMBERED or is_owned_number(match.string, match.end() - 1)
    return "number" if named else None


def is_owned_number(text: str, stop: int) -> bool:
    """Return whether the "no" before a full stop has an owner or a kind, and behind it what is said of a number."""
    owned = _OWNED_NUMBER.search(text, max(0, stop - 42), stop - 2)
    if owned is None:
        return False
    if _BEHIND_NUMBER.match(text, stop + 1):
        return True
    return bool(owned["kind"] or not owned["article"]) and _ENDS_QUESTION.match(text, stop + 1) is not None


def _degree(match: re.Match[str]) -> str:
    if match.group()[1:5] in (".Phi", ".Ed", ".Ed."):
        return f"{match.group()[0]} {'Phil' if 'P' in match.group()[1:] else 'Ed'}{final_stop(match)}"
    return match.group().replace(".", "").upper() + final_stop(match)


def _dotted_letters(match: re.Match[str]) -> str:
    phrase = DOTTED.get(match.group().rstrip(".").lower())
    letters = match.group().replace(".", "")
    if letters[-1] == "s" and letters[:-1].isupper() and len(letters) > 2 and not match.group().endswith("."):
        return letters
    apart = letters.islower() or letters in _LETTERS_ALONE
    spelled = ".".join(letters.upper()) if apart else spelled_pair(letters.upper())
    return (phrase or spelled) + final_stop(match)


def _initials(match: re.Match[str]) -> str:
    return spelled_pair(match.group().replace(".", "").replace(" ", ""))


def _initial(match: re.Match[str]) -> str | None:
    """The first letter of a name loses its stop; a letter that merely ends a sentence keeps it."""
    following = word_after(match)
    next_is_initial = len(following) == 1 and match.string[match.end() + 2 : match.end() + 3] == "."
    if following in STARTERS and not next_is_initial:
        return None
    if word_before(match).lower() in LABEL_WORDS:
        return None
    return match.group()[0] + ("" if following else " ")


def _before_name(match: re.Match[str]) -> bool:
    following = word_after(match)
    return following[:1].isupper() and following not in STARTERS and match.string[match.end()] == " "


def _doctor_or_drive(match: re.Match[str]) -> str:
    if _before_name(match) or not word_before(match)[:1].isupper():
        return "Doctor"
    return "Drive" + final_stop(match)


def _saint_or_street(match: re.Match[str]) -> str:
    if match.string.startswith("-", match.end()) and word_after(match)[:1].isupper():
        return "Saint"
    if word_after(match) in _POINTS and (word_before(match)[:1].isupper() or _ORDINAL.match(word_before(match))):
        return "Street"
    before, following = word_before(match), word_after(match)
    if before[:1].isupper() and before.rstrip(".") not in _SAINTED:
        housed = _STREET_BEFORE.search(match.string, max(0, match.start() - 48), match.start())
        if following in _BEHIND_STREET or housed:
            return "Street" + final_stop(match)
    if _before_name(match) and not (word_after(match).isupper() and len(word_after(match)) > 1):
        return "Saint"
    return "Street" + final_stop(match)


def _with_stop(match: re.Match[str]) -> str | None:
    word = match[1]
    if word in TITLES and (word in _ALWAYS or _before_name(match)) and not _departs(match, word):
        return TITLES[word]
    if word in RANKS and word_before(match).rstrip(".") in BEFORE_RANKS and _GOES_ON.match(match.string, match.end()):
        return TITLES[word]
    special = _labelled_or_counted(match, word)
    if special:
        return special
    if word == "Sec" and word_before(match)[:1].isupper():
        return "Secretary" + final_stop(match)
    if word.lower() in ("incl", "excl") and not match.string[match.end() : match.end() + 2].strip(" .,;)"):
        return f"{word.lower()}uded"
    if word.lower() in _JOURNEYS and word_after(match) in ("date", "gate", "time"):
        return _JOURNEYS[word.lower()]
    if word in WITHIN:
        return WITHIN[word] + ("." if match.end() == len(match.string) else "")
    if word in GOING_ON and _GOES_ON.match(match.string, match.end()):
        return GOING_ON[word]
    return _with_final_stop(match, word)


def _departs(match: re.Match[str], word: str) -> bool:
    """Return whether "Dep." stands before the code of an airport, and not before a name."""
    following = word_after(match)
    coded = len(following) == _AIRPORT and following.isupper()
    return word == "Dep" and (coded or _LEAVING.match(match.string, match.end()) is not None)


def _labelled_or_counted(match: re.Match[str], word: str) -> str | None:
    """A label before its colon, or what the figure in front counts."""
    lower = word.lower()
    if lower in LABELS and match.string.startswith(":", match.end()):
        return LABELS[lower].capitalize() if word[0].isupper() else LABELS[lower]
    if word in COUNTED and _COUNTING.search(match.string, max(0, match.start() - 10), match.start()):
        return COUNTED[word] + final_stop(match)
    return None


def _with_final_stop(match: re.Match[str], word: str) -> str | None:
    """Abbreviations that may end a sentence, which then keeps its full stop."""
    if word == "Co" and word_after(match) in _OF_COUNTIES:
        return "County"
    if word == "Cir" and word_before(match).islower():
        return "Circuit" + final_stop(match)
    if word in BEHIND_NAMES and _is_named(match):
        return BEHIND_NAMES[word] + final_stop(match)
    if word in ANYWHERE and (word != "al" or word_before(match) == "et"):
        return ANYWHERE[word] + final_stop(match)
    return None


def _road(match: re.Match[str]) -> str | None:
    """A road behind its name; the shortest forms of one only where that has a capital or is an ordinal."""
    if match[1]:
        return ROADS[match[1]]
    return ROADS[match[2]] if _is_named(match) else None


def _is_named(match: re.Match[str]) -> bool:
    before = word_before(match)
    return before[:1].isupper() or before in ("first", "second", "third") or before.endswith("th")


def _office(match: re.Match[str]) -> str:
    if match["chief"]:
        return f"{_OFFICES[match['chief']]} General"
    return "Deputy " if match["deputy"] else "Secretary "


def _without_stop(match: re.Match[str]) -> str:
    return TITLES.get(match.group(), "versus")
