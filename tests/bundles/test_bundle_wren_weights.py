"""Wren's weights out of the graphs that ship with the package."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from helpers.tiny_wren import CONFIG, tiny_ranges, tiny_wren, write_tiny_wren  # noqa: E402
from polyvox.bundles.wren_weights import read_wren  # noqa: E402
from polyvox.errors import BundleError  # noqa: E402
from polyvox.models.kokoro.wren import Wren, WrenConfig  # noqa: E402


@pytest.mark.parametrize("ranges", [{}, tiny_ranges()], ids=["blocks", "ranges"])
def test_weights_of_8_bits_are_read_back_within_half_a_step(tmp_path: Path, ranges) -> None:
    write_tiny_wren(tmp_path, "int8", ranges)
    state = read_wren(tmp_path)
    assert WrenConfig.of_weights(state) == CONFIG
    network = tiny_wren()
    wanted = network.state_dict()
    assert set(state) == set(wanted)
    for name, tensor in state.items():
        block, _, part = name.rpartition(".contract.")
        if name.endswith("layer_scale"):
            assert torch.equal(tensor, torch.ones_like(tensor)), "it is part of the last product"
            continue
        own = wanted[name]
        if block:
            scale = wanted[f"{block}.layer_scale"]
            own = own * (scale[:, None] if part == "weight" else scale)
        assert (tensor - own).abs().max() <= own.abs().max() / 254 + 1e-6, name


def test_the_shipped_graphs_make_a_whole_network() -> None:
    state = read_wren(Path(__file__).parents[2] / "src/polyvox/engines/kokoro/wren/graphs")
    config = WrenConfig.of_weights(state)
    Wren(config).load_state_dict(state)
    assert (config.text_dim, config.style_dim) == (512, 128)


def test_other_graphs_are_refused(tmp_path: Path) -> None:
    write_tiny_wren(tmp_path, "int8", {})
    (tmp_path / "refiner.onnx").write_bytes((tmp_path / "plan.onnx").read_bytes())
    with pytest.raises(BundleError, match="install it again"):
        read_wren(tmp_path)
    (tmp_path / "plan.onnx").write_bytes(b"no graph")
    with pytest.raises(BundleError, match="cannot be read"):
        read_wren(tmp_path)
