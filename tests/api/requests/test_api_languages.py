"""Language codes as callers write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.tables import each_row
from polyvox.api.requests.languages import language_tag
from polyvox.errors import InvalidRequestError


@each_row(
    ("code", "tag"),
    [
        ("a", "en-us"),
        ("b", "en-gb"),
        ("e", "es"),
        ("f", "fr"),
        ("h", "hi"),
        ("i", "it"),
        ("j", "ja"),
        ("p", "pt-br"),
        ("z", "zh"),
        ("Z", "zh"),
        ("en", "en-us"),
        ("en-US", "en-us"),
        ("en_GB", "en-gb"),
        ("en-AU", "en-us"),
        ("pt", "pt-br"),
        ("fr-CA", "fr"),
        ("zh-Hans-CN", "zh"),
        ("cmn", "zh"),
        (" ja ", "ja"),
        ("ko", "ko"),
    ],
)
def test_a_code_becomes_an_engines_tag(code, tag):
    assert language_tag(code, "lang_code") == tag


@each_row("code", ["", "q", "!!", "english", "en-", "-en", "en--us", "e n", "é"])
def test_what_is_no_code_is_refused_by_the_fields_name(code):
    with pytest.raises(InvalidRequestError, match="'language' must be") as caught:
        language_tag(code, "language")
    assert caught.value.field == "language"


@given(st.text())
def test_a_tag_is_always_lower_case_ascii(code):
    try:
        tag = language_tag(code, "lang_code")
    except InvalidRequestError:
        return
    assert tag.isascii()
    assert tag == tag.lower()
