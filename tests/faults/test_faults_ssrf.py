"""Addresses of private hosts, however they are written, named or redirected to, are reached through no door."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.fetching_server import NAMES, PROGRAM, PUBLIC, REACHED, REBOUND
from helpers.forbidden_urls import FORBIDDEN_URLS
from helpers.processes import ProgramProcess
from helpers.trials import watched

DOORS = (
    ("/v1/audio/speech", {"input": "Hi.", "prompt_text": "x"}, "voice"),
    ("/v1/zipvoice/audio/speech", {"input": "Hi.", "prompt_text": "x", "model": "kokoro"}, "voice"),
    ("/v1/voices", {"name": "one", "transcript": "x"}, "audio"),
    ("/synthesize", {"text": "Hi.", "prompt_text": "x"}, "prompt_audio"),
    ("/zero_shot_tts", {"text": "Hi.", "reference_text": "x"}, "reference_audio"),
    ("/v1/audio/dialogue", {}, "turns"),
)
MORE_URLS = {
    "loopback as an IPv4 of three parts": "https://127.0.1/",
    "loopback in octal and hexadecimal": "https://0177.0x0.0.01/",
    "loopback, zeros in front": "https://0000127.0.0.1/",
    "loopback, too large a number": "https://4294967297/",
    "loopback, percent-encoded": "https://%31%32%37.0.0.1/",
    "loopback, circled digits": "https://①②⑦.⓪.⓪.①/",
    "loopback, IPv6 in full": "https://[0:0:0:0:0:0:0:1]/",
    "loopback, IPv6 with zeros": "https://[0000::0001]/",
    "loopback, IPv6 translated": "https://[::ffff:0:7f00:1]/",
    "loopback behind a local NAT64": "https://[64:ff9b:1::7f00:1]/",
    "a private address behind 6to4": "https://[2002:0a00:0001::]/",
    "a name of the machine": "https://localhost.localdomain/",
    "a name below localhost": "https://a.localhost/",
    "a name of the neighbourhood": "https://printer.local/",
    "a name of a cloud": "https://metadata.google.internal/computeMetadata/v1/",
    "user information that looks like a host": "https://public.example@127.0.0.1/",
    "a backslash": "https://public.example\\@127.0.0.1/",
    "a fragment": "https://127.0.0.1#@public.example/",
    "a tab in the host": "https://127.0.0.1\t/",
    "a line end in the host": "https://127.0.0.1\r\nHost: public.example/",
    "a null byte": "https://127.0.0.1\0.public.example/",
    "a dict server": "dict://127.0.0.1:11211/stats",
    "a wide scheme": "ｈｔｔｐｓ://127.0.0.1/",
    "a nested scheme": "url+https://127.0.0.1/",
    "a jar": "jar:https://127.0.0.1!/a",
}
NAMED = {f"the name {name}": f"https://{name}/a.wav" for name in NAMES if name != "public.example"}
DIRECT = FORBIDDEN_URLS | MORE_URLS | NAMED
REDIRECTED = {
    f"redirected to {name}": f"https://public.example/to?{quote(url, safe='')}"
    for name, url in DIRECT.items()
    if len(url) < 500
}
REBINDING = {f"rebound, {number}": f"https://{REBOUND}/a.wav" for number in range(4)} | {
    f"redirected to a rebound name, {number}": f"https://public.example/to?{quote(f'https://{REBOUND}/', safe='')}"
    for number in range(4)
}
URLS = DIRECT | REDIRECTED | REBINDING


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("reached") / "hosts"
    file.touch()
    return file


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, reached: Path) -> Iterator[ProgramProcess]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(REACHED, str(reached))
        folder = tmp_path_factory.mktemp("server")
        with attacked_server(folder, program=PROGRAM, allow_fetch=True, fetch_allow_http=True) as server:
            yield server


def sent(client: httpx.Client, door: int, url: str) -> httpx.Response:
    path, body, field = DOORS[door % len(DOORS)]
    reference: object = f"url+{url}"
    if field == "turns":
        reference = [{"voice": reference, "text": "Hi.", "prompt_text": "x"}]
    return client.post(path, json=body | {field: reference})


@pytest.mark.parametrize("door", range(len(DOORS)), ids=[path for path, *_ in DOORS])
def test_a_public_address_is_fetched_from(door: int, server: ProgramProcess, reached: Path) -> None:
    before = reached.read_text(encoding="utf-8").split()
    with httpx.Client(base_url=server.url, timeout=60) as client:
        assert sent(client, door, f"https://public.example/{door}.wav").status_code == 400
    assert reached.read_text(encoding="utf-8").split() == [*before, PUBLIC]


def test_no_private_address_is_reached(server: ProgramProcess, reached: Path, scale: int) -> None:
    assert len(DIRECT) >= 90
    rounds = 1 if scale == 1 else len(DOORS)
    wrong = {}
    with watched(server) as toll, httpx.Client(base_url=server.url, timeout=60) as client:
        for turn in range(rounds):
            for number, (name, url) in enumerate(URLS.items()):
                answer = sent(client, number + turn, url)
                if not 400 <= answer.status_code < 500:
                    wrong[f"{name} at {DOORS[(number + turn) % len(DOORS)][0]}"] = answer.status_code
        toll.requests = rounds * len(URLS)
    assert wrong == {}
    hosts = reached.read_text(encoding="utf-8").split()
    assert set(hosts) == {PUBLIC}
    assert len(hosts) > len(REDIRECTED) // 2, "the redirects were not followed at all"
    assert "Traceback" not in server.log()
    toll.check()
