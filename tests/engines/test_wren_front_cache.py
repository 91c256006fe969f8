import os
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

from polyvox.bundles.onnx_graphs import kokoro_front
from polyvox.bundles.onnx_graphs.builder import serialize
from polyvox.engines.kokoro.wren import front_cache
from polyvox.engines.kokoro.wren.front_cache import FrontCache
from polyvox.onnx_session import open_session


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed model whose front doubles a number; each time that the front is cut out, `cuts` grows."""
    path = tmp_path / "models" / "kokoro" / "model.onnx"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"a network")
    path.with_name("bert.onnx").write_bytes(b"a small network")
    number = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    nodes = [helper.make_node("Identity", ["x"], ["same"]), helper.make_node("Add", ["same", "same"], ["y"])]
    graph = helper.make_graph(nodes, "front", number[:1], number[1:])
    built = serialize(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]))

    def front_graph(given: Path, bert: Path) -> bytes:
        with (tmp_path / "cuts").open("a") as file:
            file.write("x")
        return built

    monkeypatch.setattr(kokoro_front, "front_graph", front_graph)
    return path


def front_cache_of(model: Path) -> FrontCache:
    return FrontCache(model, model.with_name("bert.onnx"))


def kept(model: Path) -> Path:
    return model.parents[1] / ".optimised" / "kokoro_front"


def cuts(model: Path) -> int:
    return len((model.parents[2] / "cuts").read_text())


def doubled(graph: bytes) -> float:
    return float(open_session(graph).run(None, {"x": np.array([3.0], np.float32)})[0][0])


def test_the_front_is_cut_out_once_and_then_read_as_it_was_optimised(model: Path) -> None:
    first, again = front_cache_of(model).graph(), front_cache_of(model).graph()
    assert cuts(model) == 1
    assert len(again) != len(first), "the second one has been optimised"
    assert doubled(first) == doubled(again) == 6.0
    assert kept(model).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in kept(model).parent.iterdir()] == ["kokoro_front"], "no leftovers"
    assert {path.name for path in model.parent.iterdir()} == {"model.onnx", "bert.onnx"}, "the bundle has no file more"


def test_a_front_of_another_model_program_or_runtime_is_made_anew(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    front_cache_of(model).graph()
    os.utime(model, ns=(1, 1))
    front_cache_of(model).graph()
    assert cuts(model) == 2
    model.with_name("bert.onnx").write_bytes(b"another")
    front_cache_of(model).graph()
    assert cuts(model) == 3
    monkeypatch.setattr(onnxruntime, "__version__", "0.0.1")
    front_cache_of(model).graph()
    assert cuts(model) == 4
    monkeypatch.setattr(front_cache, "_sources", lambda: "other rewrites")
    front_cache_of(model).graph()
    front_cache_of(model).graph()
    assert cuts(model) == 5


def test_a_front_that_was_altered_or_that_others_can_write_is_made_anew(model: Path, tmp_path: Path) -> None:
    def flip() -> None:
        data = bytearray(kept(model).read_bytes())
        data[-1] ^= 1
        kept(model).write_bytes(data)

    def cut_short() -> None:
        kept(model).write_bytes(kept(model).read_bytes()[:40])

    def open_to_others() -> None:
        kept(model).chmod(0o666)

    def link() -> None:
        kept(model).rename(tmp_path / "elsewhere")
        kept(model).symlink_to(tmp_path / "elsewhere")

    front_cache_of(model).graph()
    for count, spoil in enumerate((flip, cut_short, open_to_others, link), 2):
        spoil()
        assert doubled(front_cache_of(model).graph()) == 6.0
        assert cuts(model) == count, spoil.__name__
        assert doubled(front_cache_of(model).graph()) == 6.0
        assert cuts(model) == count, f"mended after {spoil.__name__}"


def test_a_front_that_cannot_be_kept_is_used_all_the_same(model: Path) -> None:
    (model.parents[1] / ".optimised").write_text("no folder")
    assert [doubled(front_cache_of(model).graph()) for _ in range(2)] == [6.0, 6.0]
    assert cuts(model) == 2
