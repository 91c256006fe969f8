"""Short forms that are words of their own elsewhere, by the word beside them: "Sch. of", "pls adv"."""

import re
from functools import partial
from typing import Final, NamedTuple

from polyvox.text.normalize.english.context import final_stop
from polyvox.text.tracked import TrackedText


class Idiom(NamedTuple):
    """The part of a text that calls for a search, its pattern, and the words for what is found."""

    cue: str
    found: re.Pattern[str]
    said: str


_TURNING: Final = (
    r"(?:(?<=[Bb]ear )|(?<=[Tt]urn )|(?<=[Kk]eep )|(?<=[Vv]eer )|(?<=[Ss]tay )|(?<=[Hh]ard )|(?<=[Ss]harp )"
    r"|(?<=[Ss]light )"
    r"|(?<=[Gg]o )|(?<=[Ff]irst )|(?<=[Ss]econd )|(?<=1st )|(?<=2nd )|(?<=3rd )|(?<=to the )|(?<=on the )"
    r"|(?<=[Tt]ake a )|(?<=[Mm]ake a )|(?<=[Hh]ang a ))"
)
_SHADE: Final = (
    r"(?:beige|blond|blue|brown|cherry|cream|gold|gr[ae]y|green|maple|oak|orange|pink|purple|red|roast|tan|walnut|wood"
    r"|yellow|rain|snow|winds?|traffic|meat|syrup)\b"
)
_OF_OFFICES: Final = (
    r"(?:bldg|building|chairs?|desk|equip|furniture|hrs?\b|hours|mgr|manager|park|phone|space|staff|suite|supplies|tower"
    r"|visits?|worker)"
)
_PARKED: Final = (
    r"(?:(?<=[Aa]mple )|(?<=[Ff]ree )|(?<=[Ss]treet )|(?<=[Cc]overed )|(?<=[Vv]alet )|(?<=[Gg]arage )|(?<=-site )"
    r"|(?<=[Ss]elf )|(?<=[Rr]eserved )|(?<=[Ss]ecure )|(?<=\bno )|(?<=[Gg]uest ))"
)
_IDIOMS: Final = tuple(
    Idiom(cue, re.compile(found), said)
    for cue, found, said in (
        (" exp", r"(?<=\byears )exp\b\.?(?!\w)", "experience"),
        ("emp", r"\b([Tt])emp\.?[ -]to[ -]perm(?:anent\b|\b\.?)", r"\1emporary to permanent"),
        ("esp. for", r"\b([Rr])esp\.(?= for\b)", r"\1esponsible"),
        ("rof. in", r"\b([Pp])rof\.(?= in\b)", r"\1roficient"),
        ("rs", r"\b([Yy])rs\.?(?= (?:sincerely|faithfully|truly|ever\b|affectionately|respectfully))", r"\1ours"),
        (
            "on. ",
            r"\b([Hh])on\.(?= (?:Sec\b|Treas\b|Pres\b|Chair|Life|[Mm]ember|[Ff]ellow|[Dd]egree|[Dd]octorate|LL\.?D))",
            r"\1onorary",
        ),
        (" Del.", r"\bGen\. Del\.", "General Delivery"),
        (" adv", r"(?:(?<=[Pp]lease )|(?<=[Pp]ls )|(?<=[Pp]ls\. ))adv\b\.?(?= [a-z])", "advise"),
        (" req", r"\b([Tt]he|[Tt]his|[Yy]our|[Mm]y|[Oo]ur|a|[Nn]ew|FOIA|per) req\b\.?(?!\w)", r"\1 request"),
        ("ch. of", r"\b([Ss])ch\.(?= of\b)", r"\1chool"),
        ("Bd. of", r"\bBd\.(?= of\b)", "Board"),
        ("of Ed.", r"(?<=\bof )Ed\.(?! by\b)", "Education"),
        ("Ed. ", r"\bEd\.(?= (?:Psych|Dept|Policy|Sec|Code|Admin)\b)", "Education"),
        ("Dem. ", r"\bDem\.(?= [A-Z])", "Democratic"),
        ("Repub. ", r"\bRepub\.(?= [A-Z])", "Republican"),
        ("see att.", r"(?<=\bsee )att\.(?!\w)", "attached"),
        (" ent", r"(?:(?<=\bfront )|(?<=\brear )|(?<=\bside )|(?<=\bmain )|(?<=\bback ))ent\b\.?(?!\w)", "entrance"),
        ("years of Eng.", r"(?<=years of )Eng\.", "English"),
        ("pp. the", r"\b([Oo])pp\.(?= the\b)", r"\1pposite"),
        ("(opp. ", r"(?<=\()opp\.(?= [A-Z])", "opposite"),
        ("AP Gov", r"(?<=\bAP )Gov\b\.?", "Government"),
        ("Fed. Cl.", r"\bFed\. Cl\.(?!\w)", "Federal Claims"),
        (" rt", rf"{_TURNING}rt\b\.?(?!\w)", "right"),
        (" lt", rf"{_TURNING}lt\b\.?(?!\w)", "left"),
        (" lt", rf"\b([Ll])t\b\.?(?= {_SHADE})", r"\1ight"),
        (" dk", rf"\b([Dd])k\b\.?(?= {_SHADE})", r"\1ark"),
        (" dr", r"(?<=\b[2-5] )dr\b\.?(?! [A-Z])", "door"),
        ("Ofc", rf"\bOfc\b\.?(?= {_OF_OFFICES})", "Office"),
        (" ofc", rf"\bofc\b\.?(?= {_OF_OFFICES})", "office"),
        (
            " pkg",
            rf"(?:{_PARKED}pkg\b\.?(?!\w)|\bpkg\b\.?(?= (?:lots?|spaces?|garage|permits?|fees?)\b"
            r"| (?:[a-z]+ ){1,4}dollars per (?:night|day|hour|month)))",
            "parking",
        ),
        ("k-", r"\b([Cc])k-(in|out)\b", r"\1heck-\2"),
        ("RT", r"\bRT(?= (?:air(?:fare)?|fares?|flights?|tickets?|nonstop)\b)|(?<=\d )RT(?=[,.;)]|$)", "round trip"),
        ("OW", r"\bOW(?= (?:air(?:fare)?|fares?|flights?|tickets?)\b)|(?<=\d )OW(?=[,.;)]|$)", "one way"),
        (" gar", r"\b([Aa])tt\b\.?(?= gar)", r"\1ttached"),
        (" gar", r"\b([Dd])et\b\.?(?= gar)", r"\1etached"),
        ("op. by", r"\bop\.(?= by\b)", "operated"),
    )
)


def read(text: TrackedText) -> TrackedText:
    """Each idiom in full; a full stop that also ends the sentence stays."""
    for idiom in _IDIOMS:
        if idiom.cue in text.text:
            text = text.sub(idiom.found, partial(_in_full, said=idiom.said))
    return text


def _in_full(match: re.Match[str], said: str) -> str:
    return match.expand(said) + final_stop(match)
