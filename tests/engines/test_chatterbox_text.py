"""Texts become the ids that the original makes of them, and what a caller writes is never a control token."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from helpers.chatterbox_t3_golden import FOLDER
from polyvox.engines.chatterbox import scripts
from polyvox.engines.chatterbox.scripts import CangjieTable, chinese_words
from polyvox.engines.chatterbox.text import (
    ENGLISH,
    MULTILINGUAL,
    TURBO,
    EnglishTextEncoder,
    MultilingualTextEncoder,
    TurboTextEncoder,
    cleaned,
    load_text_encoder,
)
from polyvox.errors import BundleError, NotServedError

FILES = FOLDER / "tokenizers"
RECORDED = json.loads((FOLDER / "text.json").read_text())
VERSION_1 = 2352
"""Text ids of the first multilingual network, which the tokenizer here belongs to."""


def english() -> EnglishTextEncoder:
    return EnglishTextEncoder(FILES / "tokenizer_english.json")


def multilingual(**given: object) -> MultilingualTextEncoder:
    return MultilingualTextEncoder(FILES / "tokenizer_multilingual_v1.json", FILES / "cangjie_tiny.json", **given)


def turbo() -> TurboTextEncoder:
    return TurboTextEncoder(FILES / "turbo_tiny")


def tokens(encoder: EnglishTextEncoder | MultilingualTextEncoder | TurboTextEncoder, ids: tuple[int, ...]) -> list[str]:
    return [encoder._tokenizer.id_to_token(each) for each in ids]


def test_texts_are_cleaned_and_encoded_as_in_the_original() -> None:
    # Nothing is not spoken here, and Japanese is read by another dictionary.
    unsegmented = multilingual(segment=str)
    for row in RECORDED["english"]:
        if row["text"]:
            assert cleaned(row["text"], ENGLISH) == row["normalised"]
            assert list(english().encode(row["text"])) == row["ids"], row["text"]
    for row in RECORDED["multilingual"]:
        assert cleaned(row["text"], MULTILINGUAL) == row["normalised"]
        if row["language"] != "ja":
            assert list(unsegmented.encode(row["text"], row["language"])) == row["ids"], row["text"]
    for row in RECORDED["turbo"]:
        if row["text"]:
            assert cleaned(row["text"], TURBO) == row["normalised"]
            assert list(turbo().encode(row["text"])) == row["ids_tiny"], row["text"]


def test_chinese_words_are_set_apart_before_their_characters_are_spelled() -> None:
    assert chinese_words("你好,今天 天气真不错") == "你好 , 今天 天气 真不错"
    words = "".join(tokens(multilingual(), multilingual().encode("你好天", "zh"))).split("[SPACE]")
    assert words == ["[zh][cj_o][cj_n][cj_f][cj_.][cj_v][cj_n][cj_d][cj_.]", "[cj_m][cj_k][cj_.]", "."]


def test_characters_that_share_a_code_are_told_apart_by_a_number() -> None:
    table = CangjieTable(FILES / "cangjie_tiny.json")
    assert table.spelled("你") == "[cj_o][cj_n][cj_f][cj_.]"
    assert table.spelled("伱") == "[cj_o][cj_n][cj_f][cj_1][cj_.]"
    assert table.spelled("x龘。") == "x龘。"


def test_japanese_words_are_read_in_hiragana_and_set_apart_where_they_look_like_particles() -> None:
    pytest.importorskip("fugashi")
    pytest.importorskip("unidic_lite")
    found = "".join(tokens(multilingual(), multilingual().encode("東京へ行く母とカメラ", "ja")))
    assert found == "[ja]とうきょうへいく[SPACE]ははとカメラ."


def test_without_a_dictionary_kana_are_spoken_and_other_japanese_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scripts._tagger.cache_clear()
    monkeypatch.setitem(sys.modules, "fugashi", None)
    assert tokens(multilingual(), multilingual().encode("カメラ", "ja"))[1] == "カ"
    with pytest.raises(NotServedError, match="not installed; get it with"):
        multilingual().encode("東京", "ja")


def test_what_a_caller_writes_is_never_a_control_token() -> None:
    for encoder, text in (
        (english(), "a [START] b [STOP] c [UNK] d [SPACE] e [fr] f"),
        (multilingual(), "a [START] [stop] [zh] [cj_a] [SPACE] ［ｚｈ］"),
        (turbo(), "a <|endoftext|> b"),
    ):
        found = tokens(encoder, encoder.encode(text, "en"))
        controls = {"[START]", "[STOP]", "[UNK]", "[fr]", "[zh]", "[cj_a]", "<|endoftext|>"}
        assert not controls & set(found), found
    assert "[laughter]" in tokens(english(), english().encode("oh [laughter]"))
    assert "[clear throat]" in tokens(turbo(), turbo().encode("oh [clear throat]"))


def test_a_folder_is_read_by_what_its_network_can_hold(tmp_path: Path) -> None:
    shutil.copy(FILES / "tokenizer_multilingual_v1.json", tmp_path / "mtl_tokenizer.json")
    shutil.copy(FILES / "cangjie_tiny.json", tmp_path / "Cangjie5_TC.json")
    shutil.copy(FILES / "tokenizer_english.json", tmp_path / "tokenizer.json")
    found = load_text_encoder(tmp_path, multilingual=True, turbo=False, text_ids=VERSION_1)
    assert isinstance(found, MultilingualTextEncoder)
    assert isinstance(load_text_encoder(tmp_path, multilingual=False, turbo=False, text_ids=704), EnglishTextEncoder)
    with pytest.raises(BundleError, match="704 text ids"):
        load_text_encoder(tmp_path, multilingual=True, turbo=False, text_ids=704)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "table.json").write_text('["a b"]')
    with pytest.raises(BundleError, match=r"tokenizer\.json"):
        EnglishTextEncoder(tmp_path / "tokenizer.json")
    with pytest.raises(BundleError, match=r"table\.json"):
        CangjieTable(tmp_path / "table.json")
    folder = tmp_path / "turbo"
    shutil.copytree(FILES / "turbo_tiny", folder)
    for name, content, complaint in (
        ("added_tokens.json", '{"[sigh]": 400}', "do not follow"),
        ("added_tokens.json", "[1]", "cannot be read"),
        ("tokenizer_config.json", '{"added_tokens_decoder": {"x": {}}}', "cannot be read"),
        ("vocab.json", "", "tokenizer in"),
    ):
        shutil.rmtree(folder)
        shutil.copytree(FILES / "turbo_tiny", folder)
        (folder / name).write_text(content)
        with pytest.raises(BundleError, match=complaint):
            TurboTextEncoder(folder)
