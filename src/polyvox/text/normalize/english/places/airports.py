"""Airports by their three letters, on the way from one to another: "ATL-SEA"."""

import re
from typing import Final

from polyvox.text.normalize.english.letters import kept_apart
from polyvox.text.tracked import TrackedText

_CODES: Final = frozenset(
    "ABQ ADL AKL AMS ANC ARN ATH ATL AUH AUS BCN BDL BER BHX BKK BLR BNA BNE BOG BOI BOM BOS BRU BUD BUF BUR BWI CAI "
    "CAN CDG CGK CHS CLE CLT CMH CPH CPT CUN CVG DAL DCA DEL DEN DFW DOH DSM DTW DUB DUS DXB EDI ELP EWR EZE FCO FLL "
    "FRA GDL GIG GLA GRR GRU GVA HAM HEL HKG HND HNL HOU IAD IAH ICN IND IST JAX JFK JNB KEF KIX KOA KUL LAS LAX LGA "
    "LGW LHR LIH LIM LIS LTN LYS MAA MAD MAN MCI MCO MDW MEL MEM MEX MIA MKE MNL MSP MSY MUC MXP NCE NRT OAK OGG OKC "
    "OMA ONT ORD ORF ORY OSL PBI PDX PEK PER PHL PHX PIT PRG PVD PVG PVR RDU RIC RNO RSW SAN SAT SAV SCL SEA SFO SIN "
    "SJC SJD SJU SLC SMF SNA STL STN SVO SYD TLV TPA TPE TUL TUS TXL VCE VIE WAW WLG YEG YUL YVR YYC YYZ ZRH".split()
)
_ROUTE: Final = re.compile(r"(?<![\w/-])[A-Z]{3}(?:(?: ?[-–—→>] ?| to |/)[A-Z]{3}){1,4}(?![\w/-]|\.\w)")
_ANY: Final = re.compile("[A-Z]{3}(?:[ .,;:)-]|[–—→>/]|$)")
_CODE: Final = re.compile("[A-Z]{3}")


_LED: Final = re.compile(
    r"(?<![\w/.-])(?P<lead>(?:via|from|to|at|into|out of|through|dep|arr|dep\.|arr\.|and"
    r"|ex) )(?P<code>[A-Z]{3})(?![\w/-]|\.\w)"
)
_FEWEST: Final = 2
# What lets a single code be an airport.
_FLOWN: Final = re.compile(
    r"\b(?:[Ff]lights?|[Ff]lts?\b\.?|[Gg]ate|[Ll]ayover|[Aa]irports?|[Rr]unway|[Nn]onstop|[Ff]l(?:y|ew|ies|ying)|[Ll]and(?:s|ed|ing)"
    r"|[Cc]onnecting|[Aa]irfare|TSA|[Tt]axi(?:ed|ing))(?!\w)"
)


def read(text: TrackedText) -> TrackedText:
    """Each airport by its letters, "to" between those of a route."""
    if _ANY.search(text.text) is None:
        return text
    text = text.sub(_ROUTE, _route)
    found = len(_CODES.intersection(_CODE.findall(text.text)))
    if not found or (found < _FEWEST and _FLOWN.search(text.text) is None):
        return text
    return text.sub(_LED, lambda match: match["lead"] + kept_apart(match["code"]) if match["code"] in _CODES else None)


def _route(match: re.Match[str]) -> str | None:
    codes = _CODE.findall(match.group())
    return " to ".join(kept_apart(code) for code in codes) if _CODES.issuperset(codes) else None
