"""Where a text may be cut."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.linear_time import grows_linearly
from helpers.tables import each_row
from polyvox.text.segmentation.split import clauses, sentences
from polyvox.text.tracked import TrackedText


def cut(text: str) -> list[str]:
    return [part.text.strip() for part in sentences(TrackedText.of(text))]


def cut_clauses(text: str) -> list[str]:
    return [part.text.strip() for part in clauses(TrackedText.of(text))]


@each_row(
    "parts",
    [
        ["One sentence."],
        ["No mark at the end"],
        ["One.", "Two.", "Three."],
        ["Really?", "Yes!", "No…", "Well."],
        ["What?!", "Never!!"],
        ["all lower case. ", "it ends all the same."],
        ["Dr. Smith met Mr. Jones and Mrs. Lee."],
        ["It is 3.14 or so.", "Good."],
        ["He lives in the U.S. Army base.", "He likes it."],
        ["He lives in the U.S.", "He likes it."],
        ["J. R. R. Tolkien wrote it.", "C. S. Lewis did not."],
        ["George W. Bush spoke."],
        ["It costs approx. $5 incl. £1 of tax.", "Good."],
        ["VAT no. GB 123, ref. AB-12.", "Turn onto W. 42nd St."],
        ["Go 12 mi. S on it.", "I said no.", "Then I left."],
        ["We took vitamin C.", "Apples have it."],
        ["Plan B.", "The end."],
        ["Fruit, e.g. apples, is good.", "Yes."],
        ["Apples, pears, etc. are fruit."],
        ["Apples, pears, etc.", "The rest is not."],
        ["He came at 5 p.m. on Tuesday."],
        ["He came at 5 p.m.", "It was late."],
        ["See No. 5 and Fig. 3 of Vol. 2."],
        ["Is it no. 1?", "No.", "It is not."],
        ["Acme Inc. was sold.", "Acme Ltd.", "The rest was not."],
        ["He said “Stop.”", "Then he left."],
        ['"Stop!" he said.', '"Why?"', '"Because."'],
        ['"Why?" she asked.'],
        ["(It was late.)", "They left."],
        ["Well… maybe not.", "Well…", "Maybe."],
        ["Visit example.com/a.b?c=d.", "It is good."],
        ["Version 2.1.3 is out.", "Get it."],
        ["1. First of all.", "Then."],
        ["In Jan. 2026 it rained.", "Then it did not."],
        ["He lives on Main St. in town.", "Come."],
        ["Vive en EE. UU. desde 2010.", "Le gusta."],
        ["Véase la pág. 12, p. ej. la tabla.", "Es larga."],
        ["En el 44 a. C. murió César.", "Fue en marzo."],
        ["Le relevé de sept./2024, né le 12 sept. à Lyon.", "Ils sont sept.", "Bien."],
        ["See vol. III and pp. iv to xi.", "Yes."],
        ["Add 1 qt. stock and 5 oz. flour.", "Stir."],
        ["No. siri 4455 rosak.", "Hubungi kami."],
        ["Kes No. WA-22 selesai.", "No.", "It is not."],
        ["Pekeliling Bil. 5 Tahun 2020.", "Penduduk Kg. Pasir pindah."],
        ["Buku, pen dll. untuk sekolah.", "Buku, pen dll.", "Saya beli."],
        ["dr. azlan tak kerja.", "Jumpa mr. lim esok."],
        ["कीमत रु. 250 है।", "डॉ. शर्मा आए।"],
        ["你好。", "我很好！", "你呢？"],
        ["共３．１４米。", "好。"],
        ["他说：“你好。”", "然后走了。"],
        ["今日は。", "元気ですか？"],
        ["यह अच्छा है।", "ठीक है।"],
        ["هل هذا صحيح؟", "نعم."],
    ],
)
def test_sentences(parts: list[str]) -> None:
    parts = [part.strip() for part in parts]
    joiner = "" if "\u3000" <= parts[0][0] <= "\u9fff" else " "
    assert cut(joiner.join(parts)) == parts


@each_row(
    ("text", "parts"),
    [
        ("A heading\nSome text", ["A heading", "Some text"]),
        ("One.\n\nTwo", ["One.", "Two"]),
        ("\n\n One. \n ", ["One."]),
        ("Stop.\ue000 Go on.", ["Stop.", "\ue000 Go on."]),
        ("Wait \ue000 here.", ["Wait \ue000 here."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_line_ends_and_inserts(text: str, parts: list[str]) -> None:
    assert cut(text) == parts


@each_row(
    ("text", "parts"),
    [
        ("When it rained, we left.", ["When it rained,", "we left."]),
        ("One; two: three.", ["One;", "two:", "three."]),
        ("It was — so to say — late.", ["It was —", "so to say —", "late."]),
        ("It was—so to say—late.", ["It was—", "so to say—", "late."]),
        ("It was – so to say – late.", ["It was –", "so to say –", "late."]),
        ("1,000 at 12:30 and a well-known 5–6.", ["1,000 at 12:30 and a well-known 5–6."]),
        ("“Well,” he said, “no.”", ["“Well,”", "he said,", "“no.”"]),
        ("Well… no.", ["Well…", "no."]),
        ("下雨了，我们走了；他说：好、好。", ["下雨了，", "我们走了；", "他说：", "好、", "好。"]),
        ("no marks at all here", ["no marks at all here"]),
        ("", []),
    ],
)
def test_clauses(text: str, parts: list[str]) -> None:
    assert cut_clauses(text) == parts


PIECES = [*" .,;:!?…—–-'\"“”()\n。，！？：；、", "Dr", "St", "U.S", "A", "He", "he", "etc", "5", "No", "\ue000", "你"]
anything = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))


@pytest.mark.long
@pytest.mark.parametrize("cutter", [sentences, clauses])
@given(raw=anything)
@examples(200)
def test_the_parts_put_together_are_the_text(cutter, raw: str) -> None:
    text = TrackedText.of(raw)
    parts = cutter(text)
    assert all(part.text.strip() for part in parts)
    if raw.strip():
        assert "".join(part.text for part in parts) == raw
        assert tuple(start for part in parts for start in part.starts) == text.starts
        assert tuple(end for part in parts for end in part.ends) == text.ends
    else:
        assert parts == []


@pytest.mark.long
@each_row("cutter", [sentences, clauses])
@each_row("piece", ["\n", "\n ", " ", ".", ". ", "A. ", "a.", ",", "…", "—", '"', "Dr. ", "。", ".”"])
def test_time_grows_with_the_length_alone(cutter, piece: str) -> None:
    def seconds(size: int) -> float:
        text = TrackedText.of((piece * size)[:size])
        start = time.thread_time()
        cutter(text)
        return time.thread_time() - start

    assert grows_linearly(seconds, 10_000, 20_000)
