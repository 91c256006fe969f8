"""The languages of the suite: add one by its items and contexts."""

from typing import Final

from helpers.invariance.contexts_en import CONTEXTS as ENGLISH_CONTEXTS
from helpers.invariance.harness import Language
from helpers.invariance.items_en import ITEMS as ENGLISH_ITEMS

LANGUAGES: Final = (Language("en", ENGLISH_ITEMS, ENGLISH_CONTEXTS, plain="apples", carrier="They wrote {} there"),)
