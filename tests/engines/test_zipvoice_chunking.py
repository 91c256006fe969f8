"""Chunk boundaries of ZipVoice's texts."""

from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.tables import each_row
from polyvox.engines.zipvoice.chunking import ClauseChunk, chunk_clauses
from polyvox.engines.zipvoice.clauses import Clause, clauses, parse
from polyvox.text.markup.markup import InlinePhonemes
from polyvox.text.spoken import Pause
from polyvox.types import ChunkPolicy, NormalizationOptions

POLICY = ChunkPolicy(40, 2.0, 250)


def planned(text: str, *, dialogue: bool = False) -> list[ClauseChunk | Pause]:
    return list(chunk_clauses(clauses(parse(text), NormalizationOptions(), None, dialogue=dialogue), POLICY))


def texts(text: str, *, dialogue: bool = False) -> list[str]:
    return [
        item.text if isinstance(item, ClauseChunk) else f"({item.seconds} s)"
        for item in planned(text, dialogue=dialogue)
    ]


def test_the_first_chunk_is_short_and_chunks_end_where_sentences_end() -> None:
    first, *rest = "One day it rained.", "The next day it did not, and we went out.", "Then it rained again."
    assert texts(" ".join((first, *rest))) == [first, *rest]


def test_dashes_and_dots_become_marks_that_the_model_knows() -> None:
    assert texts("He went — slowly… home") == ["He went, slowly, home."]


def test_figures_are_spelled_out_and_marks_left_alone() -> None:
    script = parse("It is 5 <chang2> [laugh] long")
    chunk = planned("It is 5 <chang2> [laugh] long")[0]
    assert isinstance(chunk, ClauseChunk)
    assert list(script.unmasked(chunk.text)) == ["It is five <chang2> [laugh] long."]


def test_given_phonemes_stand_apart() -> None:
    script = parse("A [tomato](/təmˈɑːtoʊ/) here")
    chunk = planned("A [tomato](/təmˈɑːtoʊ/) here")[0]
    assert isinstance(chunk, ClauseChunk)
    before, spelled, after = script.unmasked(chunk.text)
    assert (before, after) == ("A ", " here.")
    assert isinstance(spelled, InlinePhonemes)


def test_no_chunk_goes_across_a_pause() -> None:
    assert texts("Hello. [pause:1s] World.") == ["Hello.", "(1.0 s)", "World."]


def test_chinese_has_no_spaces_behind_its_marks() -> None:
    assert texts("你好，世界。再见！") == ["你好,世界.再见!"]


def test_speakers_are_named_where_they_change_and_at_every_chunks_beginning() -> None:
    assert texts("[S1] Hi. [S2] Hello. [S2] Well. [S1] Yes.", dialogue=True) == ["[S1]Hi. [S2]Hello. Well. [S1]Yes."]
    long = "[S1] Hi. [S2] " + "This sentence goes on for a while. " * 8
    chunks = texts(long, dialogue=True)
    assert len(chunks) > 1
    assert all(chunk.startswith("[S2]") for chunk in chunks[1:])


def test_a_dialogue_without_tags_is_the_first_speakers() -> None:
    assert texts("Hello.", dialogue=True) == ["[S1]Hello."]


@each_row("text", ["word " * 300, "哈" * 300, "x" * 1000, "a,b;c:" * 200])
def test_a_sentence_without_end_is_cut_all_the_same(text: str) -> None:
    chunks = planned(text)
    assert len(chunks) > 1
    for chunk in chunks:
        assert isinstance(chunk, ClauseChunk)
        assert sum(piece.weight for piece in chunk.clauses) <= POLICY.maximum


@given(st.text(alphabet=st.sampled_from("ab ,.;!?—…你好5$[]<>S12\n"), max_size=120), st.booleans())
@examples(60)
def test_clauses_run_in_the_order_of_the_text(text: str, dialogue: bool) -> None:
    place = 0
    for item in clauses(parse(text), NormalizationOptions(), None, dialogue=dialogue):
        assert item.span.start >= place or not isinstance(item, Clause)
        place = item.span.start
        assert item.span.end <= len(text)
