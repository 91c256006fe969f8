"""Markup that cannot be obeyed is refused before the first byte, wherever in a text or a book it stands."""

from collections.abc import Iterator

import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess

pytestmark = pytest.mark.long
LATE = "A first passage.\n[rate:1.5] A second one.\n[rate:1.0] And [pause:61s] a third."
PLACE = "line 3, column 16"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    with attacked_server(tmp_path_factory.mktemp("server"), allow_voice_tags=True) as server:
        yield server


def test_a_pause_too_long_in_the_last_passage_is_refused_with_its_line_and_column(server: ProgramProcess) -> None:
    bodies = ({"stream_format": "audio"}, {"stream_format": "sse"}, {"stream": False})
    for more in bodies:
        answer = httpx.post(f"{server.url}/v1/audio/speech", json={"input": LATE, "response_format": "pcm", **more})
        assert answer.status_code == 400, more
        error = answer.json()["error"]
        assert (error["code"], error["param"]) == ("invalid_markup", "input")
        assert PLACE in error["message"]
    assert "Traceback" not in server.log()


def test_a_job_with_such_a_pause_is_refused_at_submission_and_leaves_nothing(server: ProgramProcess) -> None:
    book = "One. " * 2_000 + "\n\nAnd [pause:61s] the end."
    answer = httpx.post(f"{server.url}/v1/jobs", json={"text": book})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["code"], error["param"]) == ("invalid_markup", "text")
    assert "Sentence 2001" in error["message"]
    assert "line 3, column 5" in error["message"]
    assert httpx.get(f"{server.url}/v1/jobs").json()["jobs"] == []
