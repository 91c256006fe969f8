"""Qwen's tokenizer with CosyVoice's special tokens."""

import json
from pathlib import Path

from polyvox.engines.cosyvoice.frontend.tagged_tokenizer import TaggedTokenizer
from polyvox.engines.cosyvoice.frontend.tags import BASE_TOKENS, Tags
from polyvox.errors import BundleError
from polyvox.text.tokenizers.byte_pairs import byte_pairs


class TextTokenizer(TaggedTokenizer):
    """Qwen's tokenizer.

    A tag in the text is one id. What looks like a control token is encoded as plain text: control tokens come from
    `special` only.
    """

    def __init__(self, folder: Path, tags: Tags) -> None:
        self.source = folder
        try:
            words = byte_pairs(folder)
            config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
            base = {str(token["content"]): int(number) for number, token in config["added_tokens_decoder"].items()}
        except Exception as error:
            raise BundleError(f"The tokenizer in {folder} cannot be read ({error}); fetch its files again.") from error
        if missing := [token for token in BASE_TOKENS if token not in base]:
            raise BundleError(f"The tokenizer in {folder} lacks {', '.join(missing)}; fetch its files again.")
        first = max(base.values()) + 1
        special = {token: first + index for index, token in enumerate(tags.tokens)}
        super().__init__(words, tags.pattern, special)

    @property
    def largest(self) -> int:
        """The largest text id."""
        return max(self._special.values())

    def special(self, token: str) -> int:
        """The id of a special token."""
        return self._special[token]
