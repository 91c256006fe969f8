"""The tags that a text may hold, such as `[laughter]` or a phone; whatever else looks like one is taken out."""

import re
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

from polyvox.text.markup.inline_tags import TagRules, cleaned
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import Warnings

END_OF_PROMPT: Final = "<|endofprompt|>"
BASE_TOKENS: Final = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")

_SOUNDS: Final = (
    "[breath] <strong> </strong> [noise] [laughter] [cough] [clucking] [accent] [quick_breath] <laughter> </laughter> "
    "[hissing] [sigh] [vocalized-noise] [lipsmack] [mn]"
).split()
LANGUAGE_TAGS: Final = MappingProxyType(
    {
        f"<|{name}|>": language
        for name, language in (*((each, each) for each in ("zh", "en", "ja", "ko", "yue")), ("jp", "ja"))
    }
)
"""Version 1's language tags; its documents write `<|jp|>` for what its vocabulary calls `<|ja|>`."""
_ARPABET: Final = (
    "AA* AE* AH* AO* AW* AY* B CH D DH EH* ER* EY* F G HH IH* IY* JH K L M N NG OW* OY* P "
    "R S SH T TH UH* UW* V W Y Z ZH"
).split()
_PINYIN: Final = (
    "a ai an ang ao b c ch d e ei en eng f g h i ian in ing iu ià iàn iàng iào iá ián iáng iáo iè ié iòng ióng iù iú "
    "iā iān iāng iāo iē iě iōng iū iǎ iǎn iǎng iǎo iǒng iǔ j k l m n o ong ou p q r s sh t u uang ue un uo uà uài uàn "
    "uàng uá uái uán uáng uè ué uì uí uò uó uā uāi uān uāng uē uě uī uō uǎ uǎi uǎn uǎng uǐ uǒ vè w x y z zh à ài àn "
    "àng ào á ái án áng áo è èi èn èng èr é éi én éng ér ì ìn ìng í ín íng ò òng òu ó óng óu ù ùn ú ún ā āi ān āng āo "
    "ē ēi ēn ēng ě ěi ěn ěng ěr ī īn īng ō ōng ōu ū ūn ǎ ǎi ǎn ǎng ǎo ǐ ǐn ǐng ǒ ǒng ǒu ǔ ǔn ǘ ǚ ǜ"
).split()

_CONTROL: Final = re.compile(r"<\|[^|<>]{0,64}\|>")


@dataclass(frozen=True)
class Tags:
    """The special tokens of one version, in the order of their ids."""

    version: int

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """All that follow the backbone's own; version 1 spells tags, except those of languages."""
        if self.version == 1:
            return (*_SOUNDS, *LANGUAGE_TAGS)
        return (END_OF_PROMPT, *_SOUNDS, *(() if self.version == 2 else ("<|endofsystem|>", *_phones())))

    @cached_property
    def allowed(self) -> frozenset[str]:
        """Those that a caller may write."""
        return frozenset(token for token in self.tokens if not token.startswith("<|") or token in LANGUAGE_TAGS)

    def leading_language(self, text: str) -> str:
        """The language tag of version 1 that a text begins with, or nothing."""
        found = _CONTROL.match(text.lstrip()) if self.version == 1 else None
        return found[0] if found and found[0] in LANGUAGE_TAGS else ""

    @cached_property
    def rules(self) -> TagRules:
        """Rules by which a text's markup is read."""
        return TagRules(self.allowed, reads_markup=False)

    def clean(self, text: str) -> str:
        """A text without control tokens and tags that the model does not know; the service has warned of them."""
        return cleaned(TrackedText.of(text), self.rules, Warnings()).text

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds the tags of a text."""
        return re.compile("|".join(re.escape(tag) for tag in sorted(self.allowed, key=len, reverse=True)))


def _phones() -> list[str]:
    stressed = [
        phone[:-1] + stress for phone in _ARPABET for stress in (("", "0", "1", "2") if phone[-1] == "*" else ())
    ]
    plain = [phone for phone in _ARPABET if phone[-1] != "*"]
    return [f"[{phone}]" for phone in (*sorted((*stressed, *plain)), *_PINYIN)]
