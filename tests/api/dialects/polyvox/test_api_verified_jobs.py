"""`/v1/jobs` with `verify`: sentences are heard, those with wrong words spoken again, and the owner is told of both."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from helpers.fakes import ToneEngine
from helpers.job_client import job_client
from helpers.listening import ScriptedRecogniser, listening_with
from helpers.serving import error_of
from polyvox.service.keys.record import Limits
from polyvox.service.keys.store import KeyStore
from polyvox.voices.recognition.recogniser import RATE, Recognition

pytestmark = pytest.mark.anyio

SENTENCES = ("The boats lie on the sand.", "Nobody heard, the sea came back.", "Then it was dark, and all was still.")
TEXT = " ".join(SENTENCES)
IN_CLAUSES = SENTENCES[1].replace(",", "")
WRONG = "Several purple elephants"


class Speaks(ToneEngine):
    """Every utterance has a length of its own, by which a `Mishearing` knows it."""

    def __init__(self) -> None:
        super().__init__(chunks=1)
        self.texts: dict[int, str] = {}

    def _chunk(self, utterance, *position):
        self.chunk_seconds = 0.2 + 0.01 * len(self.texts)
        self.texts[round(self.chunk_seconds * RATE)] = utterance.text
        return super()._chunk(utterance, *position)


@dataclass
class Mishearing(ScriptedRecogniser):
    """Hears what was said, but for sentences that are planted; the one in clauses is heard right."""

    engine: Speaks = field(default_factory=Speaks)
    planted: tuple[str, ...] = ()

    def recognise(self, window, task, check):
        text = self.engine.texts.get(len(window), IN_CLAUSES)
        return Recognition(WRONG if text in self.planted else text, "en")


def mishearing(client, *planted: str) -> None:
    listening_with(client.speech, english=Mishearing(engine=client.engine, planted=planted))


async def test_a_verified_job_says_what_was_respoken_and_what_remains(tmp_path: Path):
    async with job_client(tmp_path, Speaks()) as client:
        mishearing(client, SENTENCES[0], SENTENCES[1])
        job = await client.submitted(TEXT, verify=True, output=["mp3"])
        assert job["check"] == {"checked": 0, "respoken": 0, "remaining": 0, "unchecked": 0}
        done = await client.rested(job["id"])
        assert done["status"] == "done"
        assert done["check"] == {"checked": 3, "respoken": 1, "remaining": 1, "unchecked": 0}
        assert [file["name"] for file in done["files"]] == ["book.mp3", "book.check.json"]
        report = (await client.http.get(done["files"][1]["url"])).json()
        assert [(one["sentence"], one["takes"], one["remaining"]) for one in report["sentences"]] == [
            (1, 1, True),
            (2, 2, False),
        ]
        assert report["sentences"][0]["heard"] == WRONG
        assert report["wrong_words"] < report["wrong_words_of_first_takes"]
        metrics = (await client.http.get("/metrics")).text
        counts = {"checked": 3, "respoken": 1, "remaining": 1, "unchecked": 0}
        for event, count in counts.items():
            assert f'polyvox_job_checks_total{{event="{event}"}} {count}.0' in metrics


async def test_a_job_is_verified_as_the_setting_says_unless_it_says_otherwise(tmp_path: Path):
    async with job_client(tmp_path, Speaks(), verify_jobs=True) as client:
        mishearing(client)
        asked = [await client.submitted(SENTENCES[0], output=["mp3"], **fields) for fields in ({}, {"verify": False})]
        done = [await client.rested(job["id"]) for job in asked]
        assert [job["check"] and job["check"]["checked"] for job in done] == [1, None]
        assert [len(job["files"]) for job in done] == [2, 1]


async def test_a_language_that_no_recogniser_hears_is_refused_with_the_command_that_mends_it(tmp_path: Path):
    async with job_client(tmp_path / "jobs", Speaks(), models_dir=tmp_path) as client:
        answer = await client.http.post("/v1/jobs", json={"text": TEXT, "verify": True})
        assert answer.status_code == 501
        assert "polyvox pull" in error_of(answer)["message"]
        assert "'verify'" in error_of(answer)["message"]
        assert (await client.http.get("/v1/jobs")).json()["jobs"] == []


async def test_a_respoken_sentence_is_charged_once(tmp_path: Path):
    keys = tmp_path / "keys.sqlite"
    secret = KeyStore(keys).create("poor", ["speak"], Limits(characters_a_day=len(SENTENCES[1]))).secret
    headers = {"Authorization": f"Bearer {secret}"}
    async with job_client(tmp_path / "jobs", Speaks(), keys_file=keys) as client:
        mishearing(client, SENTENCES[1])
        job = await client.submitted(SENTENCES[1], verify=True, output=["mp3"], headers=headers)
        done = await client.rested(job["id"], headers=headers)
        assert (done["status"], done["check"]["respoken"], done["check"]["remaining"]) == ("done", 1, 0)
        used = client.accounts.ledger.today("poor")
        assert used.characters == len(SENTENCES[1])
        assert used.audio_seconds == pytest.approx(0.2, abs=0.01)
