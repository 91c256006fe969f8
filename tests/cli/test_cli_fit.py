"""`polyvox voices fit`, up to where the fit itself begins, and its progress."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.cloning import Studio, sample
from helpers.scripted_fits import ScriptedFits, fitting_service
from polyvox.cli.main import app
from polyvox.cli.voices import fitting as command
from polyvox.service.voices.fitting import FitJob, FittingService

RATE = 24_000


@pytest.fixture
def clip(tmp_path) -> Path:
    path = tmp_path / "clip.wav"
    path.write_bytes(sample(1))
    return path


@pytest.fixture
def fit(tmp_path, clip, monkeypatch):
    """Runs the command on simple parts, with fits that follow a script."""
    script = ScriptedFits()

    def service(settings, voices) -> FittingService:
        return fitting_service(settings, voices, script)

    studio = Studio(tmp_path / "data")
    monkeypatch.setattr(command, "FittingService", service)
    monkeypatch.setattr(command.VoiceService, "for_service", lambda speech, access: studio.voices)

    def run(*arguments: object):
        return CliRunner().invoke(app, ["voices", "fit", str(clip), "--data-dir", str(tmp_path), *map(str, arguments)])

    return run


def test_a_fitted_voice_is_shown_with_what_was_measured(fit):
    result = fit("--name", "Anna", "--consent", "--consent-note", "On paper.", "--tag", "calm")
    assert result.exit_code == 0, result.output
    for shown in ("Anna", "calm", "On paper.", '"similarity": 0.6', '"base": "low"'):
        assert shown in result.stdout
    assert "offset" not in result.stdout


def test_progress_is_lines_where_standard_error_is_no_terminal(fit):
    result = fit("--name", "Anna", "--consent")
    assert result.stderr.splitlines()[0] == "fit: loading"
    assert result.stderr.count("\n") == len(set(result.stderr.splitlines()))


def test_there_is_a_line_for_every_tenth_of_the_steps(capsys):
    lines = command._ProgressLines()
    job = FitJob("fit_1", "", "Anna")
    lines(job)
    for job.step in range(101):
        job.steps, job.similarity = 100, job.step / 100
        lines(job)
    shown = capsys.readouterr().err.splitlines()
    assert shown[:3] == ["fit: loading", "fit: step 10 of 100, similarity 0.10", "fit: step 20 of 100, similarity 0.20"]
    assert len(shown) == 11


def test_without_consent_it_is_refused(fit):
    result = fit("--name", "Anna")
    assert result.exit_code != 0
    assert "consent" in result.output + str(result.exception)


def test_without_a_name_it_is_refused(fit):
    assert fit("--consent").exit_code == 2
