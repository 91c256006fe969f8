"""The store of jobs: records that survive kills, for one worker at a time."""

import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from helpers.killed_pulls import die_before_step, in_child
from polyvox.errors import JobLimitError, UnavailableError
from polyvox.service.jobs.record import JobError, JobFile, JobOutput, JobProgress, JobRecord, JobStatus
from polyvox.service.jobs.store import DATABASE, JobStore

FULL = JobRecord(
    id="job_" + "1" * 32,
    owner="somebody",
    title="Tide \u2603",
    created=1.0,
    keep_seconds=50.0,
    output=JobOutput(("m4b", "mp3"), "flac", ("vtt",)),
    webhook="https://example.org/",
    progress=JobProgress(3, 4, 2, 2, 1.5, 75.0),
    error=JobError("disk_full", "Full."),
    files=(JobFile("book.m4b", "audio/mp4", 3, "book", None, "d" * 64),),
    untold=True,
)


def made(store: JobStore, number: int, owner: str = "somebody", status: JobStatus = JobStatus.QUEUED) -> JobRecord:
    record = replace(FULL, id=f"job_{number:032x}", owner=owner)
    store.add(record, 10).close()
    changed = store.change(record.id, (JobStatus.CREATING,), partial(replace, status=status))
    assert changed is not None
    return changed


def test_a_record_comes_back_as_it_was_stored(tmp_path: Path):
    store = JobStore(tmp_path, clock=lambda: 100.0)
    store.add(FULL, 1).close()
    assert store.find(FULL.id) == FULL
    done = store.change(FULL.id, tuple(JobStatus), partial(replace, status=JobStatus.DONE))
    assert done == replace(FULL, status=JobStatus.DONE, updated=100.0, expires=150.0)
    store.close()
    assert JobStore(tmp_path).find(FULL.id) == done


def test_an_owner_keeps_so_many_jobs_and_sees_the_newest_first(tmp_path: Path):
    store = JobStore(tmp_path)
    mine = [made(store, number) for number in range(3)]
    made(store, 9, owner="another")
    with pytest.raises(JobLimitError):
        store.add(replace(FULL, id="job_" + "f" * 32), 3)
    assert not store.folder("job_" + "f" * 32).exists()
    assert [record.id for record in store.owned("somebody")] == [record.id for record in reversed(mine)]
    assert store.counts()["queued"] == 4


def test_a_change_happens_only_from_the_statuses_it_may_come_from(tmp_path: Path):
    store = JobStore(tmp_path)
    job = made(store, 1, status=JobStatus.PAUSED)
    assert store.change(job.id, (JobStatus.RUNNING,), partial(replace, status=JobStatus.DONE)) is None
    assert store.find(job.id) == job
    assert store.change("job_none", tuple(JobStatus), partial(replace, status=JobStatus.DONE)) is None


@pytest.mark.long
def test_one_worker_holds_a_job_and_a_killed_one_lets_go(tmp_path: Path):
    store = JobStore(tmp_path)
    job = made(store, 1)
    store.close()

    def work() -> None:
        other = JobStore(tmp_path)
        assert other.lock(job.id) is not None
        os.kill(os.getpid(), signal.SIGKILL)

    assert not in_child(work)
    store = JobStore(tmp_path)
    lock = store.lock(job.id)
    assert lock is not None
    assert store.lock(job.id) is None
    store.change(job.id, (JobStatus.QUEUED,), partial(replace, status=JobStatus.DELETED))
    assert not store.remove(job.id)
    lock.close()
    assert store.remove(job.id)
    assert store.find(job.id) is None
    assert store.lock(job.id) is None


@pytest.mark.long
def test_a_store_killed_at_any_step_of_a_new_job_has_it_whole_or_can_clear_it_away(tmp_path: Path):
    finished = False
    for step in range(1, 40):
        folder = tmp_path / str(step)
        JobStore(folder).close()

        def work(folder: Path = folder, step: int = step) -> None:
            store = JobStore(folder)
            die_before_step(step, folder)
            store.add(FULL, 5)
            store.change(FULL.id, (JobStatus.CREATING,), partial(replace, status=JobStatus.QUEUED))

        finished = in_child(work)
        store = JobStore(folder)
        found = store.find(FULL.id)
        assert found is None or found.status in (JobStatus.CREATING, JobStatus.QUEUED)
        assert found is not None or not store.folder(FULL.id).exists()
        if found is not None and found.status is JobStatus.CREATING:
            assert store.remove(found.id)
        store.close()
        if finished:
            break
    assert finished


def test_a_job_that_became_whole_while_another_process_cleared_away_stays(tmp_path: Path):
    ours, theirs = JobStore(tmp_path), JobStore(tmp_path)
    lock = ours.add(FULL, 5)
    (seen,) = theirs.among((JobStatus.CREATING, JobStatus.DELETED))
    queued = ours.change(FULL.id, (JobStatus.CREATING,), partial(replace, status=JobStatus.QUEUED))
    lock.close()
    assert not theirs.remove(seen.id)
    assert theirs.find(FULL.id) == queued
    assert ours.folder(FULL.id).is_dir()
    ours.close()
    theirs.close()


def test_a_lost_or_emptied_database_costs_no_speech_and_shows_no_job(tmp_path: Path):
    store = JobStore(tmp_path)
    job = made(store, 1)
    speech = store.folder(job.id) / "narration"
    speech.write_bytes(b"spoken")
    store.close()
    good = (tmp_path / DATABASE).read_bytes()
    for _ in range(2):
        for path in tmp_path.glob(f"{DATABASE}*"):
            path.unlink()
        empty = JobStore(tmp_path)
        assert (empty.find(job.id), empty.owned(job.owner)) == (None, [])
        other = made(empty, 2, owner="somebody else")
        assert empty.remove(other.id) is False
        empty.change(other.id, (JobStatus.QUEUED,), partial(replace, status=JobStatus.DELETED))
        assert empty.remove(other.id)
        empty.close()
        JobStore(tmp_path).close()
        assert speech.read_bytes() == b"spoken"
    for path in tmp_path.glob(f"{DATABASE}*"):
        path.unlink()
    (tmp_path / DATABASE).write_bytes(good)
    assert JobStore(tmp_path).find(job.id) == job


def test_an_id_that_somebody_else_wrote_leads_to_no_other_folder(tmp_path: Path):
    store, precious = JobStore(tmp_path / "jobs"), tmp_path / "precious"
    precious.mkdir()
    for job_id in ("../precious", str(precious), "", ".", "job_..", FULL.id + "/../../precious"):
        for use in (store.folder, store.lock, store.remove):
            with pytest.raises(UnavailableError, match="from elsewhere"):
                use(job_id)
    assert precious.is_dir()


def test_only_what_is_at_rest_expires(tmp_path: Path):
    now = [100.0]
    store = JobStore(tmp_path, clock=lambda: now[0])
    running, paused = made(store, 1), made(store, 2, status=JobStatus.PAUSED)
    now[0] = 149.0
    assert store.expired() == []
    now[0] = 151.0
    assert [record.id for record in store.expired()] == [paused.id]
    resumed = store.change(paused.id, (JobStatus.PAUSED,), partial(replace, status=JobStatus.QUEUED))
    assert resumed is not None
    assert store.expired() == []
    assert running.expires is None
