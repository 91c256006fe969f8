"""Fits as jobs: one at a time, private to their owner, cancelled at once, and nothing left of those that fail."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from structlog.testing import capture_logs

from helpers.cloning import Studio, opened, sample
from helpers.fakes import ToneEngine
from helpers.scripted_fits import OFFSET, ScriptedFits, fitting_service, style
from polyvox import extras
from polyvox.errors import (
    BundleError,
    ConflictError,
    EngineError,
    InvalidRequestError,
    NotFoundError,
    OverloadedError,
    PromptError,
    UnavailableError,
)
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices import fitting
from polyvox.service.voices.fit_worker import FitStep
from polyvox.service.voices.fitting import FitState, FittingService, check_possible
from polyvox.types import PreparedVoice, Utterance
from polyvox.voices.fitted import KEY, fitted_style
from polyvox.voices.records import SHARED_OWNER, VoiceDetails, VoiceQuery
from polyvox.voices.references import InlineVoice, RegisteredVoice

pytestmark = pytest.mark.anyio

OWNER = "key"


def details(name: str = "Anna", **fields: object) -> VoiceDetails:
    return VoiceDetails.checked(name=name, **{"consent": True, **fields})


@pytest.fixture
async def studio(tmp_path):
    async with opened(Studio(tmp_path, max_fits=2)) as studio:
        yield studio


def fits_of(studio: Studio, script: ScriptedFits) -> FittingService:
    return fitting_service(studio.speech.settings, studio.voices, script)


async def begun(fits: FittingService, name: str = "Anna", owner: str = OWNER, seed: int = 1):
    return await fits.start(InlineVoice(sample(seed)), details(name), owner)


async def voices_of(studio: Studio, owner: str = OWNER) -> list[str]:
    return [record.name for record in (await studio.voices.page(VoiceQuery(), owner)).voices]


async def test_a_fit_ends_as_a_registered_voice_with_its_style_and_consent(studio):
    fits = fits_of(studio, ScriptedFits())
    job = await fits.start(InlineVoice(sample(1)), details(consent_note="On paper."), OWNER, seed=7)
    assert job.state is FitState.QUEUED
    steps = []
    record = await fits.finished(job, lambda job: steps.append(job.step), every=0.01)
    assert (job.state, job.steps, job.similarity) == (FitState.DONE, 4, 0.6)
    assert (record.name, record.consent, record.consent_note) == ("Anna", True, "On paper.")
    assert record.report["score"] == 1.0
    found = await studio.voices.get(record.id, OWNER)
    np.testing.assert_array_equal(fitted_style(found.report).offset, OFFSET)


async def test_the_log_has_the_start_the_progress_and_the_end_of_a_fit(studio):
    with capture_logs() as logs:
        fits = fits_of(studio, ScriptedFits())
        job = await begun(fits)
        await fits.finished(job, lambda job: None, every=0.01)
    lines = [line for line in logs if line.get("fit") == job.id]
    assert [line["event"] for line in lines] == ["fit started", "fitting", "fit done"]
    assert [lines[1][key] for key in ("log_level", "step", "steps", "similarity")] == ["info", 1, 4, 0.3]
    assert lines[2]["similarity"] == 0.6


async def test_the_log_has_a_line_for_each_tenth_of_a_long_fit(studio):
    async def hundred_steps(settings, pcm, rate, seed):
        for step in range(101):
            yield FitStep(step, 100, 0.5)
        yield style()

    with capture_logs() as logs:
        fits = FittingService(studio.speech.settings, studio.voices, hundred_steps, check=lambda settings: None)
        await fits.finished(await begun(fits), lambda job: None, every=0.01)
    assert [line["step"] for line in logs if line["event"] == "fitting"] == list(range(10, 101, 10))


async def test_without_consent_nothing_is_fitted(studio):
    fits = fits_of(studio, ScriptedFits())
    for consent in (None, False):
        with pytest.raises(InvalidRequestError) as refused:
            await fits.start(InlineVoice(sample(1)), details(consent=consent), OWNER)
        assert refused.value.field == "consent"
    assert fits.jobs(OWNER) == []


async def test_a_recording_that_cannot_be_used_is_refused_before_anything_starts(studio):
    script = ScriptedFits()
    fits = fits_of(studio, script)
    with pytest.raises(InvalidRequestError):
        await fits.start(InlineVoice(b"no audio"), details(), OWNER)
    assert (script.most_open, fits.jobs(OWNER)) == (0, [])


async def test_a_name_that_is_taken_is_refused_at_once(studio):
    await studio.voices.register(InlineVoice(sample(2)), details(transcript="Hello."), OWNER)
    with pytest.raises(ConflictError):
        await begun(fits_of(studio, ScriptedFits()))


async def test_a_name_that_is_taken_meanwhile_fails_the_fit(studio):
    script = ScriptedFits(waiting=True)
    fits = fits_of(studio, script)
    job = await begun(fits)
    await studio.voices.register(InlineVoice(sample(2)), details(transcript="Hello."), OWNER)
    script.go.set()
    with pytest.raises(ConflictError):
        await fits.finished(job, lambda job: None, every=0.01)
    assert job.state is FitState.FAILED


async def test_fits_run_one_after_the_other_and_the_queue_is_bounded(studio):
    script = ScriptedFits(waiting=True)
    fits = fits_of(studio, script)
    first, second = await begun(fits, "Anna"), await begun(fits, "Berta")
    with pytest.raises(OverloadedError):
        await begun(fits, "Clara")
    await asyncio.sleep(0.05)
    assert (first.state, first.step, second.state) == (FitState.RUNNING, 1, FitState.QUEUED)
    script.go.set()
    for job in (first, second):
        await fits.finished(job, lambda job: None, every=0.01)
    assert script.most_open == 1
    assert sorted(await voices_of(studio)) == ["Anna", "Berta"]
    await begun(fits, "Clara")


async def test_a_cancelled_fit_leaves_nothing(studio):
    script = ScriptedFits(waiting=True)
    fits = fits_of(studio, script)
    running, queued = await begun(fits, "Anna"), await begun(fits, "Berta")
    await asyncio.sleep(0.05)
    for job in (queued, running):
        assert (await fits.cancel(job.id, OWNER)).state is FitState.CANCELLED
    assert script.open == 0
    assert await voices_of(studio) == []
    with pytest.raises(EngineError):
        await fits.finished(running, lambda job: None)


async def test_cancelling_what_is_done_changes_nothing(studio):
    fits = fits_of(studio, ScriptedFits())
    job = await begun(fits)
    await fits.finished(job, lambda job: None, every=0.01)
    assert (await fits.cancel(job.id, OWNER)).state is FitState.DONE
    assert await voices_of(studio) == ["Anna"]


async def test_fits_are_private_to_their_owner(studio):
    fits = fits_of(studio, ScriptedFits(waiting=True))
    job = await begun(fits)
    for stranger in ("other key", SHARED_OWNER):
        with pytest.raises(NotFoundError):
            fits.get(job.id, stranger)
        with pytest.raises(NotFoundError):
            await fits.cancel(job.id, stranger)
        assert fits.jobs(stranger) == []
    assert fits.jobs(OWNER) == [job]
    await fits.close()
    assert job.state is FitState.CANCELLED


async def test_an_error_of_the_fit_is_raised_and_leaves_nothing(studio):
    fits = fits_of(studio, ScriptedFits(error=PromptError("Too noisy.")))
    job = await begun(fits)
    with pytest.raises(PromptError, match="Too noisy"):
        await fits.finished(job, lambda job: None, every=0.01)
    assert (job.state, await voices_of(studio)) == (FitState.FAILED, [])


async def test_old_jobs_are_forgotten(studio, monkeypatch):
    monkeypatch.setattr(fitting, "_KEPT_JOBS", 1)
    fits = fits_of(studio, ScriptedFits())
    first = await begun(fits, "Anna")
    await fits.finished(first, lambda job: None, every=0.01)
    second = await begun(fits, "Berta")
    assert fits.jobs(OWNER) == [second]
    await fits.close()


def test_without_pytorch_the_error_names_the_remedy(studio_settings, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match=r"pip install -e '\.\[torch\]'"):
        check_possible(studio_settings)


def test_without_the_models_the_error_names_the_command(studio_settings):
    with pytest.raises(BundleError, match="polyvox pull"):
        check_possible(studio_settings)


@pytest.fixture
def studio_settings(tmp_path):
    return Studio(tmp_path, models_dir=tmp_path / "models").speech.settings


class StyledEngine(ToneEngine):
    """Speaks with styles, and remembers which it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[dict[str, float], np.ndarray, str]] = []

    def check(self, utterance):
        if utterance.prepared is None:
            super().check(utterance)

    async def speak(self, utterance):
        async for chunk in super().speak(replace(utterance, voice="low") if utterance.prepared else utterance):
            yield chunk

    def voice_from_style(self, mix, offset, language):
        self.asked.append(({part.voice: part.share for part in mix}, offset, language))
        return PreparedVoice(self.name, "", {})


