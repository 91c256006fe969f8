from dataclasses import replace

import numpy as np
import pytest

from polyvox.config import Settings
from polyvox.engines.kokoro import voices
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.engines.kokoro.voice_table import VoiceTable
from polyvox.errors import UnknownVoiceError
from polyvox.extras import JAPANESE
from polyvox.installation import load_settings
from polyvox.text.phonemes import chinese_words
from polyvox.text.phonemes.alphabet import ALPHABET
from polyvox.text.phonemes.japanese import phonemizer


@pytest.fixture
def styles(tmp_path):
    rng = np.random.default_rng(0)
    for voice in voices.VOICES:
        rng.standard_normal((510, 1, 256)).astype("<f4").tofile(tmp_path / f"{voice.id}.bin")
    return VoiceTable(tmp_path, voices.VOICES)


def test_there_are_54_voices_in_nine_languages():
    catalogue = voices.VOICES
    assert len(catalogue) == len({voice.id for voice in catalogue}) == 54
    assert {voice.language for voice in catalogue} == set(voices.LANGUAGES.values())


def test_voices_have_the_grades_that_were_published_with_them():
    grades = {voice.id: voice.grade for voice in voices.VOICES}
    assert (grades["af_heart"], grades["bf_emma"], grades["am_adam"]) == ("A", "B-", "F+")
    assert {voice for voice, grade in grades.items() if not grade} == {
        "ef_dora",
        "em_alex",
        "em_santa",
        "pf_dora",
        "pm_alex",
        "pm_santa",
    }


def test_a_mix_is_the_weighted_mean_of_its_voices(styles):
    mixed = styles.style("af_heart(2)+bf_emma(1)")
    expected = (2 * styles.style("af_heart") + styles.style("bf_emma")) / 3
    np.testing.assert_allclose(mixed, expected, atol=1e-6)


def test_openai_names_are_voices_too(styles):
    np.testing.assert_array_equal(styles.style("nova"), styles.style("bf_isabella"))


def test_a_voice_is_subtracted_as_in_kokoro_fastapi(styles):
    mixed = styles.style("af_heart(3)-bf_emma")
    np.testing.assert_allclose(mixed, 0.75 * styles.style("af_heart") - 0.25 * styles.style("bf_emma"), atol=1e-6)


def test_an_unknown_voice_is_refused_with_a_suggestion():
    with pytest.raises(UnknownVoiceError, match="did you mean 'af_heart'"):
        voices.parse("af_hart")


def test_a_voice_speaks_its_own_language_and_a_mix_that_of_its_first():
    assert voices.language_of("bf_emma+af_heart") == "en-gb"
    assert voices.language_of("zf_xiaobei") == "zh"


def test_phonemizers_write_only_symbols_in_the_vocabulary():
    assert set(ALPHABET) <= set(IDS)


def test_voices_whose_language_lacks_something_say_what(monkeypatch):
    missing = replace(JAPANESE, modules=("no_such_package",))
    monkeypatch.setattr("polyvox.text.phonemes.availability.JAPANESE", missing)
    listed = {voice.id: voice for voice in KokoroEngine(load_settings(espeak="no-such-program")).voices}
    assert len(listed) == 54
    assert "fr" in listed["ff_siwis"].reason
    assert "[espeak]" in listed["ff_siwis"].reason
    assert "[ja]" in listed["jf_alpha"].reason
    assert [listed[name].reason for name in ("af_heart", "bf_emma", "zf_xiaobei")] == ["", "", ""]


def test_warming_up_reads_words_of_every_language_and_loads_its_dictionaries(monkeypatch):
    read, phonemize = [], KokoroEngine.phonemize

    def noted(engine, text, language):
        read.append(language)
        return phonemize(engine, text, language)

    monkeypatch.setattr(KokoroEngine, "phonemize", noted)
    dictionaries = (chinese_words._dictionary, phonemizer._listed_words)
    for dictionary in dictionaries:
        dictionary.cache_clear()
    KokoroEngine(Settings()).warm_up()
    assert set(read) == voices.LANGUAGE_TAGS
    assert [dictionary.cache_info().currsize for dictionary in dictionaries] == [1, 1]
