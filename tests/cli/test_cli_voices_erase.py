"""`polyvox voices erase`: nothing of a person's voice is left in the data folder."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.cloning import Studio, sample
from polyvox.cli.voices.erasure import erase
from polyvox.config import Settings
from polyvox.errors import ConflictError, NotFoundError
from polyvox.provenance.manifest import AudioLayout, ManifestDraft, SignedManifest
from polyvox.provenance.marks import Marks
from polyvox.provenance.notary import stored_manifests
from polyvox.provenance.signing_key import SigningKey
from polyvox.service.call_context import CallContext
from polyvox.service.jobs.record import JobOutput, JobRecord, JobStatus
from polyvox.service.jobs.store import JobStore
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.consent import calling
from polyvox.service.voices.voice_resolver import voice_tag
from polyvox.types import Utterance
from polyvox.voices.fitted import FittedStyle
from polyvox.voices.records import VoiceDetails, VoiceRecord
from polyvox.voices.references import InlineVoice, RegisteredVoice

pytestmark = pytest.mark.anyio

OWNER = "key_of_somebody"
NAME, OTHER_NAME, KEPT = "Zarathustra", "Zoroaster the Fitted", "Kept Karla"
WORDS = "Thus spoke the tide."


@pytest.fixture
async def settings(tmp_path):
    studio = Studio(tmp_path, speech_cache_bytes=10_000_000, prepared_disk_bytes=10_000_000)
    await studio.speech.start()
    studio.voices.forget_speech = lambda recording: studio.speech.cache.forget(voice_tag(recording))
    with calling("127.0.0.1", "By letter."):
        await registered(studio, NAME, 1)
    style = FittedStyle("tone", "low", np.zeros(256, np.float32), 0.9, 0.8, None, 10, 0)
    await registered(studio, OTHER_NAME, 1, owner=OWNER, fitted=style)
    await registered(studio, KEPT, 2)
    for name in (NAME, KEPT):
        await spoken(studio, name)
    await studio.voices.close()
    await studio.speech.close()
    return studio.speech.settings


async def registered(studio: Studio, name: str, seed: int, owner: str = "", **more: object) -> None:
    details = VoiceDetails.checked(name=name, transcript=WORDS, consent_note=f"Note on {name}.")
    await studio.voices.register(InlineVoice(sample(seed)), details, owner, **more)


async def spoken(studio: Studio, name: str) -> None:
    async def voice():
        return await studio.voices.resolver.resolve(RegisteredVoice(name), "")

    request = SpeechRequest(Utterance("Hello there.", name), resolve_voice=voice)
    async with await studio.speech.open(request, CallContext()) as session:
        async for _ in session:
            pass


def job(folder: Path, voice: str, status: JobStatus) -> str:
    store = JobStore(folder / "jobs")
    number = len(list((folder / "jobs").glob("job_*")))
    record = JobRecord(f"job_{number:032x}", "", "A book", 0.0, 1e9, JobOutput(), voices=(voice,))
    store.add(record, 100).close()
    (store.folder(record.id) / "book.m4b").write_bytes(b"spoken by " + voice.encode())
    store.change(record.id, (JobStatus.CREATING,), lambda it: replace(it, status=status))
    store.close()
    return record.id


def manifest(settings: Settings, voice: str) -> None:
    marks = Marks.of_second("ab" * 16, "tone", 1_795_003_200.0)
    draft = ManifestDraft(marks, voice, AudioLayout("wav", 24_000, 1))
    key = SigningKey.create(settings.data_dir / "provenance")
    stored_manifests(settings).put(SignedManifest.sign(draft.manifest(complete=True), key))


def record_of(folder: Path, name: str) -> tuple[VoiceRecord, bytes]:
    from polyvox.voices.storage.store import FileVoiceStore

    store = FileVoiceStore(folder / "voices")
    try:
        record = store.find("", name)
        assert record is not None
        return record, store.audio_file(record)
    finally:
        store.close()


def traces(folder: Path, needles: dict[str, bytes]) -> list[str]:
    """Every file whose name or content holds one of the needles."""
    return [
        f"{what} in {path.relative_to(folder)}"
        for path in folder.rglob("*")
        for what, needle in needles.items()
        if needle in str(path.relative_to(folder)).encode() or (path.is_file() and needle in path.read_bytes())
    ]


async def test_nothing_of_an_erased_voice_is_left_and_all_of_another(settings, tmp_path):
    done = job(tmp_path, f"{NAME}(2)+low(1)", JobStatus.DONE)
    job(tmp_path, KEPT, JobStatus.DONE)
    record, audio = record_of(tmp_path, NAME)
    manifest(settings, record.id)
    needles = {
        "the name": NAME.encode(),
        "the fitted voice's name": OTHER_NAME.encode(),
        "the id": record.id.encode(),
        "the hash": record.audio_digest.encode(),
        "the end of the hash": record.audio_digest[2:].encode(),
        "the tag": voice_tag(record.audio_digest).encode(),
        "the recording": audio[2_000:2_064],
        "the note": f"Note on {NAME}.".encode(),
    }
    kept, _ = record_of(tmp_path, KEPT)
    found = {trace.partition(" in ")[0] for trace in traces(tmp_path, needles)}
    assert found == set(needles), "the search finds what is there before it is erased"
    of_another = {"hash": kept.audio_digest.encode(), "tag": voice_tag(kept.audio_digest).encode()}
    others = traces(tmp_path, of_another)

    gone = erase(settings, NAME, tmp_path.parent / "zarathustra.zip")

    assert traces(tmp_path, needles) == []
    assert sorted(gone.voices) == sorted((NAME, OTHER_NAME))
    assert (gone.jobs, gone.consents, gone.manifests, gone.whole) == ((done,), 2, 1, True)
    assert gone.speech >= 1
    assert gone.prepared >= 1
    assert traces(tmp_path, of_another) == others != []
    assert (tmp_path.parent / "zarathustra.zip").stat().st_size > 10_000
    with pytest.raises(NotFoundError):
        erase(settings, NAME)


async def test_nothing_is_erased_while_a_job_speaks_in_the_voice(settings, tmp_path):
    running = job(tmp_path, NAME, JobStatus.QUEUED)
    with pytest.raises(ConflictError, match=running):
        erase(settings, NAME)
    assert record_of(tmp_path, NAME)[0].name == NAME


async def test_a_running_server_keeps_the_note_that_tells_it(settings, tmp_path):
    from polyvox.voices.storage.store import FileVoiceStore

    server = FileVoiceStore(tmp_path / "voices")
    try:
        digest = record_of(tmp_path, NAME)[0].audio_digest
        assert not erase(settings, NAME).whole
        assert (digest, "") in server.forgotten(0)[1]
    finally:
        server.close()
