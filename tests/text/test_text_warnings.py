"""Warnings of a request: counted, bounded, and safe in a header."""

from polyvox.text.warnings import DROPPED, MAX_ITEM_CHARS, MAX_ITEMS, SPOKEN, Warnings, one_line


def test_markup_is_counted_by_what_happened_to_it():
    warnings = Warnings(["The model cannot."])
    warnings.add("The model cannot.")
    for markup in ("<b>", "</b>", "<b>"):
        warnings.count(DROPPED, markup)
    warnings.count(SPOKEN, "[sic]")
    assert warnings.sentences == ("The model cannot.", "dropped-markup: <b> x2, </b>", "spoken-as-words: [sic]")
    assert one_line(warnings.sentences) == "; ".join(warnings.sentences)


def test_a_hostile_text_makes_no_long_header_and_no_second_one():
    warnings = Warnings()
    for number in range(10_000):
        warnings.count(DROPPED, f"<tag{number}\r\nX-Evil: 1 \u202e\x00é" + "y" * 500)
    line = one_line(warnings.sentences)
    assert len(line) < (MAX_ITEMS + 1) * (MAX_ITEM_CHARS + 4) + 40
    assert line.isascii()
    assert line.isprintable()
    assert line.endswith(f"and {10_000 - MAX_ITEMS} more")


def test_nothing_to_warn_of_is_falsy():
    assert not Warnings()
    assert Warnings().sentences == ()
