"""Short forms that are typed without a full stop: words without their vowels or their middle, and those of a chat."""

import re
from typing import Final

from polyvox.text.normalize.english.context import final_stop, word_before
from polyvox.text.normalize.english.letters import any_of
from polyvox.text.tracked import TrackedText

# Written without vowels, and so nothing else; with or without a full stop.
SHORTENED: Final = {
    "acct": "account",
    "accts": "accounts",
    "addr": "address",
    "mkts": "markets",
    "agmt": "agreement",
    "amts": "amounts",
    "approx": "approximately",
    "appt": "appointment",
    "appts": "appointments",
    "attn": "attention",
    "atty": "attorney",
    "attys": "attorneys",
    "bdrm": "bedroom",
    "bkfst": "breakfast",
    "bks": "books",
    "cnr": "corner",
    "pct": "percent",
    "rms": "rooms",
    "bdrms": "bedrooms",
    "bldg": "building",
    "bldgs": "buildings",
    "blk": "block",
    "blks": "blocks",
    "brkfst": "breakfast",
    "btwn": "between",
    "batt": "battery",
    "btn": "button",
    "btns": "buttons",
    "cmd": "command",
    "cmds": "commands",
    "cntr": "center",
    "cols": "columns",
    "chg": "charge",
    "chgs": "charges",
    "ctrl": "control",
    "cyl": "cylinder",
    "dmg": "damage",
    "dbl": "double",
    "dkt": "docket",
    "flr": "floor",
    "fwd": "forward",
    "govt": "government",
    "gtd": "guaranteed",
    "hbk": "hardback",
    "hct": "hematocrit",
    "hgb": "hemoglobin",
    "hrs": "hours",
    "hwy": "highway",
    "intl": "international",
    "lbs": "pounds",
    "mfg": "manufacturing",
    "mfr": "manufacturer",
    "mfrs": "manufacturers",
    "mgmt": "management",
    "mgr": "manager",
    "mkt": "market",
    "mktg": "marketing",
    "msg": "message",
    "msgs": "messages",
    "mtg": "meeting",
    "mtgs": "meetings",
    "mths": "months",
    "mtn": "mountain",
    "mtns": "mountains",
    "mvt": "movement",
    "mvmt": "movement",
    "mvts": "movements",
    "natl": "national",
    "pbk": "paperback",
    "pgs": "pages",
    "pkg": "package",
    "pkgs": "packages",
    "kbd": "keyboard",
    "pls": "please",
    "plz": "please",
    "pmt": "payment",
    "pmts": "payments",
    "ppl": "people",
    "pts": "points",
    "pymt": "payment",
    "pymts": "payments",
    "qtr": "quarter",
    "qtrs": "quarters",
    "qty": "quantity",
    "rcpt": "receipt",
    "rcvd": "received",
    "spd": "speed",
    "rtn": "return",
    "std": "standard",
    "svc": "service",
    "tbsp": "tablespoon",
    "thx": "thanks",
    "tkts": "tickets",
    "tmrw": "tomorrow",
    "tsp": "teaspoon",
    "tkt": "ticket",
    "twp": "township",
    "txt": "text",
    "utd": "united",
    "wds": "words",
    "wkly": "weekly",
    "wknd": "weekend",
    "wks": "weeks",
    "wkt": "wicket",
    "wkts": "wickets",
    "yds": "yards",
    "yrs": "years",
}
# Those of a chat, where a full stop behind them ends what is said.
CHATTED: Final = frozenset("ppl thx tmrw wknd".split())
# In capitals these are something else.
_OTHER_IN_CAPITALS: Final = frozenset("blk bks rms pct msg std rtn pls mkt tkt svc fwd".split())
# Words with their middle left out.
_ELIDED: Final = {
    "ass'n": "association",
    "comm'n": "commission",
    "cont'd": "continued",
    "dep't": "department",
    "eng'g": "engineering",
    "est'd": "established",
    "gov't": "government",
    "int'l": "international",
    "mfg'd": "manufactured",
    "nat'l": "national",
    "rec'd": "received",
    "req'd": "required",
    "sec'y": "secretary",
    "s'pore": "Singapore",
}
# What people type in small letters and say in full; in capitals they are spelled.
TYPED: Final = {
    "abt": "about",
    "afaik": "as far as I know",
    "atm": "at the moment",
    "bc": "because",
    "brb": "be right back",
    "btw": "by the way",
    "fwiw": "for what it's worth",
    "fyi": "for your information",
    "gtg": "got to go",
    "hmu": "hit me up",
    "icymi": "in case you missed it",
    "idc": "I don't care",
    "idk": "I don't know",
    "iirc": "if I recall correctly",
    "ikr": "I know right",
    "ily": "I love you",
    "imho": "in my humble opinion",
    "imo": "in my opinion",
    "irl": "in real life",
    "iykyk": "if you know you know",
    "nbd": "no big deal",
    "np": "no problem",
    "otw": "on the way",
    "rly": "really",
    "smth": "something",
    "tyvm": "thank you very much",
    "ty": "thank you",
    "yw": "you're welcome",
    "hbd": "happy birthday",
    "fr": "for real",
    "fri": "Friday",
    "gm": "good morning",
    "gn": "good night",
    "idek": "I don't even know",
    "istg": "I swear to god",
    "obv": "obviously",
    "obvs": "obviously",
    "thnx": "thanks",
    "tnx": "thanks",
    "xoxo": "X O X O",
    "2mrw": "tomorrow",
    "jk": "just kidding",
    "ngl": "not gonna lie",
    "nvm": "never mind",
    "ofc": "of course",
    "omg": "oh my god",
    "omw": "on my way",
    "rn": "right now",
    "smh": "shaking my head",
    "tbf": "to be fair",
    "tbh": "to be honest",
    "tmr": "tomorrow",
    "tmw": "tomorrow",
    "ttyl": "talk to you later",
    "tysm": "thank you so much",
    "ur": "your",
    "wdym": "what do you mean",
    "wdyt": "what do you think",
    "wyd": "what are you doing",
    "yoy": "year over year",
    "bday": "birthday",
    "hbu": "how about you",
    "hx": "history",
    "srsly": "seriously",
    "sry": "sorry",
    "lmk": "let me know",
    "thurs": "Thursday",
    "tues": "Tuesday",
    "wbu": "what about you",
    "weds": "Wednesday",
    "2day": "today",
    "2moro": "tomorrow",
    "2morrow": "tomorrow",
    "2nite": "tonight",
    "b4": "before",
    "gr8": "great",
    "l8": "late",
    "l8r": "later",
    "tks": "thanks",
    "m8": "mate",
    "w8": "wait",
}
# Initials that are said in full however they are typed.
MIXED_CASE: Final = {
    "YoY": "year over year",
    "QoQ": "quarter over quarter",
    "MoM": "month over month",
    "ICYMI": "in case you missed it",
    "TL;DR": "TLDR",
    "tl;dr": "TLDR",
}
_NAMES: Final = frozenset(("ty", "fr", "fri", "gm"))
"""With a capital, a name, a title or a firm."""
_TYPED: Final = re.compile(
    r"(?<![\w.'@#-])(?:"
    + any_of((*TYPED, *(word.capitalize() for word in TYPED if word not in _NAMES), *MIXED_CASE))
    + r")(?![\w'@-]|\.\w)"
)
_SHORTENED: Final = re.compile(
    r"(?<![\w.'@#/-])(?P<word>" + any_of(SHORTENED) + r")(?![\w@/]|'(?!s\b)|\.\w)\.?", re.IGNORECASE
)
_ELISION: Final = re.compile(r"(?<![\w'])(?:" + "|".join(_ELIDED) + r")(?![\w'])", re.IGNORECASE)
WORDS: Final = frozenset((*SHORTENED, *TYPED, *map(str.lower, MIXED_CASE), "tl"))
"""A text without any of them, in small letters, is left as it is by `read`."""


def read(text: TrackedText) -> TrackedText:
    """Words without their vowels, and those of a chat, in full."""
    return text.sub(_SHORTENED, _shortened).sub(_TYPED, _typed)


def read_elisions(text: TrackedText) -> TrackedText:
    """ "gov't" and its like in full."""
    return text.sub(_ELISION, _elided) if "'" in text.text else text


def _shortened(match: re.Match[str]) -> str | None:
    short = match["word"]
    if not (short.islower() or short.istitle() or (short.isupper() and short.lower() not in _OTHER_IN_CAPITALS)):
        return None
    word = SHORTENED[short.lower()]
    if short == "Pct" and word_before(match).islower():
        word = "precinct"
    stop = match.group()[len(short) :] if short.lower() in CHATTED else final_stop(match)
    return (word.capitalize() if short[0].isupper() else word) + stop


def _elided(match: re.Match[str]) -> str:
    word = _ELIDED[match.group().lower()]
    return word.capitalize() if match.group()[0].isupper() else word


def _typed(match: re.Match[str]) -> str:
    return MIXED_CASE.get(match.group()) or TYPED[match.group().lower()]
