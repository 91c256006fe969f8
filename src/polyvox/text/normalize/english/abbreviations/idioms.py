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
        (
            "gg. ",
            r"\b([Aa])gg\.(?= (?:[Aa]ssaults?|[Bb]attery|[Rr]obber(?:y|ies)|[Bb]urglary|[Mm]urder|[Ss]talking"
            r"|[Mm]enacing|[Hh]arassment|[Kk]idnapping|[Aa]rson|[Tt]heft|[Ss]exual|[Vv]ehicular|[Mm]anslaughter|[Hh]omicide"
            r"|[Cc]riminal|DUI|DWI|"
            r"[Ff]leeing|[Ff]elony|[Oo]ffen[cs]es?)\b)",
            r"\1ggravated",
        ),
        ("ot. of", r"\b([Bb])ot\.(?= of the\b)", r"\1ottom"),
        ("inc. ", r"(?<=\w )inc\.(?= (?:[a-z]|VAT|GST|P ?(?:&|and) ?P))", "including"),
        (" Est", r"\bInd\.? Est\b\.?(?!\w)", "Industrial Estate"),
        ("ng Est", r"(?<=Trading )Est\b\.?(?!\w)", "Estate"),
        ("Bus. Pk", r"\bBus\. Pk\b\.?(?!\w)", "Business Park"),
        ("Ind. Pk", r"\bInd\. Pk\b\.?(?!\w)", "Industrial Park"),
        ("ings X", r"\b(King'?s) X(?=[ .,;)](?! ?[-\d]))", r"\1 Cross"),
        ("o.g.", r"(?<![\w.])o\.g\.(?!\w)", "own goal"),
        (" Ra ", r"(?<=\w )Ra(?= (?:finish|max|surface|or better)\b)", "R.A"),
        ("at. number", r"\bPat\.(?= number\b)", "Patent"),
        ("at. No", r"\bPat(s?)\.(?= Nos?\.)", r"Patent\1"),
        ("vac. ", r"\b([Ee])vac\.(?= (?:zones?|orders?|routes?|cent(?:er|re)s?|notices?|areas?)\b)", r"\1vacuation"),
        (" Cl. ", r"\b([Ff]irst|[Ss]econd|[Tt]hird) Cl\.(?= [A-Z])", r"\1 Class"),
        (" lt.", r"\b(first|second|third|fourth|next|traffic) lt\.(?! [A-Z])", r"\1 light"),
        ("ex-div", r"\bex-div\b\.?(?!\w)", "ex-dividend"),
        ("-neg. ", r"(?<=[A-Za-z\d])-neg\.(?= [a-z])", "-negative"),
        ("-pos. ", r"(?<=[A-Za-z\d])-pos\.(?= [a-z])", "-positive"),
        ("ss fr. ", r"(?<=across )fr\.(?!\w)", "from"),
        (
            " mil. ",
            r"(?<=[A-Za-z] )mil\.(?= (?:aid|analysts?|bases?|court|exercises?|intelligence|leaders?|officers?"
            r"|officials?|personnel|police|service|spending|strikes?)\b)",
            "military",
        ),
        ("inv. ", r"\b([Ii])nv\.(?= (?:date|total|amount|amt|value)\b)", r"\1nvoice"),
        ("merg.", r"\b([Ee])merg\.(?!\w)", r"\1mergency"),
        ("GYN", r"\bOB[-/]GYN(s?)\b", r"OBGYN\1"),
        (
            "ins. ",
            r"\b([Ii])ns\.(?= (?:agents?|cards?|claims?|company|coverage|info|numbers?|polic(?:y|ies)|premiums?"
            r"|provider)\b)",
            r"\1nsurance",
        ),
        ("exp. ", r"\bexp\.(?= (?:backoff|decay|function|growth)\b)", "exponential"),
        (
            " Is.",
            r"\b((?!(?:H[eo]|Here|It|Life|Love|She|Th[aei]|Wh[aeoy])\w*)[A-Z][a-z]+) Is\.(?=,| [a-z])",
            r"\1 Island",
        ),
        ("npm ci", r"(?<=npm )ci\b(?!-)", "C.I"),
        ("VP Eng", r"(?<=VP )Eng\b\.?(?!\w)", "Engineering"),
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
