"""The book of the self-check: sentences of all kinds, some of them broken on purpose."""

from benchmarks.self_check import _FAULTS, book, broken


def test_the_book_has_300_different_sentences_and_its_beginning_has_all_kinds():
    whole = book(300, 0)
    assert len({one.text for one in whole}) == 300
    assert {one.kind for one in whole[:24]} == {"plain", "name", "shortened", "twister"}
    assert not any(one.fault for one in whole)


def test_every_fault_is_planted_in_its_turn_and_changes_the_words():
    planted = [one for one in book(60, 4) if one.fault]
    assert [one.fault for one in planted[:4]] == list(_FAULTS)
    assert all(broken(one.text, one.fault) != one.text for one in planted)
    assert broken("The boats lie on the sand.", "left out") == "The lie on the sand."
    assert broken("The boats lie on the sand.", "said twice") == "The boats lie on the sand. on the sand."
