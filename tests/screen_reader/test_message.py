import pytest

from polyvox.screen_reader.marked_text import IndexMark, read_message
from polyvox.screen_reader.message import MessageKind, Tone, common_phrases, message_parts
from polyvox.screen_reader.message_settings import (
    Capitals,
    MessageSettings,
    Punctuation,
    SettingError,
    with_parameters,
)
from polyvox.screen_reader.synthesizer import Phrase
from polyvox.screen_reader.voice_choice import choose_voice
from polyvox.types import Voice


def test_rates_reach_from_half_to_four_times_the_pace():
    speeds = {rate: MessageSettings(rate=rate).speed for rate in (-100, -50, 0, 50, 100)}
    assert speeds == pytest.approx({-100: 0.5, -50: 0.5**0.5, 0: 1.0, 50: 2.0, 100: 4.0})


def test_volumes_reach_from_silence_to_full():
    assert [MessageSettings(volume=volume).gain for volume in (-100, 0, 100)] == [0.0, 0.5, 1.0]


def test_a_higher_pitch_is_spoken_slower_and_played_faster():
    settings = MessageSettings(rate=0, pitch=100)
    (phrase,) = message_parts(MessageKind.SPEAK, "high", settings, "")
    assert isinstance(phrase, Phrase)
    assert phrase.speed * settings.pitch_factor == pytest.approx(1.0)
    assert settings.pitch_factor == pytest.approx(2 ** (4 / 12))


def test_no_combination_of_rate_and_pitch_leaves_the_range_of_speeds():
    for rate in (-100, 100):
        for pitch in (-100, 100):
            (phrase,) = message_parts(MessageKind.SPEAK, "x y", MessageSettings(rate=rate, pitch=pitch), "")
            assert isinstance(phrase, Phrase)
            assert 0.25 <= phrase.speed <= 4.0


def test_parameters_of_the_host_are_taken():
    lines = ["rate=-30", "pitch=10", "pitch_range=0", "volume=80", "punctuation_mode=most", "spelling_mode=on"]
    lines += ["cap_let_recogn=icon", "voice=female1", "language=en-GB", "synthesis_voice=NULL"]
    assert with_parameters(MessageSettings(), lines) == MessageSettings(
        rate=-30,
        pitch=10,
        volume=80,
        punctuation=Punctuation.MOST,
        capitals=Capitals.ICON,
        is_spelled=True,
        language="en-GB",
        voice_type="female1",
    )


def test_parameters_that_there_are_not_are_refused():
    bad = ("rate", "rate=", "rate=101", "rate=fast", "rate=" + "9" * 5000, "punctuation_mode=loud", "colour=red")
    for line in (*bad, "spelling_mode=maybe", "cap_let_recogn=", "=1"):
        with pytest.raises(SettingError):
            with_parameters(MessageSettings(), [line])


def test_ssml_is_read_as_words_and_marks():
    message = (
        '<speak>One &amp; two. <mark name="0"/>Three<break/> four <emphasis>five</emphasis><mark name="1"/></speak>'
    )
    assert read_message(message) == ["One & two.", IndexMark("0"), "Three\n four five", IndexMark("1")]


def test_hostile_ssml_loses_its_tags_and_keeps_its_words():
    assert " ".join(str(read_message("<speak>a <b>c</speak>")[0]).split()) == "a c"
    bomb = '<speak><!DOCTYPE x [<!ENTITY a "b">]>&a;</speak>'
    assert "b" not in str(read_message(bomb)[0]).replace("ENTITY a", "").partition("&")[2]
    assert read_message("2 < 3") == ["2 < 3"]
    assert read_message('<speak>x<mark name="a&#10;703 STOP"/></speak>')[1] == IndexMark("a 703 STOP")


def test_one_character_is_named_whichever_command_brings_it():
    for kind, text in ((MessageKind.CHAR, "a"), (MessageKind.KEY, "a"), (MessageKind.SPEAK, "<speak>a</speak>")):
        assert message_parts(kind, text, MessageSettings(), "v") == [Phrase("A", "v", 1.0)]
    for text in ("space", " ", "<speak> </speak>"):
        assert message_parts(MessageKind.CHAR, text, MessageSettings(), "v") == [Phrase("space", "v", 1.0)]


def test_a_tone_comes_before_a_capital_letter():
    settings = MessageSettings(capitals=Capitals.ICON)
    assert message_parts(MessageKind.CHAR, "B", settings, "") == [Tone(), Phrase("B")]
    assert message_parts(MessageKind.CHAR, "b", settings, "") == [Phrase("B")]


def test_marks_alone_are_silent_in_a_text():
    assert message_parts(MessageKind.SPEAK, "...  ---", MessageSettings(), "") == []


def test_a_sound_icon_is_its_name():
    assert message_parts(MessageKind.SOUND_ICON, "new-mail_here", MessageSettings(), "") == [Phrase("new mail here")]


def test_what_is_made_beforehand_is_what_a_typist_hears():
    phrases = set(common_phrases(MessageSettings(), "v"))
    typed = [(MessageKind.CHAR, c) for c in "abcxyz019.,;"] + [(MessageKind.KEY, k) for k in ("shift", "F5", "space")]
    assert all(set(message_parts(kind, text, MessageSettings(), "v")) <= phrases for kind, text in typed)


VOICES = (
    Voice("af_alloy", "Alloy", "en-us", "female"),
    Voice("af_heart", "Heart", "en-us", "female"),
    Voice("am_adam", "Adam", "en-us", "male"),
    Voice("am_puck", "Puck", "en-us", "male"),
    Voice("bf_emma", "Emma", "en-gb", "female"),
    Voice("jf_alpha", "Alpha", "ja", "female", reason="needs a dictionary"),
    Voice("ff_siwis", "Siwis", "fr", "female"),
)


def test_a_voice_is_chosen_by_name_then_language_then_type():
    asked = {
        MessageSettings(): "",
        MessageSettings(language="en-US", voice_type="male1"): "",
        MessageSettings(language="en"): "",
        MessageSettings(voice_name="AM_ADAM", language="fr"): "am_adam",
        MessageSettings(voice_name="nobody"): "",
        MessageSettings(language="en-GB", voice_type="male1"): "bf_emma",
        MessageSettings(language="fr-CA", voice_type="male1"): "ff_siwis",
        MessageSettings(language="ja"): "",
        MessageSettings(language="en-us", voice_type="male2"): "am_puck",
        MessageSettings(language="en-us", voice_type="male3"): "am_adam",
        MessageSettings(language="en-us", voice_type="child_female"): "af_alloy",
    }
    assert {settings: choose_voice(settings, VOICES, "") for settings in asked} == asked
    assert choose_voice(MessageSettings(language="fr"), (), "af_heart") == "af_heart"