@pytest.fixture
async def styled(tmp_path):
    async with opened(Studio(tmp_path, StyledEngine())) as studio:
        await studio.voices.register(InlineVoice(sample(1)), details("anna", language="en-gb"), OWNER, fitted=style())
        await studio.voices.register(InlineVoice(sample(2)), details("berta", transcript="Hello."), OWNER)
        yield studio


async def cast(studio: Studio, voice: str, owner: str = OWNER):
    clone = await studio.voices.resolver.resolve(RegisteredVoice(voice), owner)
    if clone is None:
        return None
    await clone.prepare(studio.engine)
    return studio.engine.asked[-1]


async def test_a_fitted_voice_is_spoken_by_the_model_it_was_fitted_for(styled):
    mix, offset, language = await cast(styled, "anna")
    assert (mix, language) == ({"low": 1.0}, "en-gb")
    np.testing.assert_allclose(offset, OFFSET)


async def test_a_fitted_voice_is_spoken_by_a_model_that_shares_its_styles(styled, monkeypatch):
    monkeypatch.setattr(StyledEngine, "name", "other")
    styled.engine.style_model = "tone"
    assert (await cast(styled, "anna"))[0] == {"low": 1.0}
    assert (await cast(styled, "anna(3)+high(1)"))[0] == {"low": 0.75, "high": 0.25}
    styled.engine.style_model = "another"
    with pytest.raises(InvalidRequestError, match="cannot clone"):
        await cast(styled, "anna")


