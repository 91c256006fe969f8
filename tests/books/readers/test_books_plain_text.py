"""Plain text and Markdown and HTML as manuscripts."""

import pytest

from helpers.tables import each_row
from polyvox.books.manuscript import ManuscriptLimits
from polyvox.books.readers.chapter_headings import is_heading
from polyvox.books.readers.reading import read_manuscript
from polyvox.errors import ManuscriptError


def read(text, name="book.txt", **limits):
    return read_manuscript(text.encode(), name, ManuscriptLimits(**limits))


def titles(manuscript):
    return [chapter.title for chapter in manuscript.chapters]


@each_row(
    "line",
    [
        "Chapter 1",
        "CHAPTER ONE",
        "Chapter Twenty-One",
        "CHAPTER XIV.",
        "Chapter 3: The Return",
        "Chapter 4 — A Storm",
        "Chapter 5 The Long Way Home",
        "Bab 1",
        "BAB DUA",
        "第一章",
        "第十二回 风雪山神庙",
        "第3章：開始",
        "Prologue",
        "Epilogue.",
        "Capítulo 2",
        "Chapitre IV",
        "Part Two",
        "The First Part",
        "अध्याय ३",
        "序章",
    ],
)
def test_a_line_that_begins_a_chapter_is_known(line):
    assert is_heading(line)


@each_row(
    "line",
    [
        "Chapter 1 was the dullest of them all.",
        "Part of the plan was to leave.",
        "Book a table for two.",
        "I",
        "He read chapter 2 again",
        "第一章讲的是一个老人的故事，很长。",
        "Chapter and verse",
        "",
        "Chapter 1 " + "x" * 100,
    ],
)
def test_a_sentence_is_no_heading(line):
    assert not is_heading(line)


def test_chapters_of_a_wrapped_text_are_found_and_its_lines_joined():
    book = read(
        "The Tide\n\nby Nobody\n\nCHAPTER I.\nDown the Shore\n\n"
        "It was a bright cold day in April, and the clocks were striking thir-\nteen. "
        "Winston had come home, his chin nuzzled into his breast, in an\neffort to escape the wind.\n"
        "It was late.\n\n* * *\n\nThen he slept.\n\n\nCHAPTER II.\nUp the Hill\n\nHe woke.\n"
    )
    assert (book.title, book.author) == ("The Tide", "Nobody")
    assert titles(book) == ["CHAPTER I. Down the Shore", "CHAPTER II. Up the Hill"]
    assert book.chapters[0].paragraphs == (
        "It was a bright cold day in April, and the clocks were striking thir-teen. Winston had come home, his chin "
        "nuzzled into his breast, in an effort to escape the wind.",
        "It was late.",
        "* * *",
        "Then he slept.",
    )


def test_chinese_without_empty_lines_is_read_line_by_line():
    book = read("第一章 开始\n　　天亮了。\n　　他出门去，\n走了很远。\n第二章 结束\n　　天黑了。\n")
    assert titles(book) == ["第一章 开始", "第二章 结束"]
    assert book.chapters[0].paragraphs == ("天亮了。", "他出门去，走了很远。")


def test_numbers_alone_are_chapters_when_they_count_up():
    book = read("I\n\nThe first.\n\nII\n\nThe second.\n\nIII\n\nThe third, with I in it.\n")
    assert titles(book) == ["I", "II", "III"]
    assert titles(read("7\n\nSeven is a number.\n\n3\n\nSo is three.\n")) == [""]


def test_a_list_of_the_chapters_is_no_chapter():
    book = read("Chapter 1\n\nChapter 2\n\nChapter 3\n\nChapter 1\n\nOne.\n\nChapter 2\n\nTwo.\n")
    assert titles(book) == ["Chapter 1", "Chapter 2"]


def test_a_text_without_headings_is_one_chapter():
    book = read("Just a note.\n\nWith two paragraphs.")
    assert titles(book) == [""]
    assert book.chapters[0].paragraphs == ("Just a note.", "With two paragraphs.")


