"""Results of games: cricket scores, minutes of a match, won and lost, batting averages, and teams named by a year."""

import re
from typing import Final

from polyvox.text.normalize.english.context import word_before
from polyvox.text.normalize.english.numbers import cardinal, code, ordinal
from polyvox.text.tracked import TrackedText

_ANY: Final = re.compile(r"\d(?:[/*★'’′-]|ers\b|[a-z]{2} Q\b)|(?<!\d)\.\d{3}(?!\d)|\d–\d|\b[uU]-?\d|R\)")
# The columns of a table in a row, "P 10 W 6 D 3 L 1", whose letters are no units.
_TALLY: Final = re.compile(r"(?<![\w.])[A-Z]{1,3} \d{1,3}(?:,? [A-Z]{1,3} \d{1,3}){2,}(?![\w.%-])")
# Matches won, drawn and lost, whose letters are no units either: "4W 2D 3L".
_FORM: Final = re.compile(r"(?<![\w.])\d{1,3}W(?:(?:, ?| |-|/)\d{1,3}[DLT]){1,2}(?!\w)")
_RESULT: Final = re.compile(r"(?P<count>\d+)(?P<of>[WDLT])[,/ -]*")
_COUNTED: Final = re.compile(r"\d+")
_CRICKET: Final = re.compile(
    r"\b(?:overs|wickets?|wkts?|stumps|inn(?:ing)?s|bowled|bowlers?|ODIs?|T20I?s?|IPL|crease|all out|Ashes|cricket|"
    r"not out|declared at|toss|at (?:lunch|tea)|\d+ runs|wkts? in hand|lbw|LBW|"
    r"Test (?:match|series)|(?:first|second|third|1st|2nd|3rd) Test|ovs?)\b"
)
_TOTAL: Final = re.compile(
    r"(?<![\w./$€£-])(?P<first>\d{1,3})(?P<mark>[/–-])(?P<last>\d{1,3})(?P<declared>d(?:ec)?)?(?![\w/%–-]|[.,]\d| of\b)"
)
_NOT_OUT: Final = re.compile(r"(?<![\w.,/-])(?P<runs>\d{1,3})\*(?![\w*])")
_MATCH: Final = re.compile(
    r"\b(?:goals?|scor(?:e[ds]?|ing|ers?)|penalty|pen|header|equali[sz](?:ed|er)|winner|opener|subbed|booked|red card|"
    r"yellow|sent off|free kick|netted|brace|hat[- ]trick|put \w+ ahead)\b|"
    r"\d\+\d['’′]|[^\W\d_x] \(?[1-9]\d?(?:\+\d)?['’′](?=[,;)]|$)",
    re.IGNORECASE,
)
_MINUTE: Final = re.compile(r"(?<![\w.,])(?P<minute>\d{1,3})(?:\+(?P<added>\d{1,2}))?['’′](?!\w)")
_GAME: Final = re.compile(
    r"\b(?:beat|beats|defeated|hosts?|hosted|won|lost|wins?|loss|losses|games?|season|record|records?|vs|visits?"
    r"|visited|"
    r"faces?|faced|plays?|played|improves?d?|fell|ranked|edged|topped|bouts?|fights?|champions?|titles?|upset|KOs?"
    r"|starts?|"
    r"ATS|FGs?|O/U|batting|yds|TDs?|over/under|favou?rites?|point spread|standings|playoffs?|fired|"
    r"coach|courts|kick-?off|tip-?off|underdogs?|(?:away|home|road|ATS)(?=\)))\b",
    re.IGNORECASE,
)
_RECORD: Final = re.compile(
    r"(?:(?<=[a-z\d] \()|(?<=[A-Z] \())(?P<bracketed>\d{1,3}[-–]\d{1,3}(?:[-–]\d{1,2})?)(?=\)|, | (?:away|home"
    r"|at home|on the road|ATS|in (?:the )?(?:division|conference|league))\b)"
    r"|(?<![\w./$€£-])(?P<named>\d{1,3}[-–]\d{1,3}(?:[-–]\d{1,2})?)"
    r"(?= (?:(?:\w+ )?records?|start|mark|finish|in conference|in league play|on the season|on the year|"
    r"ATS|SU|straight up|this (?:season|year|yr)|in semis|in finals|on (?:hard|clay|grass)|all-time|"
    r"overall|last season|\(\d+ KOs?|\(\d{1,3}-\d{1,3} (?:away|home|at|on|ATS|in))\b)"
)
_TEAM_RECORD: Final = re.compile(r"(?<=\bthe )\d{1,2}-\d{1,2}(?= [A-Z][a-z]+s\b)")
_LED: Final = re.compile(
    r"\b(?:records?(?: of| is| was| to)?|improv(?:e|es|ed|ing)(?: his| her| their)?(?: \w+)? to|"
    r"fell to|fall(?:s|ing)? to|"
    r"(?:club|side|team)'s|"
    r"(?:he|she|they|we|I|you|[A-Z]\w*(?=(?:'s| is| are) now))(?:'s|'re|'m| is| are| was| were)(?: now| still)?|"
    r"drop(?:s|ped)? to|moved? to|went|sits? at|stands? at|started|opened) $"
)
_OPENING: Final = re.compile(r"(?:\A|[;,.:] )[Aa]t \Z")
_TEAM_BEHIND: Final = re.compile(",? (?:he|it|she|the|they|we|you) ")
_LED_RECORD: Final = re.compile(r"(?<![\w./$€£-])\d{1,3}[-–]\d{1,3}(?:[-–]\d{1,2})?(?![\w/%-]|[.,]\d)")
_BATTING: Final = re.compile(
    r"\b(?:bat|bats|batted|batting|hit|hits|hitting|hitter|average|avg|slash|slashed|OBP|OPS)\b"
)
_AVERAGE: Final = re.compile(r"(?<![\w.])\.(?P<figures>\d{3})(?!\w)(?P<next>/(?=\.\d))?")
_DEFEATED: Final = re.compile(r"(?<=[a-z)] )(?:d\.|def\.?)(?= (?:\(?\d{1,2}\)? )?[A-Z][\w.' -]{1,24} \d{1,3}[-–]\d)")
_BEAT: Final = re.compile(r"(?<=[a-z)] )bt\b\.?(?= (?:\(?\d{1,2}\)? )?[A-Z])")
_OF_CRICKET: Final = re.compile(
    r"\b(?:(?P<innings>inns)|(?P<overs>ovs)|(?<=\d )(?P<declared>dec))\b\.?(?= ?[\d(;,.)]|$)"
)
_GAMES_LEFT: Final = re.compile(r"(?<=\d )gms\b\.?(?= (?:left|to go|remaining|in hand|back|behind)\b)")
_ALL_OUT: Final = re.compile(r"(?<=\d )\(?a(?:\.o\.|/o\b)\)?")
# How many games a team is behind another: "3.5 GB of the Mets".
_GAMES_BACK: Final = re.compile(
    r"(?<=\d )GB(?P<more> back| behind)?"
    r"(?= (?:(?:of|to) (?:the )?(?:[A-Z]\w*|first|second|third|last|lead|top)|in the|out of)\b"
    r"|(?: (?:of|in) (?:the )?(?:[AN]L|wild|division)\b))"
)
_ODDS: Final = re.compile(r"(?<![\w./])(?<!\d )(?P<against>\d{1,3})/(?P<on>\d{1,2})(?![\w/]|\.\d| of\b)")
_BEFORE_ODDS: Final = frozenset(
    "a an and are as at between draw from in into is odds of on or out start started the then to was with".split()
)
_BETTING: Final = re.compile(
    r"\b(?:[Oo]dds|odds-on|evens|favs?|favou?rites?|bookies|bookmakers?"
    r"|outsiders?|punters?|each[- ]way|lengths?|furlongs?|jockey|"
    r"Derby|Grand National|Cheltenham|Ascot|Epsom|Aintree|Goodwood|Newmarket|tipster|Ladbrokes|Paddy Power|Betfair|"
    r"(?:priced|backed|tipped|available|returned|won|romped home|came in) at \d)"
)
_ATTEMPTS: Final = re.compile(r"(?<![\w./])(?P<made>\d{1,2})/(?P<tried>\d{2}|\d(?= (?:FG|FT|3P)))(?![\w/]|\.\d| of\b)")
_SHOTS: Final = re.compile(
    r"(?<![\w./-])(?P<made>\d{1,2})-(?:of-)?(?P<tried>\d{1,2})"
    r"(?= (?:FGs?|FT|3PT?|3FG|from (?:three|3|deep|beyond|the (?:field|line|floor|arc))|shooting|passing)\b"
    r"| \(\d{1,3}(?:\.\d)?%\)(?! of)|(?<=(?:ff|on|ng) \d-\d{2})|(?<=(?:ff|on|ng) \d\d-\d{2}))(?![\w/-]|\.\d)"
)
_TRIED: Final = re.compile(
    r"\b(?:QB|pass(?:es|ing)|completions?|TDs?|shooting|FG|3PT|from the field|free throws|yds)\b"
)
_SERVED: Final = re.compile(
    r"\b(?:serv(?:e|ed|es|ing)|deuce|break points?|BPs|set points?|match points?|breaks?|broke|tie-?break|(?:[Tt]he"
    r"|[Ff]irst|[Ss]econd|[Tt]hird|1st|2nd|3rd|[Oo]pening|[Dd]eciding) set|ATP|WTA|Wimbledon|\d(?:st|nd|rd|th) seed"
    r"|top seed|straight sets)\b"
)
_GAME_SCORE: Final = re.compile(r"(?<![\w./-])(?P<server>0|15|30|40)[-–](?P<receiver>0|15|30|40)(?![\w/-]|[.,]\d)")
_TEAM: Final = re.compile(r"(?<![\w.,'’-])(?P<year>[2-9][1-9])ers\b")
_QUARTER: Final = re.compile(r"(?<=\d(?:st|nd|rd|th) )Q(?!\w)")
_AGE_GROUP: Final = re.compile(r"(?<![\w.'-])(?:[uU]-?(?P<age>[3-9]|1\d|2[0-3])s(?!\w)|u(?P<alone>[3-9]|1\d)(?![\w.]))")
_NATIONAL: Final = re.compile(
    r"(?<![\w.'-])U-?(?P<age>1[2-9]|2[0-3])(?= (?:Euros?|World|Championships?|Cup|League|squad|side|team|game|match"
    r"|final|"
    r"international|players?|caps?|boys|girls|women|men|coach|captain|level|national|tournament|qualif\w+)\b)"
)
_STARRED: Final = re.compile(
    r"(?<![\w.,$£€-])(?P<stars>[1-7](?: ?[-–/] ?[1-7]| or [1-7]\*?)?)(?:\*|-?★)(?=s?(?: [a-z-]{2,12})? (?:accom\w*"
    r"|b&b|B&B|"
    r"board|campsite|food|hostel|hotel|lodge|recruit|rating|resort|review|room|spa|stay|service|villa|[Hh]otel)s?\b)"
)
_MARKED: Final = re.compile(r"(?<=\()(?:(?P<pen>pens?\.?|p\.)|o\.?g\.?)(?=\))", re.IGNORECASE)
_RECORDS: Final = re.compile(r"(?<=\d )\((?P<best>[ONW]R|[PS]B|WL|DQ|DN[FS])\)")
_SCORED: Final = re.compile(r"(?<=minute )(?:(?P<pen>pens?)|o\.?g)(?:\.(?=[,;)])|(?!\w))")
_ATTENDANCE: Final = re.compile(r"\bAtt(?=[.:])\.?(?=:? ?\d{1,3}(?:,\d{3}|\d\d))")
_NEAR: Final = 80
_LONGEST_MATCH: Final = 130
_WICKETS: Final = 10


