"""The voice service, on an engine that clones and an intake without networks."""

import asyncio
import shutil
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from helpers.cloning import CloneEngine, Studio, opened, sample
from helpers.fakes import ToneEngine
from polyvox.errors import (
    AudioDecodeError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    PolyvoxError,
    PromptError,
    UnavailableError,
    UnknownVoiceError,
)
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.prompts import CacheKind
from polyvox.service.voices.voices import Transcribe
from polyvox.types import Utterance
from polyvox.voices.records import SHARED_OWNER, Transcription, VoiceDetails, VoiceQuery
from polyvox.voices.references import InlineVoice, RegisteredVoice, UploadedVoice, UrlVoice
from polyvox.voices.storage.repair import repair

pytestmark = pytest.mark.anyio

NO_VOICE = "voice_" + "0" * 32


def details(name="Anna", transcript="The tide is out.", **fields):
    return VoiceDetails.checked(name=name, transcript=transcript, **fields)


async def register(studio, name="Anna", seed=1, owner=SHARED_OWNER, transcript="The tide is out.", **options):
    return (await studio.voices.register(InlineVoice(sample(seed)), details(name, transcript), owner, **options)).record


async def prepared(studio, reference, owner=SHARED_OWNER, **options):
    clone = await studio.voices.resolver.resolve(reference, owner, **options)
    assert clone is not None
    return await clone.prepare(studio.engine)


async def until(condition):
    for _ in range(500):
        if await condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen in time")


