import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.tables import each_row
from polyvox.errors import UnknownVoiceError
from polyvox.voices.mixing import MixTerm, parse_mix


@each_row(
    ("expression", "shares"),
    [
        ("af_heart", {"af_heart": 1.0}),
        ("af_heart(2)+bf_emma(1)", {"af_heart": 2 / 3, "bf_emma": 1 / 3}),
        ("af_heart+bf_emma", {"af_heart": 0.5, "bf_emma": 0.5}),
        ("af_heart,bf_emma", {"af_heart": 0.5, "bf_emma": 0.5}),
        (" af_heart ( 0.5 ) + bf_emma ( 1.5 ) ", {"af_heart": 0.25, "bf_emma": 0.75}),
        ("af_heart(2)+bf_emma(1)-am_adam(1)", {"af_heart": 0.5, "bf_emma": 0.25, "am_adam": -0.25}),
        ("af_heart-bf_emma", {"af_heart": 0.5, "bf_emma": -0.5}),
        ("af_bella-af_sky(.5)", {"af_bella": 2 / 3, "af_sky": -1 / 3}),
    ],
)
def test_a_mix_gives_each_voice_its_share(expression, shares):
    parts = parse_mix(expression)
    assert {part.voice: part.share for part in parts} == pytest.approx(shares)
    assert sum(abs(part.share) for part in parts) == pytest.approx(1.0)


@each_row(
    "expression",
    [
        "",
        "   ",
        "+af_heart",
        "af_heart+",
        "af_heart()",
        "af_heart(0)",
        "af_heart(1000)",
        "af_heart(-1)",
        "af_heart(1)bf_emma",
        "af_heart bf_emma",
        "../../etc/passwd",
        "af_heart\x00",
        "+".join(["af_heart"] * 17),
        "a" * 10_000,
    ],
)
def test_what_is_no_mix_is_refused_with_the_field_named(expression):
    with pytest.raises(UnknownVoiceError) as caught:
        parse_mix(expression)
    assert caught.value.field == "voice"
    assert len(caught.value.message) < 200


@given(st.text(max_size=200))
def test_any_text_parses_or_is_refused(expression):
    try:
        parts = parse_mix(expression)
    except UnknownVoiceError:
        return
    assert all(isinstance(part, MixTerm) for part in parts)


def test_the_id_of_another_servers_voice_is_no_subtraction():
    voice_id = "a0e99841-438c-4a64-b679-ae501e7d6091"
    with pytest.raises(UnknownVoiceError, match=voice_id):
        parse_mix(voice_id)
