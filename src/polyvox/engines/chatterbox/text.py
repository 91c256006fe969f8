"""Texts as Chatterbox's token networks read them: cleaned up, and as ids."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from polyvox.engines.chatterbox.scripts import CangjieTable, HiraganaReader, chinese_words
from polyvox.errors import BundleError

ENGLISH_TAGS: Final = frozenset(
    f"[{name}]"
    for name in (
        "UH UM giggle laughter guffaw inhale exhale sigh cry bark howl meow singing music whistle humming gasp groan "
        "whisper mumble sniff sneeze cough snore chew sip clear_throat kiss shhh gibberish"
    ).split()
)
MULTILINGUAL_TAGS: Final = frozenset(tag for tag in ENGLISH_TAGS if tag.islower())
"""Texts are lowercased, so that the others cannot be written."""
TURBO_TAGS: Final = frozenset(
    f"[{name}]"
    for name in (
        "angry,fear,surprised,whispering,advertisement,dramatic,narration,crying,happy,sarcastic,clear throat,sigh,"
        "shush,cough,groan,sniff,gasp,chuckle,laugh"
    ).split(",")
)
_SPACE: Final = "[SPACE]"
_ENGLISH_FILE: Final = "tokenizer.json"
_MULTILINGUAL_FILES: Final = ("grapheme_mtl_merged_expanded_v1.json", "mtl_tokenizer.json")
"""That of versions 2 and 3, and that of version 1."""
_CANGJIE_FILE: Final = "Cangjie5_TC.json"
_MAX_JSON_BYTES: Final = 16 << 20
_QUOTES: Final = (("“", '"'), ("”", '"'), ("‘", "'"), ("’", "'"))
_TURBO_REPLACED: Final = (("…", ", "), (":", ","), ("—", "-"), ("–", "-"), (" ,", ","), *_QUOTES)
_REPLACED: Final = (
    ("...", ", "),
    ("…", ", "),
    (":", ","),
    (" - ", ", "),
    (";", ", "),
    ("—", "-"),
    ("–", "-"),
    (" ,", ","),
    *_QUOTES,
)


@dataclass(frozen=True, slots=True)
class TextRules:
    """Replacements in a text, in their order, and the marks that may end it."""

    replaced: tuple[tuple[str, str], ...] = _REPLACED
    ends: tuple[str, ...] = (".", "!", "?", "-", ",")


ENGLISH: Final = TextRules()
MULTILINGUAL: Final = TextRules(ends=(*ENGLISH.ends, "、", "，", "。", "？", "！"))
TURBO: Final = TextRules(_TURBO_REPLACED)


def cleaned(text: str, rules: TextRules) -> str:
    """A text as the networks were trained on: a capital first, simple punctuation, and an end."""
    if text[:1].islower():
        text = text[0].upper() + text[1:]
    text = " ".join(text.split())
    for old, new in rules.replaced:
        text = text.replace(old, new)
    text = text.rstrip(" ")
    return text if text.endswith(rules.ends) else f"{text}."


class TextEncoder(Protocol):
    """Cleans texts and encodes them. Thread-safe."""

    def encode(self, text: str, language: str | None = None) -> tuple[int, ...]:
        """The ids of a text, without a frame; control tokens in it are plain words."""


class EnglishTextEncoder:
    """Letters and a few merges; blanks are a token."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = _tokenizer(path)
        self._plain = _control_tokens(self._tokenizer, ENGLISH_TAGS)

    def encode(self, text: str, language: str | None = None) -> tuple[int, ...]:
        return _ids(self._tokenizer, self._plain(cleaned(text, ENGLISH)).replace(" ", _SPACE))


class MultilingualTextEncoder:
    """Lowercase letters taken apart from their accents, codes for Chinese, kana for Japanese.

    Hebrew and Russian are read as they are written; vowels and stresses that a text holds are kept.
    """

    def __init__(self, path: Path, cangjie: Path, segment: Callable[[str], str] = chinese_words) -> None:
        self._tokenizer = _tokenizer(path)
        self._plain = _control_tokens(self._tokenizer, MULTILINGUAL_TAGS)
        self._cangjie, self._segment = CangjieTable(cangjie), segment
        self._hiragana = HiraganaReader()

    @property
    def ids(self) -> int:
        """One more than the greatest id."""
        return _id_count(self._tokenizer)

    def encode(self, text: str, language: str | None = None) -> tuple[int, ...]:
        text = self._plain(unicodedata.normalize("NFKD", cleaned(text, MULTILINGUAL).lower()))
        language = language.lower() if language else ""
        if language == "zh":
            text = self._cangjie.spelled(self._segment(text))
        elif language == "ja":
            text = unicodedata.normalize("NFKD", self._hiragana(unicodedata.normalize("NFC", text)))
        elif language == "ko":
            text = text.strip()
        prefix = f"[{language}]" if language else ""
        return _ids(self._tokenizer, (prefix + text).replace(" ", _SPACE))