def read(text: TrackedText) -> TrackedText:
    """Scores that only the game around them explains; a plain "3-2" is left to the ranges."""
    if _TALLY.search(text.text):
        text = text.sub(_TALLY, lambda match: _COUNTED.sub(lambda one: cardinal(one.group()), match.group()))
    if "W" in text.text and _FORM.search(text.text):
        text = text.sub(_FORM, lambda match: _RESULT.sub(_result, match.group()))
    if " gms" in text.text:
        text = text.sub(_GAMES_LEFT, "games")
    if _ANY.search(text.text) is None:
        return text
    text = _cricket(_classes(text))
    if _MATCH.search(text.text):
        text = text.sub(_MINUTE, _minute).sub(_MARKED, _goal).sub(_SCORED, _goal)
    if _SERVED.search(text.text):
        text = text.sub(_GAME_SCORE, _game_score)
    if _GAME.search(text.text):
        text = _records(text)
    if "Att" in text.text:
        text = text.sub(_ATTENDANCE, "Attendance")
    if _BATTING.search(text.text):
        text = text.sub(_AVERAGE, _average)
    text = _chances(text)
    return _won(text).sub(_TEAM, _team).sub(_QUARTER, "quarter")


def _cricket(text: TrackedText) -> TrackedText:
    if _CRICKET.search(text.text) is None:
        return text
    text = text.sub(_NOT_OUT, r"\g<runs> not out").sub(_ALL_OUT, "all out")
    return text.sub(_OF_CRICKET, _of_cricket).sub(_TOTAL, _total)


