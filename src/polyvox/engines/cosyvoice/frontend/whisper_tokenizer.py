"""Version 1's tokenizer: Whisper's multilingual byte pairs, with its language tags."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from polyvox.engines.cosyvoice.frontend.tagged_tokenizer import TaggedTokenizer
from polyvox.engines.cosyvoice.frontend.tags import LANGUAGE_TAGS
from polyvox.errors import BundleError

RANKS: Final = "multilingual.tiktoken"
PAIRS: Final = ("vocab.json", "merges.txt")
"""The vocabulary in the form of the openai-whisper package, and in that of Whisper models on hubs."""

_WORDS: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_EMPTY: Final = "="
"""The file's form of the empty string, which has the last id and is never part of a text."""
_CONTROL: Final = re.compile(r"<\|.*\|>")
_MAX_BYTES: Final = 1 << 24
_SPECIAL: Final = 1609
"""Ids behind the byte pairs: end of text, start, a hundred languages, tasks, and times up to thirty seconds."""
_LANGUAGE_OFFSETS: Final = {"en": 2, "zh": 3, "ko": 7, "ja": 9, "yue": 101}
"""The places of version 1's languages among them."""


def find_vocabulary(folder: Path) -> Path:
    """The vocabulary in a model's folder, or that of an installed openai-whisper; BundleError says how to get one."""
    if (folder / RANKS).is_file():
        return folder / RANKS
    if all((folder / name).is_file() for name in PAIRS):
        return folder / PAIRS[0]
    installed = find_spec("whisper")
    for place in (installed and installed.submodule_search_locations) or ():
        if (Path(place) / "assets" / RANKS).is_file():
            return Path(place) / "assets" / RANKS
    raise BundleError(
        f"CosyVoice 1 in {folder} has no text vocabulary: it is Whisper's, and not published with the model. Copy "
        f"whisper/assets/{RANKS} of the openai-whisper package there, or {' and '.join(PAIRS)} of whisper-large-v3."
    )


class WhisperTokenizer(TaggedTokenizer):
    """Whisper's tokenizer.

    A language tag is one id. Other control tokens are encoded as plain text, and so are tags like `[laughter]`, as the
    model was trained.
    """

    def __init__(self, folder: Path) -> None:
        self.source = find_vocabulary(folder)
        try:
            ranks = _ranks(self.source) if self.source.suffix == ".tiktoken" else None
            words, first = _from_ranks(ranks) if ranks is not None else _from_pairs(self.source.parent)
        except Exception as error:
            raise BundleError(
                f"The text vocabulary {self.source} cannot be read ({str(error)[:200]}); copy it again."
            ) from error
        self._first = first
        special = {tag: first + _LANGUAGE_OFFSETS[language] for tag, language in LANGUAGE_TAGS.items()}
        super().__init__(words, re.compile("|".join(map(re.escape, LANGUAGE_TAGS))), special)

    @property
    def largest(self) -> int:
        """The largest text id."""
        return self._first + _SPECIAL - 1


def _ranks(path: Path) -> dict[bytes, int]:
    """Byte strings and their ids, one of each on a line."""
    ranks = {}
    for line in _read(path).splitlines():
        encoded, rank = line.split()
        try:
            token = b"" if encoded == _EMPTY else base64.b64decode(encoded, validate=True)
        except binascii.Error as error:
            raise ValueError(f"{encoded[:20]!r} is not base64") from error
        ranks[token] = int(rank)
    return ranks


def _from_ranks(ranks: Mapping[bytes, int]) -> tuple[Tokenizer, int]:
    """The tokenizer of these byte strings, and the first id behind them.

    Any two that make up a third may be merged, in the order of the third's ids.
    """
    letters = _byte_letters()
    spelled = {"".join(letters[byte] for byte in token): rank for token, rank in ranks.items() if token}
    merges = [
        (token[:cut], token[cut:])
        for token, _ in sorted(spelled.items(), key=lambda item: item[1])
        for cut in range(1, len(token))
        if token[:cut] in spelled and token[cut:] in spelled
    ]
    return _tokenizer(models.BPE(vocab=spelled, merges=merges, ignore_merges=True)), max(ranks.values()) + 1


def _from_pairs(folder: Path) -> tuple[Tokenizer, int]:
    """The tokenizer of a hub's two files, and the first id behind its byte pairs."""
    content = json.loads(_read(folder / PAIRS[0]))
    numbered = {str(token): int(number) for token, number in content.items() if not _CONTROL.fullmatch(token)}
    vocabulary = {token: number for token, number in numbered.items() if token}
    lines = [line for line in _read(folder / PAIRS[1]).splitlines() if line and not line.startswith("#version")]
    pairs = [(first, second) for first, _, second in (line.partition(" ") for line in lines)]
    known = [pair for pair in pairs if "".join(pair) in vocabulary]
    return _tokenizer(models.BPE(vocab=vocabulary, merges=known)), max(numbered.values()) + 1


def _tokenizer(pairs: models.BPE) -> Tokenizer:
    tokenizer = Tokenizer(pairs)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return tokenizer


def _byte_letters() -> list[str]:
    """The letter that stands for each byte: itself where it can be printed, and one from a range of its own else."""
    printed = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printed else chr(next(others)) for byte in range(0x100)]


def _read(path: Path) -> str:
    if path.stat().st_size > _MAX_BYTES:
        raise ValueError("it is too large")
    return path.read_text(encoding="utf-8")
