"""A model's token vocabulary, from its `tokens.txt`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from polyvox.errors import BundleError

PAD = "_"
_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class VocabularyIds:
    """The ids of a token sequence, and the tokens that are not in the vocabulary."""

    ids: tuple[int, ...]
    unknown: tuple[str, ...]


class TokenVocabulary:
    """Tokens by name. The pad is the model's own: a text cannot contain it."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = MappingProxyType(dict(ids))

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, token: str) -> bool:
        return token in self._ids

    def __getitem__(self, token: str) -> int:
        return self._ids[token]

    def __reduce__(self) -> tuple[type["TokenVocabulary"], tuple[dict[str, int]]]:
        return TokenVocabulary, (dict(self._ids),)

    def encode(self, tokens: Iterable[str]) -> VocabularyIds:
        """The ids of all known tokens, in order, and the unknown tokens."""
        ids: list[int] = []
        unknown: list[str] = []
        for token in tokens:
            if token in self._ids and token != PAD:
                ids.append(self._ids[token])
            else:
                unknown.append(token)
        return VocabularyIds(tuple(ids), tuple(unknown))


def read_vocabulary(path: Path) -> TokenVocabulary:
    """A file of lines `token<TAB>number`, numbered from 0 without a gap, the pad first."""
    with path.open("rb") as stream:
        content = stream.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise BundleError(f"{path} is too large for a list of tokens; fetch the model again.")
    ids: dict[str, int] = {}
    try:
        for line in content.decode("utf-8").splitlines():
            token, tab, number = line.rpartition("\t")
            if not tab or token in ids:
                raise ValueError(line)
            ids[token] = int(number)
    except ValueError as error:
        raise BundleError(f"{path} is not a list of tokens and numbers; fetch the model again.") from error
    if sorted(ids.values()) != list(range(len(ids))) or ids.get(PAD) != 0:
        raise BundleError(f"{path} does not number its tokens from the pad on without a gap; fetch the model again.")
    return TokenVocabulary(ids)
