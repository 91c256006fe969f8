"""`polyvox eval` from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers import scorers
from helpers.fakes import PlainToneEngine, ToneEngine, tone_catalog
from helpers.scripted_server import ScriptedServer
from helpers.speech import HARVARD_SENTENCES
from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, encode
from polyvox.cli.main import app
from polyvox.cli.speech import speakers
from polyvox.engines.catalog import Catalog
from polyvox.evaluate.metric import Metric
from polyvox.evaluate.scorers import Scorers
from polyvox.evaluate.texts import ENGLISH


@pytest.fixture
def loaded_metrics(monkeypatch: pytest.MonkeyPatch) -> list[frozenset[Metric]]:
    """Scorers that need no models; the metrics they were asked for."""
    calls: list[frozenset[Metric]] = []

    def of(metrics: frozenset[Metric], models_dir: Path, threads: int) -> Scorers:
        calls.append(metrics)
        everyone = scorers.fake_scorers(ENGLISH[0])
        return Scorers(
            everyone.recogniser if Metric.WER in metrics else None,
            everyone.encoder if Metric.SIMILARITY in metrics else None,
            everyone.distillmos if Metric.DISTILLMOS in metrics else None,
            everyone.dnsmos if Metric.DNSMOS in metrics else None,
        )

    monkeypatch.setattr(Scorers, "of", of)
    return calls


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlainToneEngine:
    """The only model is an engine that hums."""
    humming = ToneEngine(chunk_seconds=0.5)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Catalog, "installed", lambda: tone_catalog(humming))
    monkeypatch.setenv("POLYVOX_MODELS", "tone")
    monkeypatch.setenv("POLYVOX_DEFAULT_MODEL", "tone")
    monkeypatch.setenv("POLYVOX_DEFAULT_VOICE", "low")
    return humming


def evaluate(*arguments: str):
    return CliRunner().invoke(app, ["eval", *arguments])


@pytest.mark.long
def test_voices_are_evaluated_in_this_process(engine: PlainToneEngine, loaded_metrics, tmp_path: Path) -> None:
    files = ("--json", "run.json", "--plot", "run.png", "--keep", "kept")
    result = evaluate("-v", "low", "-v", "high", "-v", "low", "-n", "2", *files)
    assert result.exit_code == 0, result.stderr
    assert "4 of 4 utterances spoken" in result.stdout
    assert [(spoken.voice, spoken.text) for spoken in engine.heard if spoken.text in ENGLISH] == [
        (voice, text) for voice in ("low", "high") for text in ENGLISH[:2]
    ]
    document = json.loads((tmp_path / "run.json").read_text())
    assert [sample["wer"] == 0 for sample in document["samples"]] == [True, False, True, False]
    assert document["url"] is None
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(file.name for file in (tmp_path / "kept").iterdir()) == [f"000{n}.wav" for n in range(1, 5)]
    pcm, rate = decode((tmp_path / "kept" / "0001.wav").read_bytes(), max_seconds=9, max_samples=10**6)
    assert len(pcm) / rate == pytest.approx(1.5)


@pytest.mark.long
def test_the_default_voice_says_all_texts(engine: PlainToneEngine, loaded_metrics) -> None:
    result = evaluate("--metric", "distillmos", "--metric", "dnsmos")
    assert result.exit_code == 0, result.stderr
    assert {spoken.voice for spoken in engine.heard if spoken.text in ENGLISH} == {"low"}
    assert f"{len(ENGLISH)} of {len(ENGLISH)}" in result.stdout
    assert loaded_metrics == [frozenset({Metric.DISTILLMOS, Metric.DNSMOS})]
    assert "similarity" not in result.stdout


def test_a_server_is_evaluated_from_outside(scripted_server: ScriptedServer, loaded_metrics, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("one two\nthree\n")
    scripted_server.pieces |= {"one two": [(0.0, 1.0), (0.01, 1.0)], "three": [(0.0, 1.0)]}
    options = ("--url", scripted_server.url, "--api-key", "k", "--model", "m", "--language", "en-gb")
    result = evaluate(*options, "--texts", str(tmp_path / "texts.txt"), "-v", "x", "--metric", "distillmos")
    assert result.exit_code == 0, result.stderr
    assert "1.50 (1.00)" in result.stdout
    asked = [(body["input"], body["voice"], body["model"], body["lang_code"]) for body in scripted_server.bodies]
    assert asked == [("one two", "x", "m", "en-gb"), ("three", "x", "m", "en-gb")]
    assert {headers["authorization"] for headers in scripted_server.headers} == {"Bearer k"}


def test_a_reference_is_what_the_voice_should_sound_like(
    engine: PlainToneEngine, loaded_metrics, tmp_path: Path
) -> None:
    (tmp_path / "r.wav").write_bytes(encode(np.full(8_000, 0.25, np.float32), AudioFormat.WAV, 8_000))
    options = ("-n", "2", "--metric", "similarity")
    result = evaluate("-v", "low", "--reference", "low=r.wav", *options, "--json", "run.json")
    assert result.exit_code == 0, result.stderr
    assert "Similarity to the reference." in result.stdout
    document = json.loads((tmp_path / "run.json").read_text())
    assert document["similarity_to"] == {"low": "reference"}


def test_a_voice_that_fails_is_reported_and_the_command_fails(engine: PlainToneEngine, loaded_metrics) -> None:
    result = evaluate("-v", "low", "-v", "nobody", "-n", "2")
    assert result.exit_code == 1
    assert "2 of 4 utterances spoken" in result.stdout
    assert "Failed (2)" in result.stdout
    assert "nobody" in result.stdout


def test_speech_without_an_end_is_cut_off(
    engine: PlainToneEngine, loaded_metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speakers, "MAX_AUDIO_SECONDS", 1.2)
    result = evaluate("-v", "low", "-n", "1")
    assert result.exit_code == 1
    assert "longer than 1.2 seconds" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--plot", "run.gif"), "PNG"),
        (("--url", "file:///etc"), "http://HOST:PORT"),
        (("--timeout", "0"), "timeout must be above 0"),
        (("--metric", "wer", "--reference", "r.wav"), "--metric similarity"),
        (("--reference", "a.wav", "--reference", "b.wav"), "VOICE=FILE"),
        (("--metric", "beauty"), "beauty"),
        (("--limit", "0"), "limit"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_spoken(
    engine: PlainToneEngine, loaded_metrics, arguments: tuple[str, ...], complaint: str
) -> None:
    result = evaluate(*arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert engine.heard == []


def test_missing_models_are_named_with_the_commands_that_fetch_them(engine: PlainToneEngine, tmp_path: Path) -> None:
    result = evaluate("--models-dir", str(tmp_path))
    assert result.exit_code == 1
    assert "polyvox pull moonshine-base && polyvox pull campplus" in result.stderr


@pytest.mark.slow
def test_a_real_voice_scores_well_on_every_metric(
    installed, models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYVOX_KOKORO_DECODER", "wren")
    for metric in Metric:
        installed(metric.bundle)
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(HARVARD_SENTENCES[4:6]))
    files = "--texts", str(texts), "--json", str(tmp_path / "run.json"), "--models-dir", str(models_dir)
    result = evaluate("-v", "af_heart", *files)
    assert result.exit_code == 0, result.stderr
    (voice,) = json.loads((tmp_path / "run.json").read_text())["voices"]
    assert voice["wer"] < 0.1
    assert voice["similarity"]["low"] > 0.7
    assert voice["distillmos"]["mean"] > 4.0
    assert voice["dnsmos_overall"]["mean"] > 3.0


def test_misread_sentences_are_listed_with_both_readings(tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("kind\twritten\theard\nmoney\tIt is $5.\tit is five dollars\nmoney\tIt is $6.\tit is six euros\n")
    run = evaluate("--readings", "en", "--texts", str(own), "--json", str(tmp_path / "run.json"))
    assert run.exit_code == 1
    assert run.output.splitlines() == [
        "It is $6.  money",
        "  said    It is six dollars",
        "  wanted  it is six euros",
        "1 of 2 sentences are misread.",
    ]
    assert json.loads((tmp_path / "run.json").read_text())["misread"][0]["said"] == "It is six dollars"


def test_the_first_readings_of_every_list_are_read_right() -> None:
    for language in ("en", "es", "fr", "hi", "it", "ms", "pt", "zh"):
        run = evaluate("--readings", language, "--limit", "5")
        assert (run.exit_code, run.stdout) == (0, "0 of 5 sentences are misread.\n"), language


def test_a_list_that_is_none_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("money\tIt is $5.\n")
    assert "Line 1 has 2 columns" in str(evaluate("--readings", "en", "--texts", str(own)).output)
    assert "choose en, es" in str(evaluate("--readings", "tlh").output)
