"""Airports by their three letters, on the way from one to another: "ATL-SEA"."""

import re
from typing import Final

from polyvox.text.normalize.english.letters import before_stop, kept_apart
from polyvox.text.tracked import TrackedText

_CODES: Final = frozenset(
    "ABE ABQ ABZ ACE ACV ADD ADL AGP AGS AHO AJA AKL ALA ALB ALC ALG AMA AMD AMM AMS ANC ARN ASE ASU ATH ATL AUH AUS "
    "AVL AVP AYT AZO BAH BAQ BCN BDA BDL BDS BEG BER BEY BFL BFS BGA BGI BGO BGY BHM BHX BIA BIL BIO BIS BKK BLI BLL "
    "BLQ BLR BNA BNE BOD BOG BOI BOJ BOM BOS BRE BRI BRS BRU BSL BTS BTV BUD BUF BUR BWI BZE BZN CAE CAG CAI CAN CBR "
    "CCS CCU CDG CEB CFU CGK CGN CGO CGY CHA CHC CHQ CHS CKG CLE CLO CLT CMB CMH CMN CNS CNX COK COS CPH CPT CRL CRP "
    "CTA CTG CTS CTU CUN CUR CUZ CVG CWL DAB DAC DAD DAL DAM DAR DBV DCA DEL DEN DFW DLA DLC DLM DME DMK DMM DOH DPS "
    "DRS DRW DSM DTW DUB DUR DUS DXB EBB EDI EIN ELP EMA ESB EUG EVN EWR EYW EZE FAI FAO FCO FLL FLN FLR FMM FNC FNT "
    "FRA FSD FUE FUK GCI GCM GDL GDN GEG GIG GJT GLA GMP GOA GOI GOT GPT GRR GRU GRZ GSO GSP GUA GUM GVA GYD GYE HAJ "
    "HAK HAM HAV HEL HGH HHN HKG HND HNL HOU HPN HRL HSV HYD IAD IAH IBZ ICN ICT ILM IND INN INV ISB ISP IST ITM JAC "
    "JAI JAN JAX JED JER JFK JMK JNB JNU JTR KBP KEF KHI KIN KIX KMG KOA KRK KTM KTW KUL KWI LAD LAN LAS LAX LBA LBB "
    "LCA LCY LED LEJ LEX LGA LGB LGW LHE LHR LIH LIL LIM LIS LIT LJU LOS LPA LPB LPL LTN LUX LXR LYS MAA MAD MAF MAH "
    "MAN MBA MBJ MCI MCO MCT MDE MDT MDW MEL MEM MEX MFE MFR MHT MIA MKE MLA MLB MLE MLI MLU MNL MOB MRS MRU MRY MSN "
    "MSO MSP MSQ MSY MUC MVD MXP MYR NAN NAP NAS NBO NCE NCL NGO NKG NOC NRT NTE NUE OAK OAX OGG OKA OKC OLB OMA ONT "
    "OOL OPO ORD ORF ORH ORY OSL OTP OVD PAP PBI PDL PDX PEK PER PFO PHL PHX PIT PKX PMI PMO PNH PNQ PNS POA POM POZ "
    "PPT PRG PSA PSC PSP PTY PUJ PUS PVD PVG PVR PWM RAK RAP RDU RGN RHO RIC RIX RNO ROA ROC RSW RTM RUH SAL SAN SAT "
    "SAV SAW SBA SBN SBP SCL SCQ SDF SDQ SEA SFO SGF SGN SHJ SHV SIN SJC SJD SJJ SJO SJU SKG SKP SLC SMF SNA SNN SOF "
    "SOU SPU SRQ SSA STI STL STN STR STT SVG SVO SVQ SWF SXM SYD SYR SZG SZX TAO TAS TBS TFS TGD TIA TIV TLH TLL TLS "
    "TLV TNR TOL TPA TPE TRD TRN TSN TUL TUN TUS TXL TYS UIO URC VAR VCE VIE VIX VKO VLC VNO VPS VRN VVI WAW WDH WLG "
    "WRO WUH XIY XNA YEG YHZ YLW YOW YQB YQR YTZ YUL YVR YWG YXE YYC YYJ YYT YYZ ZAG ZNZ ZRH".split()
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
    return text.sub(_LED, _led)


def _led(match: re.Match[str]) -> str | None:
    return match["lead"] + before_stop(kept_apart(match["code"]), match) if match["code"] in _CODES else None


def _route(match: re.Match[str]) -> str | None:
    codes = _CODE.findall(match.group())
    return before_stop(" to ".join(map(kept_apart, codes)), match) if _CODES.issuperset(codes) else None
