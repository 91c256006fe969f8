"""Acronyms in small letters, as chat writes them, in the capitals that have them spelled."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

# Offices, banks, exams, schools, transport and technology. Those that are said as words (fifa, unifi, wifi) are left
# out, and those that are words or short forms of others (aim, hr, mas, pin, ptg).
ACRONYMS: Final = frozenset(
    (
        "adhd asb asn atm bnm bpn bpr bsh bsn ccm cctv cgpa cidb cpr cpu ctos dbkl dbp dna dslr dvd ecrl epf ets fgv "
        "fmt fpx gdp glc gps gpu gst hdmi hkl ic iium ijn iot ipd ipg ipk ipt ipta ipts isp jkkk jkm jkr jpa jpj jpn "
        "jpph jps kkm klcc klci klia kpdn kpi kpm kpn ktm ktmb kwap kwsp lcd lgbt lhdn lpg lppkn lrt lte mbjb mbpj "
        "mbsa mcmc mco mdec mmu mpaj mpkj mpsj mqa mrsm mrt ncd ngo nric oku opr otp pcr pdf pdrm phd pibg pkns pkp "
        "pkpb pkpd pkpp pkr plkn pnb ppr prn pru ptptn pvc rhb rmk rtm sjkc sjkt smk smka spm sprm ssm sst stpm str "
        "suv tldm tnb tudm tvet uia uitm ukm upm upnm upsi upsr url usb usm utar utem uthm utm utp uum vip vpn ytl"
    ).split()
)
_WORD: Final = re.compile(r"(?<![\w'@#./-])[a-z]{2,6}(?![\w'@]|\.\w|-[^\W\d])")


def read(text: TrackedText) -> TrackedText:
    """ "pdrm" becomes "PDRM"; other words stay as they are."""
    return text.sub(_WORD, lambda match: match.group().upper() if match.group() in ACRONYMS else None)
