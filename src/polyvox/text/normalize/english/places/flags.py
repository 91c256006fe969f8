"""Flags, two letters of a code each, as the names of their countries."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_FIRST: Final = 0x1F1E6
_FLAG: Final = re.compile(" ?([\U0001f1e6-\U0001f1ff]{2}) ?")
_NAMES: Final = dict(
    each.split(" ", 1)
    for each in (
        "AD Andorra,AE the Emirates,AF Afghanistan,AG Antigua,AL Albania,AM Armenia,AO Angola,AR Argentina,AT Austria,"
        "AU Australia,AZ Azerbaijan,BA Bosnia,BB Barbados,BD Bangladesh,BE Belgium,BF Burkina Faso,BG Bulgaria,"
        "BH Bahrain,BI Burundi,BJ Benin,BN Brunei,BO Bolivia,BR Brazil,BS the Bahamas,BT Bhutan,BW Botswana,BY Belarus,"
        "BZ Belize,CA Canada,CD Congo,CF the Central African Republic,CG Congo,CH Switzerland,CI Ivory Coast,CL Chile,"
        "CM Cameroon,CN China,CO Colombia,CR Costa Rica,CU Cuba,CV Cape Verde,CY Cyprus,CZ Czechia,DE Germany,"
        "DJ Djibouti,DK Denmark,DM Dominica,DO the Dominican Republic,DZ Algeria,EC Ecuador,EE Estonia,EG Egypt,"
        "ER Eritrea,ES Spain,ET Ethiopia,EU the European Union,FI Finland,FJ Fiji,FM Micronesia,FR France,GA Gabon,"
        "GB Britain,GD Grenada,GE Georgia,GH Ghana,GL Greenland,GM Gambia,GN Guinea,GQ Equatorial Guinea,GR Greece,"
        "GT Guatemala,GW Guinea Bissau,GY Guyana,HK Hong Kong,HN Honduras,HR Croatia,HT Haiti,HU Hungary,ID Indonesia,"
        "IE Ireland,IL Israel,IN India,IQ Iraq,IR Iran,IS Iceland,IT Italy,JM Jamaica,JO Jordan,JP Japan,KE Kenya,"
        "KG Kyrgyzstan,KH Cambodia,KI Kiribati,KM the Comoros,KN Saint Kitts,KP North Korea,KR South Korea,KW Kuwait,"
        "KZ Kazakhstan,LA Laos,LB Lebanon,LC Saint Lucia,LI Liechtenstein,LK Sri Lanka,LR Liberia,LS Lesotho,"
        "LT Lithuania,LU Luxembourg,LV Latvia,LY Libya,MA Morocco,MC Monaco,MD Moldova,ME Montenegro,MG Madagascar,"
        "MH the Marshall Islands,MK North Macedonia,ML Mali,MM Myanmar,MN Mongolia,MO Macau,MR Mauritania,MT Malta,"
        "MU Mauritius,MV the Maldives,MW Malawi,MX Mexico,MY Malaysia,MZ Mozambique,NA Namibia,NE Niger,NG Nigeria,"
        "NI Nicaragua,NL the Netherlands,NO Norway,NP Nepal,NR Nauru,NZ New Zealand,OM Oman,PA Panama,PE Peru,"
        "PG Papua New Guinea,PH the Philippines,PK Pakistan,PL Poland,PR Puerto Rico,PS Palestine,PT Portugal,PW Palau,"
        "PY Paraguay,QA Qatar,RO Romania,RS Serbia,RU Russia,RW Rwanda,SA Saudi Arabia,SB the Solomon Islands,"
        "SC the Seychelles,SD Sudan,SE Sweden,SG Singapore,SI Slovenia,SK Slovakia,SL Sierra Leone,SM San Marino,"
        "SN Senegal,SO Somalia,SR Suriname,SS South Sudan,ST Sao Tome,SV El Salvador,SY Syria,SZ Eswatini,TD Chad,"
        "TG Togo,TH Thailand,TJ Tajikistan,TL East Timor,TM Turkmenistan,TN Tunisia,TO Tonga,TR Turkey,TT Trinidad,"
        "TV Tuvalu,TW Taiwan,TZ Tanzania,UA Ukraine,UG Uganda,UN the United Nations,US America,UY Uruguay,"
        "UZ Uzbekistan,VA the Vatican,VC Saint Vincent,VE Venezuela,VN Vietnam,VU Vanuatu,WS Samoa,XK Kosovo,YE Yemen,"
        "ZA South Africa,ZM Zambia,ZW Zimbabwe"
    ).split(",")
)


def read(text: TrackedText) -> TrackedText:
    """Each flag as its country; one that is unknown is left to be dropped."""
    return text if text.text.isascii() else text.sub(_FLAG, _country)


def _country(match: re.Match[str]) -> str:
    code = "".join(chr(ord("A") + ord(letter) - _FIRST) for letter in match[1])
    return f" {_NAMES[code]} " if code in _NAMES else match.group()
