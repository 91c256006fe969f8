"""Kokoro's vocabulary: the token id of each phoneme symbol."""

from types import MappingProxyType

PADDING = 0
MAX_PHONEMES = 510

# Ids are not contiguous: each run of symbols starts at its key.
_RUNS = {
    1: ";:,.!?",
    9: '—…"()“” \u0303ʣʥʦʨᵝꭧAI',
    31: "O",
    33: "Q",
    35: "ST",
    39: "W",
    41: "Yᵊabcdef",
    50: "hijklmnopqrstuvwxyzɑɐɒæ",
    75: "βɔɕç",
    80: "ɖðʤə",
    85: "ɚɛɜ",
    90: "ɟ",
    92: "ɡ",
    99: "ɥ",
    101: "ɨɪʝ",
    110: "ɯɰŋɳɲɴø",
    118: "ɸθœ",
    123: "ɹ",
    125: "ɾɻ",
    128: "ʁɽʂʃʈʧ",
    135: "ʊʋ",
    138: "ʌɣɤ",
    142: "χʎ",
    147: "ʒʔ",
    156: "ˈˌː",
    162: "ʰ",
    164: "ʲ",
    169: "↓",
    171: "→↗↘",
    177: "ᵻ",
}

IDS = MappingProxyType({symbol: start + offset for start, run in _RUNS.items() for offset, symbol in enumerate(run)})
