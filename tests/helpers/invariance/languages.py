"""The languages of the suite: add one by its items and contexts."""

from typing import Final

from helpers.invariance import contexts_romance
from helpers.invariance.contexts_en import CONTEXTS as ENGLISH_CONTEXTS
from helpers.invariance.harness import Language
from helpers.invariance.item_tables import items
from helpers.invariance.items_en import ITEMS as ENGLISH_ITEMS

LANGUAGES: Final = (
    Language("en", ENGLISH_ITEMS, ENGLISH_CONTEXTS, plain="apples", carrier="They wrote {} there"),
    Language("es", items("es"), contexts_romance.SPANISH.contexts(), plain="manzanas"),
    Language("fr", items("fr"), contexts_romance.FRENCH.contexts(), plain="pommes"),
    Language("it", items("it"), contexts_romance.ITALIAN.contexts(), plain="mele"),
    Language("pt", items("pt"), contexts_romance.PORTUGUESE.contexts(), plain="laranjas"),
)
