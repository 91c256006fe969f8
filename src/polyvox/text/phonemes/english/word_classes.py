"""Closed classes of English words that tell the role of their neighbours."""

from collections.abc import Mapping
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DETERMINERS: Final = _words(
    "the a an my your his her its our their this that these those each every some any no another either neither both "
    "which what whose such much many few several most more less fewer all half one two three four five six seven eight "
    "nine ten hundred thousand million first second third last next new old own same other"
)
PREPOSITIONS: Final = _words(
    "of in on at for from with by about into onto over under between through during without within against among "
    "across toward towards upon per via like as than despite beyond behind beside besides below above around near off "
    "after before until till since except inside outside"
)
CONJUNCTIONS: Final = _words("and or nor but then yet &")
PEOPLE: Final = _words("people children men women folks students members guests")
SUBJECTS: Final = PEOPLE | _words("i you u we they who i'd you'd we'd they'd y'all")
SINGULAR_SUBJECTS: Final = _words(
    "he she it he'd she'd everyone someone anyone nobody everybody somebody anybody everything nothing something"
)
MODALS: Final = _words(
    "will would can could shall should may might must do does did don't doesn't didn't won't wouldn't can't couldn't "
    "shouldn't cannot mustn't needn't let's let please gonna wanna gotta dare better"
)
BE: Final = _words(
    "am is are was were be been being i'm you're we're they're it's he's she's that's isn't aren't wasn't weren't "
    "ain't seem seems seemed look looks looked feel feels felt become becomes became stay stays stayed remain remains "
    "remained get gets got getting sound sounds sounded"
)
HAVE: Final = _words(
    "have has had having i've you've we've they've haven't hasn't hadn't should've could've would've might've must've"
)
AUXILIARIES: Final = BE | HAVE | MODALS
OBJECTS: Final = _words(
    "the a an my your his her its our their this these those it them him me us you yourself themselves himself herself "
    "itself ourselves myself that everything everyone something anything nothing"
)
ADVERBS: Final = _words(
    "not never always often also just still even ever only really very so too rather quite already soon now usually "
    "sometimes rarely seldom again once perhaps maybe almost far best better well here there today yesterday tomorrow "
    "longer together"
)
GO_LIVE: Final = _words(
    "go goes went gone broadcast broadcasts stream streams streamed air aired airs watch watched perform performed "
    "performs play played plays listen listens listened tune tuned join joined happen happens happened "
    "see saw seen heard hear show shown reported came come"
)
PAST_FORMS: Final = _words("read reread wound used learned rewound dove")
LET: Final = _words("let lets make makes made help helps helped see sees saw hear hears heard watch watched")
# Heteronyms that are adjectives in their own right, not nouns put before a noun.
ADJECTIVES: Final = _words("close closer invalid upset overweight overhead inside subject present appropriate separate")
PAST_CUES: Final = _words(
    "yesterday ago last was were had did didn't wasn't weren't said told went came took saw got thought knew made "
    "found gave felt left kept began wrote heard became brought bought sat stood earlier previously once when"
)
NOUN_TO: Final = _words(
    "according due thanks subject access close next prior relative similar opposed addition response contrary relating "
    "related attention damage changes change objection objections exposure exposed limited"
)

NEVER_AFTER_ARTICLE: Final = _words(
    "is was are were has had does did and or to of for in at from with by if than then that equals plus minus times "
    "squared cubed divided union intersection = + < >"
)
LEADEN: Final = _words(
    "acid apron ball balls battery batteries bullet bullets content contamination crystal dust exposure glass "
    "glaze level levels mine mines miner miners mining ore ores oxide "
    "smelter smelters paint paints pellets pipe pipes pipework poisoning roof shielding shot sinker sinkers "
    "solder toxicity weight weights"
)
LEADING: Final = _words(
    "actor actress attorney author car character counsel designer detective developer engineer guitar guitarist "
    "investigator negotiator plaintiff role runner singer story time up vocalist vocals writer"
)
PLAYED: Final = _words(
    "amp clef drum drums drop guitar guitars guitarist line lines note notes part player players solo voice "
    "strings singer"
)
SIZES: Final = _words(
    "inch inches foot centimeter centimeters millimeter millimeters small large big huge little long tiny deep nasty "
    "ragged partial complete slight minor"
)
CONTEST: Final = _words("polls poll race points game match innings lap laps score half goal goals votes vote")
EYES: Final = _words(
    "eye eyes cheek cheeks face shed cried cry crying wept duct ducts gas drop drops sad wipe wiped wipes wiping"
)
STRINGS: Final = _words("violin violinist cello viola fiddle arrow arrows archer archer's ribbon hair string strings")
MASS_CUES: Final = _words(
    "no any some much contain contains contained containing absorb absorbs added adding use used "
    "detected found show shows showed leach leaches leached remove removes removed"
)

# Words near a heteronym that give its rarer sense away, whatever its part of speech.
CUES: Final[Mapping[str, frozenset[str]]] = {
    "lead": _words(
        "pipe pipes paint paints poisoning acid zinc copper mercury arsenic cadmium tin molten metal metals ore solder "
        "bullet bullets toxic contaminated contamination shielding pencil alloy glaze traces roof sharpen sharpened "
        "graphite"
    ),
    "bass": _words(
        "fish fishes fishing fished caught catch sea lake river striped largemouth smallmouth fillet fillets grilled "
        "fried trout salmon pike angler anglers bait pond landed hooked reeled pound dock freshwater"
    ),
    "bow": _words(
        "ship ship's boat boat's stern deck vessel take took taking takes curtain starboard port sank yacht canoe "
        "ferry hull kayak"
    ),
    "bows": _words("ship ship's boat boat's stern curtain took take takes"),
    "tear": _words(
        "wear fabric paper muscle ligament cartilage rotator seam sail jeans cloth tendon calf hamstring meniscus "
        "retina retinal acl knee jacket shirt sleeve tent canvas curtain sofa upholstery tarp labrum labral net label "
        "packaging wrapper poster"
    ),
    "tears": _words("muscle ligament fabric apart cartilage"),
    "minute": _words(
        "detail details particles particle quantities quantity amounts differences difference traces fraction "
        "fractions variations changes microscopic infinitesimal speck specks grains crystals organisms creatures "
        "insects droplets pores cracks fragments adjustments proportions increments bubbles fossils hairs holes doses"
    ),
    "row": _words("blazing argument quarrel neighbours heated furious"),
    "does": _words("bucks fawns stags fawn"),
    "sow": _words("piglets pig pigs boar boars pen farrowing"),
    "sows": _words("piglets pig pigs boar boars pen farrowing"),
    "resume": _words("cv employer employers recruiter recruiters applicant applicants cover send sent job"),
}
