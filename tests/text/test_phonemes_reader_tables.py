"""The English reader's tables as data for other readers."""

import json

import pytest

from polyvox.text.phonemes.english.lexicon import lexicon
from polyvox.text.phonemes.english.reader_tables import as_json, reader_tables


@pytest.mark.parametrize("variant", ["us", "gb"])
def test_the_tables_hold_what_the_lexicon_finds(variant):
    tables, words = json.loads(as_json(reader_tables(variant))), lexicon(variant)
    gold = dict(zip(tables["words"].split("\n"), tables["sounds"].split("\n"), strict=True))
    lower = dict(zip(tables["lowerWords"].split("\n"), tables["lowerSounds"].split("\n"), strict=True))
    assert gold | tables["byRole"] == {
        word: entry if isinstance(entry, str) else dict(entry) for word, entry in words.gold.items()
    }
    for word in ("quixotic", "zuckerman", "kubernetes", "wozniak"):
        assert (gold.get(word) or lower.get(word)) == words.find(word), word
    assert not gold.keys() & lower.keys()


def test_the_tables_are_the_same_bytes_each_time():
    assert as_json(reader_tables("us")) == as_json(reader_tables("us"))