class TurboTextEncoder:
    """GPT-2's byte pairs, and tags."""

    def __init__(self, folder: Path) -> None:
        """The folder's `tokenizer.json` where there is one, else its vocabulary and merges."""
        whole = folder / "tokenizer.json"
        self._tokenizer = _tokenizer(whole) if whole.is_file() else _byte_pairs(folder)
        self._plain = _control_tokens(self._tokenizer, TURBO_TAGS)

    def encode(self, text: str, language: str | None = None) -> tuple[int, ...]:
        return _ids(self._tokenizer, self._plain(cleaned(text, TURBO)))


def load_text_encoder(folder: Path, *, multilingual: bool, turbo: bool, text_ids: int) -> TextEncoder:
    """The encoder of a model's folder for a network of so many text ids; BundleError names what does not fit."""
    if turbo:
        return TurboTextEncoder(folder)
    if not multilingual:
        return EnglishTextEncoder(folder / _ENGLISH_FILE)
    there = [folder / name for name in _MULTILINGUAL_FILES if (folder / name).is_file()]
    for path in there:
        encoder = MultilingualTextEncoder(path, folder / _CANGJIE_FILE)
        if encoder.ids <= text_ids:
            return encoder
    raise BundleError(
        f"{folder} has no tokenizer for a network of {text_ids} text ids; fetch {' or '.join(_MULTILINGUAL_FILES)}."
    )


def _ids(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    return tuple(tokenizer.encode(text).ids)


def _id_count(tokenizer: Tokenizer) -> int:
    return 1 + max(tokenizer.get_vocab(with_added_tokens=True).values())


def _control_tokens(tokenizer: Tokenizer, allowed: Iterable[str]) -> Callable[[str], str]:
    """A function that makes plain words of the tokens which a caller may not write."""
    names = {token.content for token in tokenizer.get_added_tokens_decoder().values()} - set(allowed)
    pattern = re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or r"(?!)")
    return lambda text: pattern.sub(lambda found: found[0].strip("[]<|>"), text)


def _tokenizer(path: Path) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more specific
        raise BundleError(f"The tokenizer {path} cannot be read ({error}); fetch it again.") from error


def _byte_pairs(folder: Path) -> Tokenizer:
    """GPT-2's tokenizer with the tokens that the folder adds to its vocabulary."""
    try:
        tokenizer = Tokenizer(models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt")))
    except Exception as error:  # the library raises nothing more specific
        raise BundleError(f"The tokenizer in {folder} cannot be read ({error}); fetch its files again.") from error
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    for content, wanted in sorted(_added_tokens(folder).items(), key=lambda item: item[1]):
        tokenizer.add_tokens([AddedToken(content, normalized=False)])
        if tokenizer.token_to_id(content) != wanted:
            raise BundleError(
                f"The tokens that {folder} adds to its vocabulary do not follow it; fetch its files again."
            )
    return tokenizer


def _added_tokens(folder: Path) -> dict[str, int]:
    """Tokens besides the vocabulary and their ids, from the two files that may have them."""
    found: dict[str, int] = {}
    try:
        for ident, token in _read_json(folder / "tokenizer_config.json").get("added_tokens_decoder", {}).items():
            found[str(token["content"])] = int(ident)
        found |= {str(content): int(ident) for content, ident in _read_json(folder / "added_tokens.json").items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BundleError(
            f"The tokens that {folder} adds to its vocabulary cannot be read; fetch them again."
        ) from error
    return found


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a file; empty where there is no file."""
    if not path.is_file():
        return {}
    found = json.loads(path.read_bytes()) if path.stat().st_size <= _MAX_JSON_BYTES else None
    if not isinstance(found, dict):
        raise TypeError(path.name)
    return found