async def test_a_fitted_voice_takes_part_in_mixes(styled):
    mix, offset, _ = await cast(styled, "anna(3)+high(1)")
    assert mix == {"low": 0.75, "high": 0.25}
    np.testing.assert_allclose(offset, 0.75 * OFFSET)


async def test_a_model_that_does_not_clone_speaks_with_it_all_the_same(styled):
    request = SpeechRequest(
        Utterance("Good morning.", "anna"),
        resolve_voice=lambda: styled.voices.resolver.resolve(RegisteredVoice("anna"), OWNER),
    )
    async with await styled.speech.open(request, LOCAL_CALL) as session:
        spoken = [chunk async for chunk in session]
    assert spoken
    assert len(styled.engine.asked) == 1


async def test_mixes_without_fitted_voices_are_for_the_engine(styled):
    assert await cast(styled, "low+high") is None
    assert await cast(styled, "anna+high", owner="other key") is None


async def test_a_voice_that_was_not_fitted_cannot_be_mixed(styled):
    with pytest.raises(InvalidRequestError, match=r"cannot clone voices.*polyvox voices fit"):
        await cast(styled, "berta+low")


async def test_a_style_for_another_model_is_not_used(styled):
    await styled.voices.register(
        InlineVoice(sample(3)), details("clara", transcript="Hello."), OWNER, fitted=style(model="kokoro")
    )
    with pytest.raises(InvalidRequestError, match=r"cannot clone voices.*polyvox voices fit"):
        await cast(styled, "clara")


async def test_the_report_of_a_fit_is_kept_beside_that_of_the_recording(styled):
    record = await styled.voices.find("anna", OWNER)
    assert set(record.report) >= {"score", "warnings", KEY}
