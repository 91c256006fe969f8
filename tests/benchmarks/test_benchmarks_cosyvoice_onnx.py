"""The benchmark of CosyVoice's graphs, tried out on small networks."""

import pytest

from benchmarks.cosyvoice_onnx import measure


@pytest.mark.long
def test_graphs_are_compared_with_pytorch_in_one_run():
    said = []
    found = {check.name: check.value for check in measure([3], small=True, rounds=1, threads=1, progress=said.append)}
    assert 0 < found["version 3, flow: deviation of graphs"] < 0.1
    assert 0 < found["version 3, vocoder: deviation of graph"] < 1
    assert 1 < found["version 3, flow: deviation of int8 graphs"] < 300
    assert found["version 3: deviation of the waveform, int8 flow"] > found["version 3, flow: deviation of int8 graphs"]
    ratios = [value for name, value in found.items() if "/ PyTorch" in name]
    assert len(ratios) == 6
    assert all(0 < ratio < 20 for ratio in ratios)
    assert said[-1] == "language model"
