"""First words of each language: reading them loads its tables and dictionary, a tenth of a second or more."""

from types import MappingProxyType
from typing import Final

LISTED: Final = MappingProxyType({"en-us": "Hello.", "en-gb": "Hello."})
UNLISTED: Final = MappingProxyType({"en-us": "Hello, Wrenlings.", "en-gb": "Hello, Wrenlings."})
"""With a word of no dictionary, for which a network is loaded."""
WITHOUT_NETWORK: Final = MappingProxyType(
    {
        "es": "Hola.",
        "fr": "Bonjour.",
        "hi": "नमस्ते।",
        "it": "Ciao.",
        "pt-br": "Olá.",
        "zh": "今天3点还要去银行。",
        "ja": "今日は3時に銀行へ行った。",
    }
)
