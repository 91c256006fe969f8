"""Forms of common English verbs, for telling whether a clause has its verb already."""

from collections.abc import Iterator
from typing import Final

_REGULAR: Final = (
    "accept add admit agree aim allow announce answer appear approve arrest arrive ask attach attack avoid bake "
    "belong block boil book borrow breathe call cancel care carry cause change charge chase check claim clean "
    "clear click climb collect complain confirm connect consider contain continue control cook copy correct cost "
    "count cover crash cross cry cut damage dance decide declare delay delete deliver deny depend describe deserve "
    "destroy develop die disagree discover discuss divide double drop earn email employ enable end enjoy enter "
    "escape exist expect explain express extend face fail fear fill film finish fix flow follow force form gain "
    "guess happen hate head heal help hire hope hunt hurry identify ignore imagine improve include inform insist "
    "install intend introduce involve issue join jump keep kick kill kiss knock lack land last laugh launch learn "
    "like limit link list listen load lock look lose love lower manage mark matter measure mention miss mix move "
    "name need notice obtain occur offer open order owe own pack paint park pass pause perform pick place plan "
    "play point pour practice prefer prepare prevent print process promise protect provide publish pull push raise "
    "reach realize receive recommend reduce refer relax release rely remain remember remind remove rent repair "
    "repeat replace reply report represent request require rescue resign respect rest return reveal roll rule rush "
    "sail save search seem sell serve share shift ship shop shout show sign sing skip slip slow smell smile smoke "
    "solve sort sound start state stay step stop store stream strike study succeed suffer suggest supply support "
    "suppose surprise surround switch talk taste tend test thank threaten touch train travel treat trust try turn "
    "type vary visit vote wait walk want warn wash waste watch weigh wish wonder work worry wrap yell"
).split()
# Base form, past, and participle where it differs.
_IRREGULAR: Final = (
    "become/became begin/began/begun bend/bent bite/bit/bitten blow/blew/blown break/broke/broken bring/brought "
    "build/built burst buy/bought catch/caught choose/chose/chosen come/came cost creep/crept cut dig/dug "
    "draw/drew/drawn drink/drank drive/drove/driven eat/ate/eaten fall/fell/fallen feed/fed feel/felt fight/fought "
    "find/found fly/flew/flown forget/forgot/forgotten freeze/froze/frozen get/got/gotten give/gave/given "
    "go/went/gone grow/grew/grown hang/hung hear/heard hide/hid/hidden hit hold/held hurt keep/kept "
    "know/knew/known lay/laid leave/left lend/lent let lie/lay/lain lose/lost make/made mean/meant meet/met "
    "pay/paid put quit ride/rode/ridden ring/rang/rung rise/rose/risen run/ran say/said see/saw/seen seek/sought "
    "sell/sold send/sent set shake/shook/shaken shine/shone shoot/shot shut sing/sang/sung sink/sank/sunk sit/sat "
    "sleep/slept slide/slid speak/spoke/spoken spend/spent spin/spun spread stand/stood steal/stole/stolen "
    "stick/stuck swear/swore/sworn swim/swam/swum take/took/taken teach/taught tell/told think/thought "
    "throw/threw/thrown wake/woke/woken wear/wore/worn win/won write/wrote/written"
).split()


def _third_person(base: str) -> str:
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    return base[:-1] + "ied" if base.endswith("y") and base[-2] not in "aeiou" else base + "ed"


def _irregular_pasts() -> Iterator[str]:
    for forms in _IRREGULAR:
        base, *past = forms.split("/")
        yield past[0] if past else base


BASES: Final = frozenset(_REGULAR) | {forms.partition("/")[0] for forms in _IRREGULAR}
"""Plain forms: an infinitive, an order, or the present after a plural."""
THIRD_PERSONS: Final = frozenset(map(_third_person, BASES))
PASTS: Final = frozenset(map(_past, _REGULAR)) | frozenset(_irregular_pasts())
SAYING: Final = frozenset(
    "say says said think thinks thought know knows knew believe believes believed hope hopes guess suppose claim "
    "claims claimed mean means meant feel feels felt see sees saw show shows showed report reports reported".split()
)
"""Verbs that another clause follows, often without `that`."""
GIVING: Final = frozenset(
    "give gives gave given tell tells told show shows showed send sends sent let lets help helps helped make makes "
    "made lend bring brings brought teach ask asks asked join follow contact call reach trust leave leaves left "
    "want need love hate know see visit email text save pay buy".split()
)
"""Verbs that take a person as their object."""
