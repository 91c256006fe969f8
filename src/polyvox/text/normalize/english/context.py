"""The context of a match, within a bounded distance."""

import re
from typing import Final

_BEFORE: Final = re.compile(r"([A-Za-z][A-Za-z'.]*) $")
_AFTER: Final = re.compile(r"[ -]([A-Za-z][A-Za-z']*)")
_TOKEN: Final = re.compile(r"[a-z0-9]+")
_REACH: Final = 24

# Words that seldom follow an abbreviation inside a sentence when they have a capital.
STARTERS: Final = frozenset(
    (
        "A After All Also Although An And Another Any As At Because Before Both But By Can Could Did Do Does Each "
        "Even Every Few Finally For From Had Has Have He Her Here His How However I If In Instead Is It Its Just "
        "Later Let Many May Maybe Meanwhile Most Much My Nearly Never No Nobody None Nor Not Nothing Now Of Oh On "
        "Once One Only Or Other Others Our Perhaps Please She Should Since So Some Someone Soon Still Such "
        "Suddenly Surely Than Thanks That The Their Them Then There These They This Those Though Three Through "
        "Thus To Today Tomorrow Too Two Under Unless Until Very Was We Well Were What When Where Whether Which "
        "While Who Why Will With Within Without Would Yes Yesterday Yet You Your"
    ).split()
)
_WORD: Final = re.compile(r"[A-Za-z]+")
_CLOSERS: Final = "\"”’'"
_OPENERS: Final = "\"“‘'(["
# Words behind "a $5 …" that show that the noun has not come yet, or never comes.
NOT_NOUNS: Final = frozenset(
    (
        "a about above btwn after again ago all already also an and apart are around as at away back be because been "
        "before behind below between but by came can could did do does down due during each even every extra for "
        "from go goes had has have he her here his how i if in inside into is it its just last left less long mark "
        "may might more must my near never next not now of off on once only onto or our out outside over paid past "
        "per she should since so some soon still tall than that the their them then there these they this those "
        "through till to today together too toward under until up upon very was we went were what when where which "
        "while who why wide will with within without would yesterday you your"
    ).split()
)
_LETTER_A: Final = re.compile(r"[a-z] A $")
_CONTRACTIONS: Final = frozenset("it's he's she's that's there's here's what's who's where's how's let's one's".split())
_OWNERS: Final = frozenset("the my this your our their his her its that every another".split())


_COUNTED: Final = frozenset("people men women children sheep fish percent million billion thousand dozen feet".split())
_NOT_PLURAL: Final = frozenset(
    "was is has vs as this his its us does yes always perhaps towards across plus minus versus unless ends begins sees "
    "says marks starts brings remains allows comes costs draws equals gets gives goes leads leaves looks lets lasts "
    "makes means needs offers reads requires runs seems shows supports takes uses weighs works".split()
)

# What is sold, run or built by measure, so that the unit before it stays singular: "500 ml bottles", "200 m fly".
_MEASURED: Final = frozenset(
    (
        "babies backstroke bag bags bar bars barrel barrels batteries battery beam beams block blocks board "
        "boards bottle bottles box boxes break breaks breaststroke brick bricks bulb bulbs burger burgers "
        "butterfly cable cables call cans canister capsule capsules carton cartons class classes clip clips "
        "container containers contract contracts course cup cups cylinder dash disk disks dose doses drive drives "
        "dumbbell dumbbells engine engines episode episodes fence final finals flight flights fly freestyle glass "
        "glasses hike hikes hose hoses hurdles interval intervals jar jars jug jugs lap lease leases lens "
        "lenses lesson lessons loan loans medley meeting meetings monitor monitors mortgage mortgages motor "
        "motors mug pack package packages packet packets packs panel panels pill pills pipe pipes plate plates "
        "binder binders bolt bolts dowels foam insulation lumber nail nails ply plywood screw screws "
        "adapter adapters breaker breakers bulb charger chargers circuit circuits dryer dryers feed fuse fuses grill "
        "heater heaters lithium outlet outlets oven plug plugs pole pump pumps receptacle receptacles service socket "
        "sockets stove supplies supply "
        "poles portion portions pouch pouches race races radius relay relays ride rides roll rolls run runs "
        "sachet sachets screen screens serving servings session sessions sheets shift shifts slice slices "
        "speakers sprint sprints steak steaks sticks swim tab tablet tablets tabs tank tanks tape tiles track "
        "trip trips tube tubes tv tvs version versions vial vials video videos walk walks wall walls warranties "
        "warranty waves weights wire wires chunks clusters files modules partitions process "
        "calculus catheter cyst cysts incision lesion lesions mass masses needle nodule nodules polyp polyps stone "
        "stones "
        "tumor tumors tumour copay deductible deposit deposits discount fee fees fine fines rebate surcharge "
        "voucher vouchers "
        "cord cords strap bike bikes bird blade blades bore carry clearance coil crane cutter detour disc discs "
        "displacement "
        "filter filters flange gap gaps girder hdd hdds hole holes kerb knife ladder ladders loaf loop loss mattress "
        "nozzle nvme pan pans payload pitch putt resistor resistors roast rod rods rope sensor shaft span ssd ssds "
        "stroke "
        "tent thread threads tin tins "
        "canoe ceiling ceilings commute frame frames handlebar kayak margin margins pool pools rim rims rug rugs "
        "saddle ski skis surfboard telescope trail trails trek tyre tyres tire tires "
        "bungalow cottage condo duplex house townhouse villa lot parcel parcels tract plot plots "
        "tower trailer tunnel turkey valve valves wheel wheels wheelbase yacht"
    ).split()
)
# Behind "a 5 km", these still have their noun to come.
_EXTENTS: Final = frozenset("deep high long tall thick wide".split())


