"""The languages of the suite: add one by its items and contexts."""

from typing import Final

from helpers.invariance import contexts_romance
from helpers.invariance.contexts_en import CONTEXTS as ENGLISH_CONTEXTS
from helpers.invariance.contexts_hi import CONTEXTS as HINDI_CONTEXTS
from helpers.invariance.contexts_ja import CONTEXTS as JAPANESE_CONTEXTS
from helpers.invariance.contexts_ms import CONTEXTS as MALAY_CONTEXTS
from helpers.invariance.contexts_zh import CONTEXTS as CHINESE_CONTEXTS
from helpers.invariance.harness import Language
from helpers.invariance.item_tables import items
from helpers.invariance.items_en import ITEMS as ENGLISH_ITEMS
from helpers.invariance.items_hi import ITEMS as HINDI_ITEMS
from helpers.invariance.items_ja import ITEMS as JAPANESE_ITEMS
from helpers.invariance.items_ms import ITEMS as MALAY_ITEMS
from helpers.invariance.items_zh import ITEMS as CHINESE_ITEMS

LANGUAGES: Final = (
    Language("en", ENGLISH_ITEMS, ENGLISH_CONTEXTS, plain="apples", carrier="They wrote {} there"),
    Language("es", items("es"), contexts_romance.SPANISH.contexts(), plain="manzanas"),
    Language("fr", items("fr"), contexts_romance.FRENCH.contexts(), plain="pommes"),
    Language("it", items("it"), contexts_romance.ITALIAN.contexts(), plain="mele"),
    Language("pt", items("pt"), contexts_romance.PORTUGUESE.contexts(), plain="laranjas"),
    Language("hi", HINDI_ITEMS, HINDI_CONTEXTS, plain="अमरूद"),
    Language("ja", JAPANESE_ITEMS, JAPANESE_CONTEXTS, plain="ぶどう"),
    Language("ms", MALAY_ITEMS, MALAY_CONTEXTS, plain="buah mangga", carrier="Mereka tulis {} di sini"),
    Language("zh", CHINESE_ITEMS, CHINESE_CONTEXTS, plain="苹果汁"),
)
