"""Short forms of a chat, typed in small letters and said in full: "idk", "gr8", "dont"."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from polyvox.text.normalize.english.context import word_after, word_before
from polyvox.text.normalize.english.letters import any_of
from polyvox.text.tracked import TrackedText

# What people type in small letters and say in full; in capitals they are spelled.
TYPED: Final = {
    "abt": "about",
    "af": "AF",
    "afk": "away from keyboard",
    "wfh": "work from home",
    "ono": "ONO",
    "ootd": "outfit of the day",
    "obo": "or best offer",
    "tysvm": "thank you so very much",
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
    "4ever": "forever",
    "4get": "forget",
    "4got": "forgot",
    "2gether": "together",
    "aint": "ain't",
    "arent": "aren't",
    "cant": "can't",
    "couldnt": "couldn't",
    "cya": "see ya",
    "didnt": "didn't",
    "doesnt": "doesn't",
    "dont": "don't",
    "hadnt": "hadn't",
    "hasnt": "hasn't",
    "havent": "haven't",
    "im": "I'm",
    "isnt": "isn't",
    "ive": "I've",
    "lmaoo": "LMAO",
    "lmaooo": "LMAO",
    "shouldnt": "shouldn't",
    "thats": "that's",
    "theres": "there's",
    "theyre": "they're",
    "wasnt": "wasn't",
    "werent": "weren't",
    "whats": "what's",
    "wont": "won't",
    "wouldnt": "wouldn't",
    "youre": "you're",
    "byob": "BYOB",
    "ttys": "TTYS",
    "tmi": "TMI",
    "yr": "your",
    "cu": "see you",
    "em": "'em",
    "cto": "CTO",
    "diy": "DIY",
    "dob": "DOB",
    "eob": "EOB",
    "eod": "EOD",
    "etf": "ETF",
    "faq": "FAQ",
    "fsbo": "FSBO",
    "hoa": "HOA",
    "icu": "ICU",
    "ipo": "IPO",
    "nyc": "NYC",
    "ocd": "OCD",
    "ooo": "OOO",
    "poc": "POC",
    "pto": "PTO",
    "qa": "QA",
    "roi": "ROI",
    "tba": "TBA",
    "tsa": "TSA",
    "ufc": "UFC",
    "usd": "USD",
    "ux": "UX",
    "ai": "AI",
    "aka": "AKA",
    "gpa": "GPA",
    "gps": "GPS",
    "any1": "anyone",
    "bcoz": "because",
    "coz": "because",
    "dw": "don't worry",
    "eta": "ETA",
    "every1": "everyone",
    "g2g": "got to go",
    "h8": "hate",
    "ianal": "I am not a lawyer",
    "ik": "I know",
    "jfc": "JFC",
    "lmao": "LMAO",
    "luv": "love",
    "prolly": "probably",
    "some1": "someone",
    "srs": "serious",
    "str8": "straight",
    "tia": "thanks in advance",
    "tho": "though",
    "ttfn": "ta ta for now",
    "wsp": "what's up",
    "wya": "where you at",
    "xmas": "Christmas",
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
_SAID_OF_YOU: Final = re.compile(
    r" (?:@|at|a|an|the|so|not|welcome|in|on|gonna|here|there|late|right|wrong|still|too|very|just|ok|free|done"
    r"|home|up|ready|"
    r"sure|coming|going|back|with|being|doing|getting|leaving|kidding|amazing)\b"
)
_SIGNS: Final = frozenset("+-−=*/×·")
_OWNERS: Final = frozenset("a the his her their its my our your is of religious political moral".split())
_YEAR_BEFORE: Final = re.compile(
    r"(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|teen|ty|per|an?|this|last|next|every|each|of|the|school|fiscal|tax|"
    r"calendar|gap|new|light|prior|previous|first|second|third|th)[ -]\Z",
    re.IGNORECASE,
)
_OF_MACHINES: Final = frozenset("fee fees machine card pin withdrawal receipt limit lobby".split())
_NAMES: Final = frozenset(
    (
        "af",
        "yr",
        "cu",
        "em",
        "ai",
        "aka",
        "cto",
        "dob",
        "faq",
        "icu",
        "nyc",
        "poc",
        "roi",
        "qa",
        "diy",
        "eob",
        "hoa",
        "etf",
        "ipo",
        "ux",
        "usd",
        "ik",
        "srs",
        "tia",
        "eta",
        "luv",
        "dw",
        "coz",
        "ty",
        "fr",
        "fri",
        "gm",
        "ono",
        "b4",
        "l8",
        "m8",
        "w8",
    )
)
"""With a capital, a name, a title, a firm, or the size of a screw."""
_TYPED: Final = re.compile(
    r"(?<![\w.'@#-])(?:"
    + any_of((*TYPED, *(word.capitalize() for word in TYPED if word not in _NAMES), *MIXED_CASE))
    + r")(?![\w@-]|'(?!s\b)|\.\w)"
)
WORDS: Final = frozenset((*TYPED, *map(str.lower, MIXED_CASE), "tl"))
_NEAR: Final = 12
_COUNTED: Final = re.compile(r"(?:\d[\"″]?|one|two|three|four|five|six|seven|eight|nine|ten|teen|ty|inch(?:es)?) \Z")


def read(text: TrackedText) -> TrackedText:
    """The words of a chat in full."""
    return text.sub(_TYPED, _typed)


def _typed(match: re.Match[str]) -> str | None:
    if match.group() in _DOUBTFUL:
        return _DOUBTFUL[match.group()](match)
    return _usual(match)


def _usual(match: re.Match[str]) -> str:
    return MIXED_CASE.get(match.group()) or TYPED[match.group().lower()]


def _atm(match: re.Match[str]) -> str:
    """At the moment, or a machine that pays out."""
    machine = word_after(match) in _OF_MACHINES or word_before(match) in ("an", "the", "nearest")
    return "ATM" if machine else _usual(match)


def _bc(match: re.Match[str]) -> str:
    """Because, or two letters of a product."""
    multiplied = match.string[max(0, match.start() - 2) : match.start()].strip() in _SIGNS
    return "B.C" if multiplied else _usual(match)


def _yr(match: re.Match[str]) -> str:
    """Your, or a year behind its number."""
    counted = _YEAR_BEFORE.search(match.string, max(0, match.start() - _NEAR), match.start())
    return "year" if counted else _usual(match)


def _srs(match: re.Match[str]) -> str:
    """Serious, or pupils of the last year behind their number."""
    counted = _COUNTED.search(match.string, max(0, match.start() - _NEAR), match.start())
    return "seniors" if counted else _usual(match)


def _fr(match: re.Match[str]) -> str | None:
    """For real, or the frame of so many inches."""
    sized = _COUNTED.search(match.string, max(0, match.start() - _NEAR), match.start())
    return None if sized else _usual(match)


def _em(match: re.Match[str]) -> str | None:
    """Them, or the width of a letter."""
    return None if word_after(match) in ("dash", "dashes", "space", "quad", "units") else _usual(match)


def _negated(match: re.Match[str]) -> str | None:
    """Can't and won't, or the nouns that they look like."""
    return None if word_before(match) in _OWNERS else _usual(match)


def _ur(match: re.Match[str]) -> str:
    return "you're" if _SAID_OF_YOU.match(match.string, match.end()) else _usual(match)


_DOUBTFUL: Final[Mapping[str, Callable[[re.Match[str]], str | None]]] = {
    "atm": _atm,
    "bc": _bc,
    "cant": _negated,
    "em": _em,
    "fr": _fr,
    "srs": _srs,
    "ur": _ur,
    "wont": _negated,
    "yr": _yr,
}
