"""`polyvox serve` with the start commands of CosyVoice's own servers."""

import logging
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from polyvox.cli.main import app
from polyvox.config import Settings
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.server import process as server


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is recognised as CosyVoice 3; no settings of the machine reach these tests."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "Fun-CosyVoice3-0.5B"
    folder.mkdir()
    (folder / "cosyvoice3.yaml").touch()
    return folder


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings of every server that was started, which starts no further than that."""
    found: list[Settings] = []

    def run(settings: Settings, *details: Any) -> None:
        found.append(settings)

    monkeypatch.setattr(server, "run_server", run)
    return found


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["serve", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_fastapi_server(model: Path, started: list[Settings]) -> None:
    run("--port", "50000", "--model_dir", str(model))
    settings = started[0]
    assert (settings.port, settings.grpc_port, settings.default_model) == (50_000, None, "cosyvoice3")
    assert settings.section(CosyVoiceSettings).precision == "auto"


def test_the_grpc_server(model: Path, started: list[Settings], monkeypatch: pytest.MonkeyPatch) -> None:
    run("--grpc", "--port", "50001", "--model_dir", str(model), "--max_conc", "4")
    run("--grpc", "--model_dir", str(model))
    monkeypatch.setenv("POLYVOX_PORT", "8881")
    run("--grpc", "--port", "50001", "--model_dir", str(model))
    ports = [(settings.port, settings.grpc_port, settings.grpc_max_calls) for settings in started]
    assert ports == [(0, 50_001, 4), (0, 50_000, 0), (8881, 50_001, 0)]
    refused = CliRunner().invoke(app, ["serve", "--grpc", "--grpc-port", "1", "--model_dir", str(model)])
    assert refused.exit_code == 2
    assert "leave out --grpc-port" in refused.output


def test_half_precision_is_that_of_the_default_model(model: Path, started: list[Settings]) -> None:
    run("--fp16", "--model_dir", str(model), "--model", "kokoro")
    assert started[0].section(CosyVoiceSettings).precision == "float16"
    assert started[0].section(KokoroSettings).precision == "auto"


def test_what_has_no_effect_is_named_in_the_log(
    model: Path, started: list[Settings], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        run("--load_jit", "--load_trt", "--load_vllm", "--trt_concurrent", "2", "--model_dir", str(model))
        run("--fp16", "--model", "zipvoice")
    named = [record.getMessage().partition(" has no effect")[0] for record in caplog.records]
    assert named == ["--load_jit", "--load_vllm", "--trt_concurrent", "--load_trt", "--fp16"]
    assert len(started) == 2


def test_tensorrt_is_named_by_its_settings(
    model: Path, started: list[Settings], caplog: pytest.LogCaptureFixture
) -> None:
    run("--load_trt", "--model_dir", str(model))
    run("--load_trt", "--model", "kokoro")
    assert caplog.messages == [
        "--load_trt has no effect: run `polyvox models export cosyvoice3`, then set "
        "POLYVOX_COSYVOICE_FLOW_EXECUTOR=tensorrt and POLYVOX_COSYVOICE_VOCODER_EXECUTOR=tensorrt",
        "--load_trt has no effect: the model kokoro does not run in TensorRT",
    ]


def test_the_model_may_be_named_by_the_variables_of_the_servers(
    model: Path, started: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("COSYVOICE_MODEL_DIR", "COSYVOICE_MODEL_ID"):
        with monkeypatch.context() as context:
            context.setenv(variable, str(model))
            run()
    assert [settings.default_model for settings in started] == ["cosyvoice3", "cosyvoice3"]