def has_word(text: str, words: frozenset[str]) -> bool:
    """Return whether one of some words in small letters is in the text: far cheaper than a search for all of them."""
    return not words.isdisjoint(_TOKEN.findall(text.lower()))


def words_of(text: str) -> frozenset[str]:
    """The words of a text in small letters, for more than one such question."""
    return frozenset(_TOKEN.findall(text.lower()))


def word_before(match: re.Match[str]) -> str:
    """The word in front of the match, a space between; empty if there is none."""
    found = _BEFORE.search(match.string[max(0, match.start() - _REACH) : match.start()])
    return found.group(1) if found else ""


def word_after(match: re.Match[str]) -> str:
    """The word behind the match, a space or hyphen between; empty if there is none."""
    found = _AFTER.match(match.string, match.end(), match.end() + _REACH)
    return found.group(1) if found else ""


def ends_sentence(match: re.Match[str]) -> bool:
    """Return whether a full stop at the end of the match, which belongs to an abbreviation, also ends the sentence."""
    rest = match.string[match.end() : match.end() + _REACH]
    if rest.startswith((")", "]")):
        return False
    rest = rest.lstrip(_CLOSERS)
    following = rest.lstrip()
    gap = rest[: len(rest) - len(following)]
    if not following or "\n" in gap:
        return "\n" in gap or match.end() + _REACH >= len(match.string)
    word = _WORD.match(following.lstrip(_OPENERS))
    return bool(gap) and word is not None and word.group() in STARTERS


def is_plural(word: str) -> bool:
    """Return whether a word behind a figure looks like its noun: "people", "reviews", but not "was" or "across"."""
    plural = word.endswith("s") and not word.endswith(("ss", "us")) and word not in _NOT_PLURAL
    return word.islower() and (plural or word in _COUNTED)


def is_adjective(match: re.Match[str]) -> bool:
    """Return whether a quantity stands before its noun and keeps its unit singular, as in "a $5 fee" or "5-km run"."""
    following = word_after(match)
    if not following:
        return False
    if match.string[match.end()] == "-":
        return True
    if following.lower() in _MEASURED and match.string[match.end()] == " ":
        return True
    before = word_before(match)
    if before == "A" and _LETTER_A.search(match.string[max(0, match.start() - _REACH) : match.start()]):
        return False
    before = before.lower()
    if before in ("a", "an"):
        if following in _EXTENTS:
            return True
        return following.lower() not in NOT_NOUNS and following not in STARTERS
    if before.endswith("'s") and before not in _CONTRACTIONS and len(following) > 1 and not is_plural(following):
        return following not in STARTERS and following not in NOT_NOUNS
    if before not in _OWNERS or following in NOT_NOUNS or len(following) < 2:
        return False
    return following.isupper() or (
        following.islower() and not following.endswith(("ed", "ly")) and not is_plural(following)
    )


def final_stop(match: re.Match[str]) -> str:
    """The full stop that a match leaves to its sentence, if it ends one."""
    return "." if match.group().endswith(".") and ends_sentence(match) else ""
