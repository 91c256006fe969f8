"""Kokoro's nine languages: their share of the training lines, their punctuation, and held-out sentences."""

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its tag, wordfreq's name of its list, its share of the lines, punctuation, held-out sentences."""

    tag: str
    words: str
    share: float
    spaced: bool = True
    comma: str = ","
    ends: tuple[str, ...] = (".", ".", ".", ".", "?", "!", "...", "")
    held_out: tuple[str, ...] = ()


_FULL_WIDTH_ENDS = ("。", "。", "。", "？", "！", "")
_ENGLISH = (
    "The birch canoe slid on the smooth planks.",
    "Glue the sheet to the dark blue background.",
    "It's easy to tell the depth of a well.",
    "These days a chicken leg is a rare dish.",
    "Rice is often served in round bowls.",
    "The juice of lemons makes fine punch.",
    "The box was thrown beside the parked truck.",
    "The hogs were fed chopped corn and garbage.",
    "Four hours of steady work faced us.",
    "A large size in stockings is hard to sell.",
    "The boy was there when the sun rose.",
    "A rod is used to catch pink salmon.",
    "The source of the huge river is the clear spring.",
    "Kick the ball straight and follow through.",
    "Help the woman get back to her feet.",
    "A pot of tea helps to pass the evening.",
)

LANGUAGES = MappingProxyType(
    {
        "a": Language("en-us", "large_en", 0.30, held_out=_ENGLISH),
        "b": Language("en-gb", "large_en", 0.16, held_out=_ENGLISH),
        "e": Language(
            "es",
            "large_es",
            0.08,
            held_out=("El tren sale a las ocho de la mañana.", "Mi hermana compró pan, queso y una botella de agua."),
        ),
        "f": Language(
            "fr",
            "large_fr",
            0.08,
            held_out=("Le train part à huit heures du matin.", "Ma sœur a acheté du pain, du fromage et de l'eau."),
        ),
        "h": Language(
            "hi",
            "small_hi",
            0.07,
            ends=("।", "।", "।", "?", "!", ""),
            held_out=("रेलगाड़ी सुबह आठ बजे निकलती है।", "मेरी बहन ने रोटी, पनीर और पानी खरीदा।"),
        ),
        "i": Language(
            "it",
            "large_it",
            0.07,
            held_out=("Il treno parte alle otto del mattino.", "Mia sorella ha comprato pane, formaggio e acqua."),
        ),
        "j": Language(
            "ja",
            "large_ja",
            0.09,
            spaced=False,
            comma="、",
            ends=_FULL_WIDTH_ENDS,
            held_out=("電車は朝八時に出発します。", "妹はパンとチーズと水を買いました。"),
        ),
        "p": Language(
            "pt-br",
            "large_pt",
            0.07,
            held_out=("O trem parte às oito da manhã.", "Minha irmã comprou pão, queijo e uma garrafa de água."),
        ),
        "z": Language(
            "zh",
            "large_zh",
            0.10,
            spaced=False,
            comma="，",
            ends=_FULL_WIDTH_ENDS,
            held_out=("火车早上八点出发。", "我妹妹买了面包、奶酪和一瓶水。"),
        ),
    }
)
"""By the first letter of a voice's name."""
