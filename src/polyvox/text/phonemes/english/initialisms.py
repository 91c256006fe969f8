"""Capitals that are called letter by letter although they look like a word, and words that look like initials."""

from collections.abc import Mapping, Sequence
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPELLED: Final = _words(
    "AE AX BI EL EM KA MM MU NA NU OM QI TI ACCA ACH ADU AFT ALP AOA APT ARB ASIO ASP BAA BIS CATIE COE COI COS "
    "CVICU DAO DEF DEI DOA DOT DUA EFT EOIR EOB ERA ERG FA FIO FOB GAD HAI HOD IYKYK "
    "IOI ISEE LOA LOB LOE LOI MAE MIL MOA NIL NIT OBGYN OEE OOH ORA OTA PCAOB PES PHI PI PIA PIR PIP POA POD PSI "
    "ROE SEM SEN SHO SIL SOE SOP SOPS "
    "ALCS ALDS ASPCA ISM SOW SPA TAT TIA TOD UAE UCI UNFCCC USAA USCIRF USCIS USMCA USPTO USTA VOA"
)
"""Those that have a sound in a dictionary, or could be taken for a name."""

_PATIENT: Final = _words(
    "patient patients htn hypertension copd chf dm diabetes stent stents bypass history hx angina pvd ckd coronary "
    "artery disease cardiac diagnosed hyperlipidemia stroke statin pneumonia"
)
# Capitals that are a word in one place and initials in another: words near by that ask for the letters.
_LETTERS_NEAR: Final[Mapping[str, frozenset[str]]] = {
    "CAD": _PATIENT,
    "PAD": _PATIENT,
    "CAP": _PATIENT,
    "AS": _words("ef mr ai echo murmur stenosis valve tr av aortic regurgitation"),
    "ADD": _words("adhd disorder diagnosed medication ritalin adderall attention"),
    "AHA": _words("guidelines guideline heart cpr acc american cardiology bls acls"),
    "BUN": _PATIENT | _words("creatinine sodium potassium labs glucose lab chloride cr na bmp cmp"),
    "FAD": _words("nadh nad atp cofactor cofactors enzyme coenzyme"),
    "AH": _words("percent premarket nasdaq nyse earnings revenue eps shares"),
    "LAD": _PATIENT | _words("pci des stent cath nstemi stemi lesion lcx rca occlusion stenosis"),
    "TEE": _PATIENT | _words("tte echo cardioversion endocarditis transesophageal"),
    "ALB": _words("aws nlb elb ec2 ecs eks target load balancer cloudfront terraform ingress"),
    "PAT": _words("missed good kick kicked kicker td touchdown blocked touchdowns"),
    "PIC": _words("pilot pilots captain sic hours logged flight cfi"),
    "SIC": _words("pilot pilots captain pic hours logged flight cfi"),
    "PIT": _words("afc nfl nhl mlb buf cle bal cin phi nyr"),
    "WIC": _words("closet ensuite bedroom mbr bath br ba br/ba condo"),
    "EX": _words("honda civic accord cr-v odyssey pilot passport kia sorento sportage trim mileage"),
    "HA": _PATIENT | _words("complains fever nausea photophobia migraine"),
    "ICE": _words(
        "vehicle vehicles car cars engine engines ev evs hybrid hybrids powertrain deutsche bahn berlin munich"
    ),
}
_WORDS: Final = _words("ICE ACE CAP CAPS")
"""Those that are said as a word although the dictionary spells them."""
_NEAR: Final = 8
_DEGREES: Final = _words(", md mds m.d mba or and")
_OWNERS: Final = _words("the an main hybrid each every this")


def is_spelled(word: str, words: Sequence[str], index: int) -> bool | None:
    """Return whether capitals are called by their letters; None where the dictionary may decide."""
    if word in SPELLED:
        return True
    near = _LETTERS_NEAR.get(word)
    if near is not None and not near.isdisjoint(words[max(0, index - _NEAR) : index + _NEAR]):
        return True
    before = words[index - 1] if index else ""
    if word == "HA":
        return index + 1 < len(words) and words[index + 1] not in ("!", "ha", ",")
    if word == "DO":
        following = words[index + 1] if index + 1 < len(words) else ""
        return True if before in _DEGREES and (not following.isalnum() or following in ("and", "or", "is")) else None
    if word == "OR":
        return before in _OWNERS
    if word == "AM" and (before in ("in", "the", "this", "every")):
        return True
    return False if word in _WORDS else None
