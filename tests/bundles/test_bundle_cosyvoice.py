"""CosyVoice from a hub, or from a copy where no hub can be reached, to its first words, by the commands users give."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from typer.testing import CliRunner, Result

from helpers.loopback_hub import LoopbackHub
from polyvox.bundles.manifest import manifest_named
from polyvox.cli.main import app
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.installation import load_settings
from polyvox.types import AudioChunk, Utterance

GOLDEN = Path(__file__).parents[1] / "golden"
PLACES = {
    2: "/FunAudioLLM/CosyVoice2-0.5B/resolve/main/",
    3: "/FunAudioLLM/Fun-CosyVoice3-0.5B-2512/resolve/main/",
}
VERSIONS = pytest.mark.parametrize("version", [2, 3])

pytestmark = pytest.mark.usefixtures("loose_manifests")


def published(folder: Path, version: int) -> Path:
    """A tiny model in PyTorch's files, as the hubs have it."""
    (folder / "CosyVoice-BlankEN").mkdir(parents=True)
    for part in ("llm", "flow", "hift"):
        weights = load_file(GOLDEN / f"cosyvoice{version}" / f"weights_{part}.safetensors")
        torch.save(weights, folder / f"{part}.pt")
    for path in (GOLDEN / "frontend" / f"cosyvoice{version}").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for path in (GOLDEN / "frontend" / "CosyVoice-BlankEN").iterdir():
        (folder / "CosyVoice-BlankEN" / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def polyvox(*command: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in command])


async def spoken(chunks: AsyncIterator[AudioChunk]) -> int:
    async with aclosing(chunks) as each:
        return sum([len(chunk.pcm) async for chunk in each])


@pytest.mark.long
@VERSIONS
@pytest.mark.anyio
@pytest.mark.usefixtures("without_companions")
async def test_pulled_checked_converted_and_heard(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    name, models = f"cosyvoice{version}", tmp_path / "models"
    origin = published(tmp_path / "origin", version)
    hub.behaviour.files = {
        f"{PLACES[version]}{file}": (origin / file).read_bytes() for file in manifest_named(name).unpinned
    }
    monkeypatch.setenv("POLYVOX_HUB_URL", hub.url)
    pulled = polyvox("pull", name, "--models-dir", models)
    assert pulled.exit_code == 0, pulled.output
    assert f"is installed in {models / name}" in pulled.output.replace("\n", "")
    # Voices of the model's own are not pulled; they may be copied beside the rest, as may a second language model.
    (models / name / "spk2info.pt").write_bytes((origin / "spk2info.pt").read_bytes())
    for command in (("check", models / name), ("convert", models / name), ("check", name, "--models-dir", models)):
        done = polyvox("models", *command)
        assert done.exit_code == 0, done.output
    engine = CosyVoiceEngine(load_settings(models_dir=models), version)
    await engine.start()
    assert await spoken(engine.speak(Utterance("er.", "spk_a", seed=1))) > 0
    await engine.close()


@pytest.mark.long
def test_without_a_hub_the_answer_says_what_to_do_and_that_works(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = tmp_path / "models"
    monkeypatch.setenv("POLYVOX_HUB_URL", hub.url)
    monkeypatch.setenv("POLYVOX_MODELSCOPE_URL", hub.url)
    hub.close()
    for extra in ((), ("--hub", "modelscope")):
        refused = polyvox("pull", "cosyvoice3", "--models-dir", models, *extra)
        assert refused.exit_code == 1
        assert "10 of its files are missing, such as cosyvoice3.yaml" in refused.output
        assert "connect this machine, or run `polyvox pull cosyvoice3 --from FOLDER` with a copy." in refused.output
        assert not (models / "cosyvoice3").exists()
    copy = published(tmp_path / "copy", 3)
    assert polyvox("pull", "cosyvoice3", "--from", copy, "--models-dir", models).exit_code == 0
    assert polyvox("models", "check", models / "cosyvoice3").exit_code == 0