def _records(text: TrackedText) -> TrackedText:
    text = text.sub(_RECORD, _record).sub(_LED_RECORD, _led_record)
    if " GB" in text.text:
        text = text.sub(_GAMES_BACK, lambda match: f"games{match['more'] or ' back'}")
    return text.sub(_TEAM_RECORD, lambda match: _won_and_lost(match.group()))


def _won(text: TrackedText) -> TrackedText:
    if " bt" in text.text:
        text = text.sub(_BEAT, "beat")
    if any(short in text.text for short in (" d. ", " def ", " def. ")):
        text = text.sub(_DEFEATED, "defeated")
    return text


def _result(match: re.Match[str]) -> str:
    return f"{cardinal(match['count'])} {match['of']} "


def _classes(text: TrackedText) -> TrackedText:
    """Stars of hotels, the ages of teams, and what a time is the best of."""
    if "*" in text.text or "★" in text.text:
        text = text.sub(_STARRED, r"\g<stars>-star")
    if "u" in text.text or "U" in text.text:
        text = text.sub(_AGE_GROUP, _age_group).sub(_NATIONAL, _age_group)
    return text.sub(_RECORDS, lambda match: f"({'.'.join(match['best'])})") if "R)" in text.text else text


def _chances(text: TrackedText) -> TrackedText:
    """Odds, and how many of all attempts succeeded."""
    if "/" in text.text and _BETTING.search(text.text):
        text = text.sub(_ODDS, _odds)
    if "/" in text.text and _TRIED.search(text.text):
        text = text.sub(_ATTEMPTS, _attempts)
    return text.sub(_SHOTS, _attempts) if "-" in text.text else text


