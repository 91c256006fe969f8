"""The rule-based fall-back for espeak-ng's IPA, against the program's own output."""

import unicodedata
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from polyvox.text.phonemes import phonemizer_for
from polyvox.text.phonemes.espeak.ipa import RuleBasedEnglish
from polyvox.text.tokenizers.emilia import EmiliaTokenizer
from polyvox.text.tokenizers.vocabulary import read_vocabulary

TOKENS = Path(__file__).parents[1] / "golden" / "zipvoice_frontend" / "tokens.txt"
EXACTLY = {
    "The birch canoe slid on the smooth planks": "ðə bˈɜːtʃ kənˈuː slˈɪd ɔnðə smˈuːð plˈæŋks",
    "Rice is often served in round bowls": "ɹˈaɪs ɪz ˈɔfən sˈɜːvd ɪn ɹˈaʊnd bˈoʊlz",
    "Roses wishes churches judged wanted": "ɹˈoʊzᵻz wˈɪʃᵻz tʃˈɜːtʃᵻz dʒˈʌdʒd wˈɔntᵻd",
    "A large size in stockings is hard to sell": "ɐ lˈɑːɹdʒ sˈaɪz ɪn stˈɑːkɪŋz ɪz hˈɑːɹd tə sˈɛl",
    "her own": "hɜːɹ ˈoʊn",
    "more apples": "mˈoːɹ ˈæpəlz",
    "water is": "wˈɔːɾɚɹ ɪz",
    "the old": "ðɪ ˈoʊld",
    "it came from the sea": "ɪt kˈeɪm fɹʌmðə sˈiː",
    "to the": "tə ðˈə",
    "it is": "ɪɾ ˈɪz",
}
NEARLY = {
    "Glue the sheet to the dark blue background": "ɡlˈuː ðə ʃˈiːt tə ðə dˈɑːɹk blˈuː bˈækɡɹaʊnd",
    "The box was thrown beside the parked truck": "ðə bˈɑːks wʌz θɹˈoʊn bᵻsˌaɪd ðə pˈɑːɹkt tɹˈʌk",
    "Four hours of steady work faced us": "fˈoːɹ ˈaʊɚz ʌv stˈɛdi wˈɜːk fˈeɪsd ˌʌs",
    "The source of the huge river is the clear spring": "ðə sˈoːɹs ʌvðə hjˈuːdʒ ɹˈɪvɚɹ ɪz ðə klˈɪɹ spɹˈɪŋ",
    "a small difference between two voices means little": ("ɐ smˈɔːl dˈɪfɹəns bᵻtwˌiːn tˈuː vˈɔɪsᵻz mˈiːnz lˈɪɾəl"),
    "both agree with their published programs to three decimals": (
        "bˈoʊθ ɐɡɹˈiː wɪð ðɛɹ pˈʌblɪʃt pɹˈoʊɡɹæmz tə θɹˈiː dˈɛsɪməlz"
    ),
    "about again another around arrive away alone": "ɐbˌaʊt ɐɡˈɛn ɐnˈʌðɚɹ ɚɹˈaʊnd ɚɹˈaɪv ɐwˈeɪ ɐlˈoʊn",
    "actual usual situation education value issue": ("ˈæktʃuːəl jˈuːʒuːəl sˌɪtʃuːˈeɪʃən ˌɛdʒuːkˈeɪʃən vˈæljuː ˈɪʃuː"),
    "camera memory general natural different history": "kˈæmɹə mˈɛmɚɹi dʒˈɛnɚɹəl nˈætʃɚɹəl dˈɪfɹənt hˈɪstɚɹi",
}


@pytest.fixture(scope="module")
def fallback() -> RuleBasedEnglish:
    return RuleBasedEnglish(phonemizer_for("en-us", espeak="no-such-program"))


@pytest.mark.parametrize(("text", "ipa"), EXACTLY.items())
def test_these_come_out_as_the_programs(fallback: RuleBasedEnglish, text: str, ipa: str) -> None:
    assert fallback.phonemize([text]) == [ipa]


def test_in_running_text_few_tokens_differ(fallback: RuleBasedEnglish) -> None:
    theirs = [unicodedata.normalize("NFD", ipa) for ipa in NEARLY.values()]
    ours = [unicodedata.normalize("NFD", ipa) for ipa in fallback.phonemize(list(NEARLY))]
    errors = sum(_distance(one, other) for one, other in zip(theirs, ours, strict=True))
    assert errors / sum(map(len, theirs)) < 0.08


def test_a_button_has_its_glottal_stop_and_a_partner_does_not(fallback: RuleBasedEnglish) -> None:
    assert fallback.phonemize(["button", "cotton", "partner"]) == ["bˈʌʔn\u0329", "kˈɑːʔn\u0329", "pˈɑːɹtnɚ"]


@pytest.mark.parametrize("text", ["", "...", '"quoted" (so to speak)', "ONNX 5 º ½ naïve façade ☃", "x" * 400])
def test_whatever_it_is_given_it_writes_symbols_that_the_models_know(fallback: RuleBasedEnglish, text: str) -> None:
    vocabulary = read_vocabulary(TOKENS)
    (line,) = fallback.phonemize([text])
    assert vocabulary.encode(unicodedata.normalize("NFD", line)).unknown == ()


def test_the_tokenizer_reads_english_without_the_program() -> None:
    tokenizer = EmiliaTokenizer("no-such-program")
    with capture_logs() as logs:
        assert "".join(tokenizer.tokens("So: yes, no; well. Fine")) == "sˈoʊ: jˈɛs, nˈoʊ; wˈɛl.fˈaɪn"
        assert not tokenizer.uses_espeak
    assert ["apt-get install espeak-ng" in entry["reason"] for entry in logs] == [True]


def _distance(one: str, other: str) -> int:
    """How many symbols have to be put in, taken out or exchanged."""
    row = list(range(len(other) + 1))
    for count, symbol in enumerate(one, start=1):
        diagonal, row[0] = row[0], count
        for place, theirs in enumerate(other, start=1):
            diagonal, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, diagonal + (symbol != theirs))
    return row[-1]
