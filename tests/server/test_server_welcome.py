"""The words that a server begins with."""

import shlex
from pathlib import Path

from polyvox.config import Settings
from polyvox.server.welcome import welcome

URL = "http://127.0.0.1:8880"


def test_programs_read_one_line_with_every_address(tmp_path: Path) -> None:
    others = {"gRPC": "127.0.0.1:50000", "Wyoming": "tcp://127.0.0.1:10200"}
    assert welcome(URL, others, Settings(data_dir=tmp_path), on_terminal=False) == (
        f"Polyvox speaks at {URL}, over gRPC at 127.0.0.1:50000, "
        "over Wyoming at tcp://127.0.0.1:10200 (Ctrl-C stops it)."
    )


def test_people_get_a_short_block_with_a_command_to_try(tmp_path: Path) -> None:
    block = welcome(URL, {"gRPC": "127.0.0.1:50000"}, Settings(data_dir=tmp_path), on_terminal=True)
    assert len(block.splitlines()) <= 12
    for words in (f"{URL}/ ", "/docs", "127.0.0.1:50000", "Ctrl-C"):
        assert words in block
    command = shlex.split(block.splitlines()[-1])
    assert command[:2] == ["curl", f"{URL}/v1/audio/speech"]
    assert command[command.index("-d") + 1] == '{"input": "Hello from Polyvox."}'


def test_both_say_how_many_workers_there_are(tmp_path: Path) -> None:
    settings = Settings(workers=4, data_dir=tmp_path)
    assert welcome(URL, {}, settings, on_terminal=False) == f"Polyvox speaks at {URL} with 4 workers (Ctrl-C stops it)."
    assert "Workers  4, and a process with the models" in welcome(URL, {}, settings, on_terminal=True)


def test_the_block_names_no_page_that_is_off_and_no_address_that_browsers_refuse(tmp_path: Path) -> None:
    block = welcome("http://0.0.0.0:8880", {}, Settings(studio=False, data_dir=tmp_path), on_terminal=True)
    assert "Studio" not in block
    assert "0.0.0.0" not in block


def test_the_command_to_try_has_a_place_for_the_key_where_one_is_asked_for(tmp_path: Path) -> None:
    block = welcome(URL, {}, Settings(api_keys=["secret"], data_dir=tmp_path), on_terminal=True)
    assert 'Bearer $POLYVOX_KEY"' in block
    assert "secret" not in block