def _total(match: re.Match[str]) -> str | None:
    """Runs for wickets, or a bowler's wickets for runs: "287/6", "5/37"."""
    first, last = int(match["first"]), int(match["last"])
    total = first > _WICKETS >= last and (match["mark"] == "/" or first > 30)
    bowled = match["mark"] == "/" or (not match["declared"] and word_before(match)[:1].isupper())
    figures = first <= _WICKETS < last and bowled
    if not (total or figures):
        return None
    declared = " declared" if match["declared"] else ""
    return f"{code(match['first'])} for {code(match['last'])}{declared}"


def _of_cricket(match: re.Match[str]) -> str:
    return "innings" if match["innings"] else "overs" if match["overs"] else "declared"


def _minute(match: re.Match[str]) -> str | None:
    if int(match["minute"]) > _LONGEST_MATCH:
        return None
    if match["added"]:
        return f"{cardinal(match['minute'])} plus {cardinal(match['added'])}"
    return f"{ordinal(match['minute'])} minute"


def _age_group(match: re.Match[str]) -> str:
    """ "u12", "the U21s"."""
    age = cardinal(next(filter(None, match.groups())))
    plural = ("es" if age.endswith("x") else "s") if match.group().endswith("s") else ""
    return f"under {age[:-1] + 'ie' if plural and age.endswith('y') else age}{plural}"


def _goal(match: re.Match[str]) -> str:
    return "penalty" if match["pen"] else "own goal"


def _record(match: re.Match[str]) -> str | None:
    """Games won and lost behind a team's name, and before a word that tells of a record."""
    placed = match.string.startswith(" ", match.end())
    if match["bracketed"] and not placed and not _word_before_bracket(match)[:1].isupper():
        return None
    return _won_and_lost(match["bracketed"] or match["named"])


def _word_before_bracket(match: re.Match[str]) -> str:
    """The word before the bracket that opens in front of a match."""
    words = match.string[max(0, match.start() - 24) : match.start() - 1].split()
    return words[-1] if words else ""


def _led_record(match: re.Match[str]) -> str | None:
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    led = _LED.search(before) or (_OPENING.search(before) and _TEAM_BEHIND.match(match.string, match.end()))
    return _won_and_lost(match.group()) if led else None


def _won_and_lost(record: str) -> str:
    *first, last = ("oh" if figure == "0" else cardinal(figure) for figure in re.split("[-–]", record))
    return f"{' '.join(first)} and {last}"


def _average(match: re.Match[str]) -> str | None:
    near = _BATTING.search(match.string, max(0, match.start() - _NEAR), match.end() + _NEAR)
    return code(match["figures"]) + (", " if match["next"] else "") if near else None


def _odds(match: re.Match[str]) -> str | None:
    """Odds of a bet; a fraction smaller than one only behind a word that odds follow."""
    led = match.string[match.start() - 1 : match.start()] in "(" or word_before(match).lower() in _BEFORE_ODDS
    paid = int(match["against"]) >= int(match["on"]) or led
    return f"{match['against']} to {match['on']}" if paid else None


def _attempts(match: re.Match[str]) -> str | None:
    made, tried = int(match["made"]), int(match["tried"])
    return f"{match['made']} of {match['tried']}" if made <= tried else None


def _game_score(match: re.Match[str]) -> str:
    """Points of a game of tennis: "forty fifteen"."""
    points = ["love" if side == "0" else cardinal(side) for side in (match["server"], match["receiver"])]
    return f"{points[0]} all" if points[0] == points[1] else " ".join(points)


def _team(match: re.Match[str]) -> str:
    """ "49ers", "76ers"."""
    return cardinal(match["year"]).removesuffix("e") + "ers"
