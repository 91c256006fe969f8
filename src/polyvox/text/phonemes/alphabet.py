"""The phoneme alphabet that Kokoro was trained on."""

from typing import Final

PRIMARY: Final = "ˈ"
SECONDARY: Final = "ˌ"
STRESSES: Final = frozenset(PRIMARY + SECONDARY)

PUNCTUATION: Final = frozenset(';:,.!?—…"()“”')

# Capital letters are diphthongs (A: face, I: price, O: goat, Q: British goat, W: mouth, Y: choice); T is the American
# flap, S a voiceless geminate; the arrows are Mandarin tones.
ALPHABET: Final = PUNCTUATION | frozenset(
    " \u0303ʣʥʦʨᵝꭧAIOQSTWYᵊabcdefhijklmnopqrstuvwxyzɑɐɒæβɔɕçɖðʤəɚɛɜɟɡɥɨɪʝɯɰŋɳɲɴøɸθœɹɾɻʁɽʂʃʈʧʊʋʌɣɤχʎʒʔˈˌːʰʲ↓→↗↘ᵻ"
)

ENGLISH_VOWELS: Final = frozenset("AIOQWYaiuæɑɐɒɔəɛɜɪʊʌᵻ")
ENGLISH_CONSONANTS: Final = frozenset("bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθTʔ")


def only_alphabet(phonemes: str) -> str:
    """The phonemes without whatever the model has no symbol for."""
    return "".join(symbol for symbol in phonemes if symbol in ALPHABET)
