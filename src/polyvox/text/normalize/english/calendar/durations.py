"""Durations in signs that are lengths elsewhere: 15m, 41'12", 24h volume."""

import re
from typing import Final

from polyvox.text.normalize.english.context import NOT_NOUNS, is_plural, word_after
from polyvox.text.normalize.english.numbers import DASH, cardinal, number
from polyvox.text.tracked import TrackedText

# Seconds have two digits or are more than the inches of a foot.
_PRIMES: Final = re.compile(
    r"(?<![\w.,°])(?P<minutes>\d{1,3})['’′] ?(?P<seconds>0\d|1[2-9]|[2-5]\d)(?P<part>\.\d{1,3})?(?:[\"”″]|''|’’)"
)
_MINUTES: Final = re.compile(
    rf"(?<![\w.,$€£])(?P<amount>\d{{1,3}})(?:{DASH}(?P<upto>\d{{1,3}}))?m(?:\.(?=[,;)]))?(?![\w²³/'^])"
)
_DAYS: Final = re.compile(
    r"(?:(?P<lead>\b(?:every|for|after|in|last|past|within|than|to|TTL|retention|expires in) )(?P<few>\d{1,4})"
    r"(?: (?<=(?:ry|or|er|in|st) \d )| (?<=(?:ry|or|er|in|st) \d\d )| (?<=(?:ry|or|er|in|st) \d{3} ))?|"
    r"(?<![\w.,/$€£+-])(?P<many>[1-9]\d{1,3}))"
    r"d(?![\w'/-]|\.\d)"
)
# The ends of a span, each with its own unit: "18 mos.-3 yrs."
_SPAN: Final = re.compile(
    r"(?P<first>(?<![\w.,-])\d{1,3} ?(?:mins?|hrs?|days?|wks?|weeks?|mos?|months?|yrs?|years?))\.? ?[-–] ?"
    r"(?=\d{1,3} ?(?:mins?|hrs?|days?|wks?|weeks?|mos?|months?|yrs?|years?)\b(?!-old))"
)
_STOPPED_DAYS: Final = re.compile(
    r"(?<![\w.,$€£-])(?P<count>\d{1,3}) ?d\.(?= (?:after|before|from|late|notice|of|past|prior)\b)"
)
_SHORT_DAYS: Final = re.compile(r"\d ?d(?!\w)")
_EVERY: Final = re.compile(r"\bevery \Z")
_WORKED: Final = re.compile(
    r"\b(?:alerts?|autovac\w*|backups?|checks?|cron|heartbeat|interval|jobs?|polls?|refresh\w*|retr\w+|runs?"
    r"|scrape[sd]?|syncs?)\b"
)
_METERS: Final = re.compile(r"\dm(?!\w)")
_TIMED: Final = re.compile(
    r"(?:\b(?:prep|preparation|cook|cooking|rest|resting|chill|bake|rise|proof|prove|soak|simmer|ETA|eta|wait|waiting|"
    r"delay|delayed|runtime|duration|timeout|ttl|uptime|downtime|lasts?|took|takes?|for another|"
    r"warm-?up|cool-?down|late by|MTTR|MTTD|RTO|RPO)(?: time)?:? (?:is |of |was |about |around |~)?)\Z",
    re.IGNORECASE,
)
_ALLOWED: Final = re.compile(
    r" (?:ago|delay|each side|late|left to|per (?:side|batch)|remaining|timeout|walk from|wait)\b"
)
_SWUM: Final = re.compile(
    r" (?:breaststroke|butterfly|backstroke|dash|deep|final|freestyle|heats?|high|hurdles|long|of|"
    r"people|relay|sprint|swim|tall|wide)\b"
)
_HOURS: Final = re.compile(r"(?<![\w.,:-])(?P<hours>\d{1,3})(?P<gap> ?)(?:h|hr)(?= (?:[a-z]{3,})(?!\w))")
_HOURS_BEFORE: Final = re.compile(r"\d ?hr? [a-z]")
_OF_HOURS: Final = frozenset(
    "access average averages care change chart clock cooldown coverage cycle delivery drive drop fast flight "
    "format gain "
    "gains gym high hold hotline journey layover lead limit loss low monitoring move news notice parking pass period "
    "recall return returns rise rolling service shift shifts surveillance support ticket time total trading "
    "turnaround urine "
    "vol volume wait warning watch window".split()
)


def read(text: TrackedText) -> TrackedText:
    """Minutes and seconds behind primes, minutes behind "m", and hours before what they measure."""
    if "'" in text.text or "’" in text.text or "′" in text.text:
        text = text.sub(_PRIMES, _primes)
    if "-" in text.text or "–" in text.text:
        text = text.sub(_SPAN, r"\g<first> to ")
    if _HOURS_BEFORE.search(text.text):
        text = text.sub(_HOURS, _hours)
    if _SHORT_DAYS.search(text.text):
        text = text.sub(_STOPPED_DAYS, lambda match: _counted(match["count"], "day")).sub(_DAYS, _days)
    return text.sub(_MINUTES, _minutes) if _METERS.search(text.text) else text


def _counted(figure: str, unit: str) -> str:
    return f"{number(figure)} {unit}{'' if figure == '1' else 's'}"


def _primes(match: re.Match[str]) -> str | None:
    if int(match["seconds"]) > 59 or (match["seconds"] == "00" and match["part"]):
        return None
    seconds = match["seconds"].lstrip("0") + (match["part"] or "")
    minutes = _counted(match["minutes"], "minute")
    return f"{minutes} {_counted(seconds, 'second')}" if seconds else minutes


def _minutes(match: re.Match[str]) -> str | None:
    """Minutes, where a word of cooking or waiting stands before the figure or hours do."""
    led = _TIMED.search(match.string, max(0, match.start() - 32), match.start())
    led = led or (_EVERY.search(match.string, 0, match.start()) and _WORKED.search(match.string))
    if not (led or _ALLOWED.match(match.string, match.end())) or _SWUM.match(match.string, match.end()):
        return None
    if match["upto"]:
        return f"{cardinal(match['amount'])} to {_counted(match['upto'], 'minute')}"
    return _counted(match["amount"], "minute")


def _days(match: re.Match[str]) -> str:
    """ "every 90d"; before a noun the day stays singular."""
    figure = match["few"] or match["many"]
    following = word_after(match)
    single = figure == "1" or following in _OF_HOURS
    return f"{match['lead'] or ''}{cardinal(figure)} day{'' if single else 's'}"


def _hours(match: re.Match[str]) -> str | None:
    """ "24h volume": the hours of what stands behind them."""
    following = word_after(match)
    known = following in _OF_HOURS or (not match["gap"] and is_plural(following) and following not in NOT_NOUNS)
    return f"{cardinal(match['hours'])} hour" if known else None