def test_the_frame_of_project_gutenberg_is_left_out():
    book = read(
        "The Project Gutenberg eBook of Tides\n\nTitle: Tides\nAuthor: Ann Author\nLanguage: English\n\n"
        "*** START OF THE PROJECT GUTENBERG EBOOK TIDES ***\n\nChapter 1\n\nWaves came.\n\n"
        "*** END OF THE PROJECT GUTENBERG EBOOK TIDES ***\n\nDonations are welcome.\n"
    )
    assert (book.title, book.author, book.language) == ("Tides", "Ann Author", "en")
    assert [chapter.paragraphs for chapter in book.chapters] == [("Waves came.",)]


MARKDOWN = """---
title: "The Tide"
author: Ann Author
lang: en-GB
---

# Part One

## Chapter 1 [voice:bert]

It *was* a **bright** [day](http://x.example/a), with
a [pause:1s] pause[^1]. [voice:anna] "Hello," she said.

[^1]: A note.

```python
print("never read")
```

- first
- second

| a | b |
|---|---|
| 1 | 2 |

---

## Chapter 2
Short.

Chapter 3
---------

The end. <!-- hidden -->
"""


def test_markdown_gives_chapters_voices_and_words():
    book = read(MARKDOWN, "book.md")
    assert (book.title, book.author, book.language) == ("The Tide", "Ann Author", "en-GB")
    assert titles(book) == ["Chapter 1", "Chapter 2", "Chapter 3"]
    assert [chapter.voice for chapter in book.chapters] == ["bert", None, None]
    assert book.chapters[0].paragraphs == (
        'It was a bright day, with a [pause:1s] pause. [voice:anna] "Hello," she said.',
        "first",
        "second",
        "a, b",
        "1, 2",
        "* * *",
    )
    assert book.chapters[2].paragraphs == ("The end.",)


def test_parts_without_text_go_before_their_first_chapter():
    book = read("# One\n## A\nx\n## B\ny\n# Two\n## C\nz\n", "book.md")
    assert titles(book) == ["One. A", "B", "Two. C"]


HTML = """<!DOCTYPE html><html lang="fr"><head><title>Page</title><style>p{}</style></head><body>
<nav><a href="#a">Contents</a></nav><h1>The Book</h1>
<h2 id=a>Chapter 1<br>The Start</h2><p>First<sup><a href="#n1">1</a></sup> paragraph, the 1<sup>st</sup>.
<p>Second &amp; last.<p hidden>secret</p>
<ul><li>one<li>two</ul><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<hr><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby><script>var x = "<p>no</p>"</script>
<h2>Chapter 2</h2>line one<br><br>line two <a href="#b">[2]</a>
<aside epub:type="footnote">A note.</aside></body></html>"""


def test_html_is_read_as_a_reader_sees_it():
    book = read(HTML, "book.html")
    assert (book.title, book.language) == ("The Book", "fr")
    assert titles(book) == ["Chapter 1. The Start", "Chapter 2"]
    assert book.chapters[0].paragraphs == (
        "First paragraph, the 1st.", "Second & last.", "one", "two", "a, b", "1, 2", "* * *", "漢",
    )  # fmt: skip
    assert book.chapters[1].paragraphs == ("line one", "line two")


@each_row(
    ("data", "name", "said"),
    [
        (b"", "book.txt", "no text"),
        (b"* * *", "book.txt", "no text"),
        (b"\xff\x00\x81", "book.txt", "UTF-8"),
        (b"a\x00b", "book.txt", "UTF-8"),
        (b"words", "book.pdf", "no manuscript"),
        (b"PK\x03\x04", "book.txt", "no manuscript"),
        (b"<div>" * 300 + b"x", "book.html", "nests"),
        (b"x " * 600, "book.txt", "larger"),
        (b"# a\nx\n" * 20, "book.md", "chapters"),
        (b"word " * 150, "book.html", "characters"),
    ],
)
def test_what_is_no_manuscript_is_refused_with_a_reason(data, name, said):
    limits = ManuscriptLimits(file_bytes=4_000 if name == "book.html" else 1_000, chapters=10, text_chars=500)
    with pytest.raises(ManuscriptError, match=said):
        read_manuscript(data, name, limits)