async def test_a_voice_is_registered_once_and_spoken_with(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        record = await register(studio)
        resolve_voice = partial(studio.voices.resolver.resolve, RegisteredVoice(record.id), SHARED_OWNER)
        session = await studio.speech.open(
            SpeechRequest(Utterance("Hello.", "x"), resolve_voice=resolve_voice), LOCAL_CALL
        )
        async with session:
            chunks = [chunk async for chunk in session]
        assert len(chunks) == 3
        assert studio.engine.heard[0].prepared.engine == "tone"
        assert studio.engine.heard[0].voice == record.id
        prompt = studio.engine.prepared[0]
        assert (prompt.transcript, prompt.sample_rate) == ("The tide is out.", 24_000)
        assert (await studio.voices.get(record.id, SHARED_OWNER)).used > 0


async def test_voices_outlive_the_server(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        record = await register(studio)
    async with opened(Studio(tmp_path)) as studio:
        assert await studio.voices.get(record.id, SHARED_OWNER) == record


async def test_no_folder_is_created_before_the_first_voice(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        assert (await studio.voices.page(VoiceQuery(), SHARED_OWNER)).voices == ()
        with pytest.raises(UnknownVoiceError):
            await studio.voices.resolver.resolve(RegisteredVoice("Anna"), SHARED_OWNER)
        with pytest.raises(NotFoundError):
            await studio.voices.get(NO_VOICE, SHARED_OWNER)
        await studio.voices.tidy()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
async def test_the_second_request_costs_less_than_a_hundredth_of_the_first(tmp_path):
    async with opened(Studio(tmp_path, CloneEngine(burn=0.5))) as studio:
        record = await register(studio)
        for reference in (RegisteredVoice(record.id), InlineVoice(sample(2)), UrlVoice("https://host/3")):
            costs = []
            for _ in range(6):
                began = time.perf_counter()
                await prepared(studio, reference, transcript="Words.")
                costs.append(time.perf_counter() - began)
            assert min(costs[1:]) < 0.01 * costs[0]
        assert len(studio.engine.prepared) == 3
        assert studio.fetcher.fetched == ["https://host/3"]
        assert studio.events("prepared", "hit") == 15
        assert studio.events("prepared", "miss") == 3


async def test_requests_at_the_same_time_prepare_once(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        record = await register(studio)
        voices = await asyncio.gather(*(prepared(studio, RegisteredVoice(record.id)) for _ in range(20)))
        assert len(studio.engine.prepared) == 1
        assert all(voice is voices[0] for voice in voices)
        await asyncio.gather(*(prepared(studio, InlineVoice(sample(9))) for _ in range(20)))
        assert (studio.intake.taken, studio.transcriber.heard, len(studio.engine.prepared)) == (2, 1, 2)


async def test_the_same_recording_is_prepared_once_however_it_comes(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        record = await register(studio, seed=4)
        await prepared(studio, RegisteredVoice(record.id))
        await prepared(studio, InlineVoice(sample(4)), transcript="The tide is out.")
        await prepared(studio, UrlVoice("https://host/4"), transcript="The tide is out.")
        assert len(studio.engine.prepared) == 1
        await prepared(studio, InlineVoice(sample(4)), transcript="Other words.")
        assert len(studio.engine.prepared) == 2


async def test_prepared_voices_on_disk_serve_the_next_process(tmp_path):
    async with opened(Studio(tmp_path, prepared_disk_bytes=1_000_000)) as studio:
        record = await register(studio)
        first = await prepared(studio, RegisteredVoice(record.id))
    async with opened(Studio(tmp_path, prepared_disk_bytes=1_000_000)) as studio:
        second = await prepared(studio, RegisteredVoice(record.id))
        assert studio.engine.prepared == []
        assert np.array_equal(first.arrays["pitch"], second.arrays["pitch"])
        assert studio.events("prepared_disk", "hit") == 1


async def test_a_failed_preparation_is_tried_again(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        with pytest.raises(AudioDecodeError):
            await prepared(studio, InlineVoice(b"nonsense"))
        studio.transcriber.error = UnavailableError("No ears.")
        with pytest.raises(UnavailableError):
            await prepared(studio, InlineVoice(sample(1)))
        studio.transcriber.error = None
        await prepared(studio, InlineVoice(sample(1)))


async def test_a_caller_who_leaves_does_not_stop_the_others(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        clone = await studio.voices.resolver.resolve(InlineVoice(sample(1)), SHARED_OWNER, transcript="Words.")
        first = asyncio.create_task(clone.prepare(studio.engine))
        second = asyncio.create_task(clone.prepare(studio.engine))
        await asyncio.sleep(0)
        first.cancel()
        assert (await second).engine == "tone"
        assert first.cancelled()


async def test_a_name_is_its_owners(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        anna = await register(studio, owner="key a")
        other = await register(studio, seed=2, owner="key b")
        shared = await register(studio, seed=3)
        assert (await studio.voices.find("anna", "key a")).id == anna.id
        assert (await studio.voices.find("ANNA", "key b")).id == other.id
        assert (await studio.voices.find("Anna", "key c")).id == shared.id
        with pytest.raises(ConflictError):
            await register(studio, seed=4, owner="key a")
        assert studio.intake.taken == 3  # a taken name is refused before the recording is read


async def test_voices_of_another_key_are_invisible(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        mine = await register(studio, owner="mine")
        with pytest.raises(NotFoundError):
            await studio.voices.get(mine.id, "other")
        for refused in (studio.voices.delete, studio.voices.preview):
            with pytest.raises(NotFoundError):
                await refused(mine.id, "other")
        with pytest.raises(NotFoundError):
            await studio.voices.change(mine.id, details("Berta"), "other")
        with pytest.raises(UnknownVoiceError):
            await studio.voices.resolver.resolve(RegisteredVoice(mine.id), "other")
        assert (await studio.voices.page(VoiceQuery(owners=("mine",)), "other")).voices == ()


async def test_everyone_may_use_shared_voices_and_no_key_may_change_them(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        shared = await register(studio)
        assert (await studio.voices.get(shared.id, "key")).id == shared.id
        assert await studio.voices.resolver.resolve(RegisteredVoice("Anna"), "key") is not None
        for refused in (studio.voices.delete, studio.voices.preview):
            with pytest.raises(ForbiddenError):
                await refused(shared.id, "key")
        await studio.voices.delete(shared.id, SHARED_OWNER)


async def test_an_engines_own_voice_goes_before_a_registered_one(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        await register(studio, "low")
        assert await studio.voices.resolver.resolve(RegisteredVoice("low"), SHARED_OWNER) is None
        with pytest.raises(UnknownVoiceError, match="use one of low, high"):
            await studio.voices.resolver.resolve(RegisteredVoice("nobody"), SHARED_OWNER)


async def test_a_model_that_cannot_clone_says_so(tmp_path):
    async with opened(Studio(tmp_path, ToneEngine())) as studio:
        record = await register(studio)
        for reference in (
            RegisteredVoice(record.id),
            RegisteredVoice("anna"),
            InlineVoice(b"x"),
            UrlVoice("https://x"),
        ):
            with pytest.raises(InvalidRequestError, match="cannot clone voices") as refused:
                await studio.voices.resolver.resolve(reference, SHARED_OWNER)
            assert refused.value.field == "model"
        assert studio.intake.taken == 1


async def test_voices_that_cannot_be_resolved_are_refused_before_any_work(tmp_path):
    async with opened(Studio(tmp_path, allow_inline=False)) as studio:
        with pytest.raises(ForbiddenError):
            await studio.voices.resolver.resolve(InlineVoice(sample(1)), SHARED_OWNER)
        with pytest.raises(InvalidRequestError, match="uploaded"):
            await studio.voices.resolver.resolve(UploadedVoice("file"), SHARED_OWNER)
        with pytest.raises(UnknownVoiceError):
            await studio.voices.resolver.resolve(RegisteredVoice(NO_VOICE), SHARED_OWNER)
        with pytest.raises(InvalidRequestError, match="prompt_text"):
            await studio.voices.resolver.resolve(UrlVoice("https://host/1"), SHARED_OWNER, transcript="a\0b")
        assert studio.intake.taken == 0


async def test_deleting_reports_what_was_deleted_and_leaves_nothing(tmp_path):
    async with opened(Studio(tmp_path, prepared_disk_bytes=1_000_000)) as studio:
        record = await register(studio, seed=5)
        await prepared(studio, RegisteredVoice(record.id))
        await prepared(studio, InlineVoice(sample(5)))
        await prepared(studio, UrlVoice("https://host/5"), transcript="Words.")
        deleted = await studio.voices.delete(record.id, SHARED_OWNER)
        assert deleted.audio is True
        assert deleted.cached == 3  # inline, fetched, transcript
        assert deleted.prepared == 6  # three transcripts, in memory and on disk
        assert [path for path in tmp_path.rglob("*") if path.suffix in (".wav", ".npz")] == []
        with pytest.raises(NotFoundError):
            await studio.voices.delete(record.id, SHARED_OWNER)


async def test_deleting_one_of_two_with_the_same_recording_keeps_it(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        one, other = await register(studio, "one"), await register(studio, "other")
        deleted = await studio.voices.delete(one.id, SHARED_OWNER)
        assert (deleted.audio, deleted.cached, deleted.prepared) == (False, 0, 0)
        assert await studio.voices.preview(other.id, SHARED_OWNER)


async def test_what_is_being_prepared_while_its_voice_is_deleted_is_not_kept(tmp_path):
    async with opened(Studio(tmp_path, prepared_disk_bytes=1_000_000)) as studio:
        record = await register(studio)
        clone = await studio.voices.resolver.resolve(RegisteredVoice(record.id), SHARED_OWNER)
        ready, go_on = asyncio.Event(), asyncio.Event()
        prepare = studio.engine.prepare

        async def slow(prompt):
            ready.set()
            await go_on.wait()
            return await prepare(prompt)

        studio.engine.prepare = slow
        preparing = asyncio.create_task(clone.prepare(studio.engine))
        await ready.wait()
        await studio.voices.delete(record.id, SHARED_OWNER)
        go_on.set()
        assert (await preparing).engine == "tone"
        assert await studio.voices.clear(CacheKind.PREPARED, owner=SHARED_OWNER) == {CacheKind.PREPARED: 0}


async def test_another_process_drops_what_was_deleted(tmp_path):
    async with opened(Studio(tmp_path)) as one, opened(Studio(tmp_path)) as other:
        record = await register(one)
        await prepared(other, RegisteredVoice(record.id))
        await one.voices.delete(record.id, SHARED_OWNER)
        await other.voices.tidy()
        assert await other.voices.clear(CacheKind.PREPARED, owner=SHARED_OWNER) == {CacheKind.PREPARED: 0}


async def test_caches_are_cleared_by_kind(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        await prepared(studio, InlineVoice(sample(1)))
        await prepared(studio, UrlVoice("https://host/2"))
        assert await studio.voices.clear(CacheKind.URL, owner=SHARED_OWNER) == {CacheKind.URL: 1}
        assert await studio.voices.clear(*CacheKind, owner=SHARED_OWNER) == {
            CacheKind.URL: 0,
            CacheKind.INLINE: 1,
            CacheKind.TRANSCRIPT: 2,
            CacheKind.PREPARED: 2,
        }
        await prepared(studio, UrlVoice("https://host/2"))
        assert len(studio.fetcher.fetched) == 2


async def test_an_owner_deletes_without_learning_what_others_have(tmp_path):
    async with opened(Studio(tmp_path, prepared_disk_bytes=1_000_000)) as studio:

        async def deleted(owner):
            record = await register(studio, owner=owner)
            await prepared(studio, RegisteredVoice(record.id), owner=owner)
            answer = await studio.voices.delete(record.id, owner)
            return answer.audio, answer.cached, answer.prepared

        alone = await deleted("key a")
        kept = await register(studio, owner="key b")
        await prepared(studio, RegisteredVoice(kept.id), owner="key b")
        await prepared(studio, InlineVoice(sample(1)), owner="key b")
        await prepared(studio, UrlVoice("https://host/1"), owner="key b")
        made = len(studio.engine.prepared)
        assert await deleted("key a") == alone == (True, 1, 2)
        assert await studio.voices.preview(kept.id, "key b")
        await prepared(studio, RegisteredVoice(kept.id), owner="key b")
        assert len(studio.engine.prepared) == made + 1  # the other key's own


async def test_an_owner_clears_what_is_theirs_and_a_server_without_keys_everything(tmp_path):
    async with opened(Studio(tmp_path, prepared_disk_bytes=1_000_000)) as studio:
        for owner in ("key a", "key b"):
            await prepared(studio, InlineVoice(sample(1)), owner=owner)
            await prepared(studio, UrlVoice("https://host/1"), owner=owner)
        assert studio.intake.taken == 4
        mine = await studio.voices.clear(*CacheKind, owner="key a")
        assert mine == {CacheKind.URL: 1, CacheKind.INLINE: 1, CacheKind.TRANSCRIPT: 1, CacheKind.PREPARED: 2}
        assert sum((await studio.voices.clear(*CacheKind, owner="key a")).values()) == 0
        await prepared(studio, InlineVoice(sample(1)), owner="key b")
        assert (studio.intake.taken, len(studio.engine.prepared)) == (4, 2)
        assert sum((await studio.voices.clear(*CacheKind, owner=SHARED_OWNER)).values()) == 5
        assert list(tmp_path.rglob("*.npz")) == []


async def test_all_keys_share_what_is_made_of_a_shared_voice(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        shared = await register(studio)
        for owner in ("key a", "key b"):
            await prepared(studio, RegisteredVoice(shared.id), owner=owner)
        assert len(studio.engine.prepared) == 1
        await studio.voices.clear(*CacheKind, owner="key a")
        await prepared(studio, RegisteredVoice(shared.id), owner="key b")
        assert len(studio.engine.prepared) == 1


async def test_another_process_drops_only_what_its_owner_deleted(tmp_path):
    async with opened(Studio(tmp_path)) as one, opened(Studio(tmp_path)) as other:
        mine, theirs = await register(one, owner="key a"), await register(one, owner="key b")
        await prepared(other, RegisteredVoice(mine.id), owner="key a")
        await prepared(other, RegisteredVoice(theirs.id), owner="key b")
        await one.voices.delete(mine.id, "key a")
        await other.voices.tidy()
        assert await other.voices.clear(CacheKind.PREPARED, owner="key a") == {CacheKind.PREPARED: 0}
        assert await other.voices.clear(CacheKind.PREPARED, owner="key b") == {CacheKind.PREPARED: 1}


async def test_recordings_make_room_for_others(tmp_path):
    async with opened(Studio(tmp_path, recording_cache_bytes=250_000)) as studio:
        for seed in (1, 2, 3, 1):
            await prepared(studio, InlineVoice(sample(seed)))
        assert studio.intake.taken == 4
        assert studio.events("inline", "eviction") == 2


async def test_a_recording_without_a_transcript_is_transcribed_inline(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        record = await register(studio, transcript=None)
        assert (record.transcript, record.transcription) == ("Some words.", Transcription.HEARD)


async def test_a_recording_is_transcribed_in_the_background(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        record = await register(studio, transcript=None, transcribe=Transcribe.BACKGROUND)
        assert (record.transcript, record.transcription) == ("", Transcription.PENDING)

        async def heard():
            return (await studio.voices.get(record.id, SHARED_OWNER)).transcript == "Some words."

        await until(heard)


async def test_a_recording_is_not_transcribed_if_not_wanted(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        record = await register(studio, transcript=None, transcribe=Transcribe.NONE)
        assert (record.transcript, record.transcription) == ("", Transcription.NONE)
        await prepared(studio, RegisteredVoice(record.id))
        assert (studio.transcriber.heard, studio.engine.prepared[0].transcript) == (0, "")


async def test_the_next_process_resumes_a_pending_transcription(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        record = await register(studio, transcript=None, transcribe=Transcribe.NONE)
        store = await studio.voices._store.opened()
        store.update(record.id, {"transcription": Transcription.PENDING})
    async with opened(Studio(tmp_path)) as studio:

        async def heard():
            return (await studio.voices.get(record.id, SHARED_OWNER)).transcription is Transcription.HEARD

        await until(heard)


async def test_a_background_transcription_without_words_is_marked_as_failed(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        studio.transcriber.words = ""
        record = await register(studio, transcript=None, transcribe=Transcribe.BACKGROUND)

        async def given_up():
            return (await studio.voices.get(record.id, SHARED_OWNER)).transcription is Transcription.FAILED

        await until(given_up)


@pytest.mark.parametrize("transcribe", [Transcribe.INLINE, Transcribe.BACKGROUND])
async def test_without_the_transcription_model_a_voice_waits_for_its_transcript(tmp_path, transcribe):
    async with opened(Studio(tmp_path)) as studio:
        studio.transcriber.error = UnavailableError("No ears; run: polyvox pull moonshine-base")
        details = VoiceDetails.checked(name="Anna")
        added = await studio.voices.register(InlineVoice(sample(1)), details, SHARED_OWNER, transcribe=transcribe)
        assert added.record.transcription is Transcription.PENDING
        assert any("polyvox pull moonshine-base" in warning for warning in added.warnings)


async def test_a_recording_without_recognised_words_needs_a_transcript(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        studio.transcriber.words = ""
        with pytest.raises(PromptError, match="transcript"):
            await register(studio, transcript=None)


async def test_a_recording_is_transcribed_in_its_language_where_the_model_for_that_is_installed(tmp_path):
    async with opened(Studio(tmp_path)) as studio:

        async def registered(name, seed, language, **options):
            details = VoiceDetails.checked(name=name, language=language)
            return await studio.voices.register(InlineVoice(sample(seed)), details, SHARED_OWNER, **options)

        async def heard():
            return studio.transcriber.heard == 2

        await registered("Anna", 1, "fr")
        await registered("山田", 2, "zh", transcribe=Transcribe.BACKGROUND)
        await until(heard)
        assert studio.transcriber.languages == ["fr", "zh"]
        studio.transcriber.error = UnavailableError("No ears.")
        with pytest.raises(
            InvalidRequestError, match=r"does not transcribe 'it'.*polyvox pull whisper-base"
        ) as refused:
            await registered("Cleo", 3, "it")
        assert refused.value.field == "transcript"


async def test_a_transcript_can_be_corrected_and_the_voice_is_prepared_anew(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        record = await register(studio, transcript=None)
        await prepared(studio, RegisteredVoice(record.id))
        changed = await studio.voices.change(record.id, VoiceDetails.checked(transcript="Better words."), SHARED_OWNER)
        assert (changed.transcript, changed.transcription) == ("Better words.", Transcription.GIVEN)
        await prepared(studio, RegisteredVoice(record.id))
        assert [prompt.transcript for prompt in studio.engine.prepared] == ["Some words.", "Better words."]


async def test_a_repeated_recording_and_a_repeated_speaker_are_warned_about(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        studio.transcriber.speaker = np.array([1.0, 0.0], np.float32)
        first = await studio.voices.register(InlineVoice(sample(1)), details("Anna"), SHARED_OWNER)
        again = await studio.voices.register(InlineVoice(sample(1)), details("Berta"), SHARED_OWNER)
        studio.transcriber.speaker = np.array([0.8, 0.6], np.float32)
        alike = await studio.voices.register(InlineVoice(sample(2)), details("Clara"), SHARED_OWNER)
        studio.transcriber.speaker = np.array([-1.0, 0.0], np.float32)
        unlike = await studio.voices.register(InlineVoice(sample(3)), details("Dora"), SHARED_OWNER)
        elsewhere = await studio.voices.register(InlineVoice(sample(1)), details("Anna"), "key")
    assert first.warnings == ()
    assert "'Anna' has the same recording" in again.warnings[0]
    assert "similarity 0.80" in alike.warnings[0]
    assert unlike.warnings == ()
    assert elsewhere.warnings == ()


async def test_registering_in_place_of_a_voice(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        old = await register(studio)
        await prepared(studio, RegisteredVoice(old.id))
        new = await register(studio, "ANNA", seed=2, replacing=True)
        with pytest.raises(NotFoundError):
            await studio.voices.get(old.id, SHARED_OWNER)
        assert (await studio.voices.find("anna", SHARED_OWNER)).id == new.id
        assert await studio.voices.clear(CacheKind.PREPARED, owner=SHARED_OWNER) == {CacheKind.PREPARED: 0}


async def test_a_damaged_store_costs_the_registered_voices_only(tmp_path):
    (tmp_path / "voices").mkdir()
    (tmp_path / "voices" / "voices.sqlite3").write_bytes(b"not a database" * 100)
    async with opened(Studio(tmp_path)) as studio:
        with pytest.raises(UnavailableError):
            await studio.voices.page(VoiceQuery(), SHARED_OWNER)
        session = await studio.speech.open(SpeechRequest(Utterance("Hello.", "low")), LOCAL_CALL)
        async with session:
            assert [chunk async for chunk in session]


async def test_a_broken_store_is_reported_and_taken_up_again_when_mended(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        await register(studio)
        unheard = await register(studio, "later", 2, transcript=None, transcribe=Transcribe.NONE)
        store = await studio.voices._store.opened()
        store.update(unheard.id, {"transcription": Transcription.PENDING})
    database = tmp_path / "voices" / "voices.sqlite3"
    content = database.read_bytes()
    database.write_bytes(b"not a database" * 1000)
    async with opened(Studio(tmp_path)) as studio:
        assert "polyvox voices repair" in studio.voices.warnings[0]
        assert not studio.voices._store.state.available
        await studio.voices.check()
        assert not studio.voices._store.state.available
        database.write_bytes(content)
        await studio.voices.check()
        assert studio.voices.warnings == ()

        async def heard():  # what the start could not do is made up for
            return (await studio.voices.get(unheard.id, SHARED_OWNER)).transcription is Transcription.HEARD

        await until(heard)


async def test_a_start_writes_the_side_cars_that_are_missing(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        record = await register(studio)
    (sidecar,) = tmp_path.rglob("*.json")
    content = sidecar.read_bytes()
    sidecar.unlink()
    async with opened(Studio(tmp_path)):

        async def written():
            return sidecar.exists() and sidecar.read_bytes() == content

        await until(written)
    assert record.id in sidecar.name


async def test_a_database_that_was_replaced_is_opened_again(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        record = await register(studio)
    database = tmp_path / "voices" / "voices.sqlite3"
    shutil.copy(database, tmp_path / "backup")
    async with opened(Studio(tmp_path)) as studio:
        await studio.voices.delete(record.id, SHARED_OWNER)
        for path in database.parent.glob("voices.sqlite3*"):
            path.unlink()
        await studio.voices.check()
        assert "deleted while the server runs" in studio.voices.warnings[0]
        (tmp_path / "backup").rename(database)
        await studio.voices.check()
        assert (await studio.voices.get(record.id, SHARED_OWNER)).name == "Anna"


async def test_a_database_damaged_while_in_use_can_be_repaired_beside_the_server(tmp_path):
    async with opened(Studio(tmp_path)) as studio:
        record = await register(studio)
        database = tmp_path / "voices" / "voices.sqlite3"
        for path in database.parent.glob("voices.sqlite3*"):
            with path.open("r+b") as file:
                file.write(b"\xff" * path.stat().st_size)
        await studio.voices.check()
        assert not studio.voices._store.state.available
        repair(tmp_path / "voices", None, dry_run=False)
        await studio.voices.check()
        assert (await studio.voices.get(record.id, SHARED_OWNER)).name == "Anna"


class MixingEngine(CloneEngine):
    """An engine that mixes its own voices."""

    @property
    def capabilities(self):
        return replace(super().capabilities, voice_mixing=True)


@pytest.mark.long
async def test_an_engines_own_voices_and_their_mixes_need_no_store(tmp_path):
    (tmp_path / "voices").write_text("a file where the folder should be")
    async with opened(Studio(tmp_path, MixingEngine())) as studio:
        resolve = studio.voices.resolver.resolve
        for own in ("low", "low+high", "low(2)+high(1)"):
            assert await resolve(RegisteredVoice(own), SHARED_OWNER) is None
        with pytest.raises(PolyvoxError):
            await resolve(RegisteredVoice("low+anna"), SHARED_OWNER)
