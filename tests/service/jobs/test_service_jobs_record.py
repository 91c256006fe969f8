"""Names that the files of a job are saved by."""

from polyvox.service.jobs.record import JobFile


def saved(title: str, name: str = "book.m4b") -> str:
    return JobFile(name, "audio/mp4", 3, "book", None, "d" * 64).saved_name(title)


def test_files_are_named_by_the_title_without_what_a_file_system_refuses() -> None:
    names = {
        "Tide": "Tide.m4b",
        "Don't panic! (Part 2)": "Don't panic! (Part 2).m4b",
        "../../etc/passwd": "etc passwd.m4b",
        "a\r\nSet-Cookie: b\0": "a Set-Cookie b.m4b",
        ".hidden": "hidden.m4b",
        "\\1 \\g<0>": "1 g 0.m4b",
        "तट की किताब": "तट की किताब.m4b",
        "海辺": "海辺.m4b",
        "...": "book.m4b",
        "": "book.m4b",
        "x" * 500: f"{'x' * 80}.m4b",
    }
    for title, name in names.items():
        assert saved(title) == name
    assert saved("Tide", "chapter-003.mp3") == "Tide-003.mp3"
    assert saved("Tide", "book.words.vtt") == "Tide.words.vtt"
