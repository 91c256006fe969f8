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
_DAY: Final = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
_AS_MINUTE: Final = (
    r" (?:ago|apart|away|before|after|behind|early|earlier|faster|from|late|later|left|long|longer|or two|slower|to"
    r"|walk)\b"
)
_STOREY: Final = "[Gg]round|[Tt]op|[Mm]ain|[Uu]pper|[Ll]ower|[Ff]irst|[Ss]econd|[Tt]hird|[Ee]ach|[Ee]very|[Ss]ame"
_TAUGHT: Final = r"CPR|AED|ACLS|BLS|PALS|[Ff]irst[- ][Aa]id|OSHA|ServSafe"
_AIRED: Final = (
    r"[Tt]he|[Tt]his|[Tt]hat|[Ll]ast|[Nn]ew|[Ff]irst|[Nn]ext|[Ff]inal|[Pp]ilot|[Ee]ach|[Ee]very|[Ll]atest|second|third"
    r"|\d+(?:st|nd|rd|th)"
)
_REVISED: Final = (
    r"(?:agreement|bid|budget|contract|copy|draft|estimate|figures|forecast|invoice|plans?|proposal|quote|schedule"
    r"|terms|version)\b"
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
        (
            " ent",
            r"\b([Ff]ront|[Rr]ear|[Ss]ide|[Mm]ain|[Bb]ack|[Pp]rivate|[Oo]wn|[Ss]eparate) ent\b\.?(?!\w)",
            r"\1 entrance",
        ),
        (" ent", r"\b([Ss])ep\b\.? ent\b\.?(?!\w)", r"\1eparate entrance"),
        ("hw", r"(?:(?<=[Hh]eat & )|(?<=[Hh]eat and )|(?<=[Hh]eat/)|(?<=[Hh]t/)|(?<=[Hh]t & ))hw\b\.?", "hot water"),
        (" dep", r"\b([Ss])ec\b\.? dep(?:osit)?\b\.?", r"\1ecurity deposit"),
        (" reg", r"\b(AKC|CKC|UKC|APHA|AQHA|USPTO) reg\b\.?(?!\w)", r"\1 registered"),
        (" hm", r"((?:-free|[Gg]ood|[Gg]d|[Ll]oving|[Ff]orever|[Mm]obile) )hm\b\.?(?!\w)", r"\1home"),
        ("/", r"\b[Ww]/[Bb](?= (?:stove|fire|frpl|fpl|insert))", "wood-burning"),
        (" fl", rf"\b({_STOREY}) fl\b\.?(?! ?oz)", r"\1 floor"),
        ("sh. ", r"\bsh\.(?= (?:g(?:ar)?de?n|bath|kit|house|hse|accom|facil|lounge|room|apt|flat))", "shared"),
        (
            "hyd. ",
            r"\b([Hh])yd\.(?= (?:dis[ck]|brake|lift|jack|pump|cyl|system|dump|fluid|oil|hose|press|lines?\b))",
            r"\1ydraulic",
        ),
        (" trans", r"\b([Oo]wn|[Rr]eliable|[Pp]ublic|[Gg]round) trans\b\.?(?!\w)", r"\1 transportation"),
        (" cert", r"\b([Bb]irth|[Dd]eath|[Mm]arriage|[Gg]ift|[Ss]tock|[Mm]edical) cert(s?)\b\.?", r"\1 certificate\2"),
        (" cert", rf"\b({_TAUGHT}) cert\b\.?(?= (?:req|pref|a plus)|[,;.)]|$)", r"\1 certified"),
        (" tot", r"((?:dollars|pounds|euros|[$£€][\d,.]+) )tot\b\.?(?!\w)", r"\1total"),
        ("rch", r"\b([Oo])rch\b\.?(?= (?:row|seats?|sec|ctr|center|level|left|right)\b)", r"\1rchestra"),
        ("ezz", r"\b([Mm])ezz\b\.?(?= (?:row|seats?|sec|ctr|center|level|left|right)\b)", r"\1ezzanine"),
        (" ep", rf"\b({_AIRED}) ep\b\.?(?= [a-z]|[,;)?!]|$)", r"\1 episode"),
        ("tt. ", r"\b([Aa])tt\.(?= (?:is|are|please|pls)\b)", r"\1ttached"),
        ("ev. ", rf"\b([Rr])ev\.(?= {_REVISED})", r"\1evised"),
        (" Ed", r"\b([Tt]o the|[Dd]ear) Ed\b\.?(?=[:,])", r"\1 Editor"),
        (" nr ", r"(?<=[A-Za-z,)] )nr(?= (?:the |[A-Z][a-z]|[a-z]{3}))", "near"),
        (" lg ", r"(?:(?<=\d )|(?<=\ba )|(?<=\bone )|(?<=\btwo )|(?<=\bthree ))lg\b\.?(?= [a-z])", "large"),
        (" sm ", r"(?:(?<=\d )|(?<=\ba )|(?<=\bone )|(?<=\btwo )|(?<=\bthree ))sm\b\.?(?= [a-z])", "small"),
        ("pt", rf"\b([Rr])pt\b\.?(?= (?:[a-z]+ ){{1,2}}[AP]\.M\b| (?:on )?{_DAY})", r"\1epeat"),
        (
            " eps",
            r"\b([Nn]ew|[Ll]ast|[Ff]irst|[Nn]ext|[Ff]ew|[Aa]ll|[Mm]ore|\d+|two|three|four|five|six|eight|ten|both)"
            r" eps\b\.?(?!\w| ?=)",
            r"\1 episodes",
        ),
        (" cr", r"\bcr\.? (?=hrs?\b|hours?\b)", "credit "),
        (
            " vw",
            r"\b([Oo]cean|[Cc]ity|[Ll]ake|[Mm]ountain|[Rr]iver|[Ww]ater|[Pp]ark|[Gg]arden|[Bb]ay|[Ss]ea) vw(s?)\b\.?",
            r"\1 view\2",
        ),
        (" min.", rf"(?:(?<=\ba )|(?<=half a )|(?<=one ))min\.(?={_AS_MINUTE})", "minute"),
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
        ("op. ", r"\b([Pp])op\.(?= (?:about|approx|centers?|density|est|growth|over|under)\b)", r"\1opulation"),
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
