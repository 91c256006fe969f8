"""Which network Kokoro speaks with, and what it says about the choice."""

import copy
import os

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from structlog.testing import capture_logs  # noqa: E402

from helpers.fixed_shapes import Fixed  # noqa: E402
from helpers.tables import each_row  # noqa: E402
from helpers.tiny_kokoro import TINY, tiny_kokoro  # noqa: E402
from helpers.tiny_wren import tiny_wren  # noqa: E402
from polyvox import extras  # noqa: E402
from polyvox.engines.kokoro import loading  # noqa: E402
from polyvox.engines.kokoro.loading import load_network  # noqa: E402
from polyvox.engines.kokoro.native import loading as native_loading  # noqa: E402
from polyvox.engines.kokoro.native.fused_kernels import use_block_kernel, use_lstm_kernel, use_norm_kernel  # noqa: E402
from polyvox.engines.kokoro.native.loading import (  # noqa: E402
    Probe,
    captured,
    check_close,
    graph_frames,
    probe,
)
from polyvox.engines.kokoro.native.network import NativeKokoro  # noqa: E402
from polyvox.engines.kokoro.request import ModelInput  # noqa: E402
from polyvox.engines.kokoro.settings import KokoroSettings  # noqa: E402
from polyvox.engines.kokoro.wren import loading as wren_loading  # noqa: E402
from polyvox.engines.kokoro.wren.model import WrenModel  # noqa: E402
from polyvox.errors import BundleError, UnavailableError  # noqa: E402
from polyvox.installation import load_settings  # noqa: E402
from polyvox.models.kokoro.adain import AdaIN  # noqa: E402
from polyvox.models.kokoro.lstm import BidirectionalLstm, run_lstm  # noqa: E402
from polyvox.models.kokoro.ragged import StaticRagged  # noqa: E402
from polyvox.models.kokoro.wren_blocks import Condition, ConvNeXtBlock  # noqa: E402

CPU_ONLY = "ONNX Runtime on the CPU"


class Files:
    """A bundle whose files are never read."""

    def file(self, name):
        return name


@pytest.fixture
def machine(monkeypatch):
    """A machine with a GPU that works, or fails with what is given as its fault, or with none at all."""

    def made(*, driver=True, fault=None, seen=True):
        monkeypatch.setattr(loading, "KokoroModel", lambda path, threads: None)
        monkeypatch.setattr(loading, "_can_load", lambda library: driver)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: driver and seen)

        def load(place):
            if place.device == "cuda" and fault:
                raise RuntimeError(fault)
            network = NativeKokoro(tiny_kokoro(torch.float32), 1)
            network.device, network.dtype = torch.device(place.device), place.dtype
            return network

        monkeypatch.setattr(native_loading, "_loader", lambda settings, bundle: load)

    return made


def loaded(*, alone=False, **settings):
    return load_network(load_settings(**settings).section(KokoroSettings), Files(), alone=alone)


def test_without_a_gpu_it_is_onnx_runtime_and_nothing_is_amiss(machine):
    machine(driver=False)
    assert (loaded().runs_on, loaded().warning) == (CPU_ONLY, "")
    assert loaded().device == "cpu"


def test_without_a_driver_pytorch_is_not_even_asked(machine, monkeypatch):
    machine(driver=False)
    monkeypatch.setattr(native_loading, "load_on_gpu", lambda *_: pytest.fail("it was asked"))
    assert loaded().runs_on == CPU_ONLY


def test_a_gpu_that_works_runs_pytorch_in_half_precision(machine):
    machine()
    assert (loaded().runs_on, loaded().warning) == ("PyTorch on cuda in float16", "")
    assert loaded().device == "cuda"
    assert loaded(kokoro_precision="float32").runs_on == "PyTorch on cuda in float32"


@pytest.mark.parametrize("settings", [{"kokoro_executor": "onnx"}, {"kokoro_device": "cpu"}])
def test_settings_can_keep_it_off_the_gpu(machine, settings):
    machine()
    assert loaded(**settings).runs_on == CPU_ONLY


def test_a_gpu_that_fails_its_test_is_left_with_a_warning(machine):
    machine(fault="its speech is not what it should be")
    network = loaded()
    assert network.runs_on == CPU_ONLY
    assert network.warning.startswith(
        "The GPU failed its test (its speech is not what it should be), so Kokoro runs on"
    )


def test_a_gpu_that_pytorch_cannot_use_is_worth_a_warning_only_where_it_was_asked_for(machine):
    machine(seen=False)
    assert loaded().warning == ""
    network = loaded(kokoro_device="cuda")
    assert network.runs_on == CPU_ONLY
    assert network.warning.startswith("PyTorch finds no GPU, so Kokoro runs on ONNX Runtime")


def test_wren_runs_where_kokoro_does(machine, monkeypatch):
    monkeypatch.setattr(wren_loading, "load_wren", lambda path, threads: WrenModel(None, None))
    machine(driver=False)
    network = loaded(kokoro_decoder="wren")
    assert (network.runs_on, network.device, network.warning) == (f"Wren on {CPU_ONLY}", "cpu", "")
    machine(fault="its speech is not what it should be")
    network = loaded(kokoro_decoder="wren")
    assert network.runs_on == f"Wren on {CPU_ONLY}"
    assert network.warning.startswith("The GPU failed its test")
    machine()
    assert loaded(kokoro_decoder="wren").device == "cuda"
    assert loaded(kokoro_decoder="wren", kokoro_executor="onnx").device == "cpu"


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [({}, (4, 1)), ({"threads": 2}, (2, 2)), ({"workers": 1}, (1, 4)), ({"workers": 3, "threads": 2}, (3, 2))],
)
def test_wren_has_a_worker_on_each_core_unless_the_settings_say_otherwise(machine, monkeypatch, settings, wanted):
    machine(driver=False)
    monkeypatch.setattr(loading, "share_of_cores", lambda workers: 4 // workers)
    threads = []
    monkeypatch.setattr(wren_loading, "load_wren", lambda path, count: threads.append(count) or WrenModel(None, None))
    given = {f"kokoro_{name}": value for name, value in settings.items()}
    synthesis = loaded(kokoro_decoder="wren", **given).synthesis(None)
    assert (synthesis.workers, *threads) == wanted
    synthesis = loaded(alone=True, kokoro_decoder="wren", **given).synthesis(None)
    assert (synthesis.workers, threads[-1]) == (wanted if settings else (2, 2)), "two cores work on one stream"


def test_native_runs_on_the_cpu_where_there_is_nothing_better(machine):
    machine(driver=False)
    assert loaded(kokoro_executor="native").runs_on == "PyTorch on cpu in float32"
    assert loaded(kokoro_executor="native", kokoro_precision="bfloat16").runs_on == "PyTorch on cpu in bfloat16"
    network = loaded(kokoro_executor="native", kokoro_device="cuda")
    assert network.warning.startswith("PyTorch finds no GPU, so Kokoro runs on the CPU")


def test_without_pytorch_auto_is_onnx_runtime_and_native_is_refused(machine, monkeypatch):
    machine()
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    assert loaded().runs_on == CPU_ONLY
    with pytest.raises(UnavailableError, match=r"pip install -e '\.\[torch\]'"):
        loaded(kokoro_executor="native")


def test_a_driver_is_a_library_that_loads():
    assert loading._can_load("libc.so.6")
    assert not loading._can_load("libnobody.so.1")


def tiny_probe():
    item = ModelInput((5, 6, 7), np.full((1, 2 * TINY.style), 0.1, np.float32), 1.0)
    return probe(tiny_kokoro(torch.float32), item)


def test_a_device_that_computes_what_the_cpu_does_passes():
    expected = tiny_probe()
    check_close(expected, expected)
    check_close(Probe(expected.durations, expected.samples * 1.01), expected)


@pytest.mark.long
@each_row(
    ("broken", "reason"),
    [
        (lambda right: Probe(right.durations + 1, right.samples), "other durations"),
        (lambda right: Probe(right.durations, right.samples.roll(1)), "not what it should be"),
        (lambda right: Probe(right.durations, right.samples * float("nan")), "not what it should be"),
        (lambda right: Probe(right.durations, torch.zeros_like(right.samples)), "not what it should be"),
    ],
)
def test_a_device_that_computes_anything_else_fails(broken, reason):
    expected = tiny_probe()
    with pytest.raises(RuntimeError, match=reason):
        check_close(broken(expected), expected)


def test_weights_that_do_not_fit_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(native_loading, "read_kokoro", lambda path: {"bert.weight": torch.zeros(1)})
    np.zeros((510, 1, 256), np.float32).tofile(tmp_path / "style.bin")

    class Bundle:
        def file(self, name):
            return tmp_path / "style.bin"

    with pytest.raises(BundleError, match="weights of Kokoro"):
        load_network(KokoroSettings(executor="native", device="cpu"), Bundle())


class Recorder(Fixed):
    """Runs the work, or fails to capture it, or gives another result."""

    def __init__(self, fault=None, gain=1.0):
        super().__init__()
        self.fault, self.gain = fault, gain

    def __call__(self, key, work, given, idle=None):
        if self.fault is not None and key[0] == self.fault:
            raise RuntimeError("operation not permitted when stream is capturing")
        made = super().__call__(key, work, given, idle)
        return made if key[0] == "encode" else made * self.gain


def capturing(**given):
    eager = NativeKokoro(tiny_kokoro(torch.float32), 1)
    item = ModelInput((5, 6, 7), np.full((1, 2 * TINY.style), 0.1, np.float32), 1.0)
    with capture_logs() as logs:
        native = captured(eager, (32,), item, lambda: Recorder(**given))
    return native is eager, [line["event"] for line in logs]


@pytest.mark.long
def test_shapes_are_captured_and_tested():
    assert capturing() == (False, [])


def fallback(reason):
    return [f"Kokoro could not be captured ({reason}), so it runs eagerly and more slowly."]


@pytest.mark.long
@each_row("part", ["encode", "decode"])
def test_where_nothing_can_be_captured_it_runs_eagerly(part):
    assert capturing(fault=part) == (True, fallback("operation not permitted when stream is capturing"))


@pytest.mark.long
def test_a_graph_that_gives_other_samples_is_not_used():
    assert capturing(gain=-1.0) == (True, fallback("its speech is not what it should be"))


def test_lengths_of_graphs_are_in_frames_each_once():
    assert graph_frames([2.0, 1.0, 0.001, 1.001]) == (1, 40, 80)


def kernel(error=0.0):
    """PyTorch's norm in place of a kernel, off by so much."""

    def activated(rows, style, ends, eps, activation):
        norm = AdaIN(1, rows.shape[1])
        norm.scale_and_shift = lambda _: style.chunk(2, dim=1)
        return norm.activated(rows, style, StaticRagged(ends, rows.shape[2]), activation) + error

    return activated


def fused(network):
    return {module.kernel is not None for module in network.modules() if isinstance(module, AdaIN)}


@each_row("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_norms_are_given_a_kernel_that_is_right(dtype):
    network = tiny_kokoro(dtype)
    use_norm_kernel(network, kernel())
    assert fused(network) == {True}


def test_norms_keep_off_a_kernel_that_errs_or_fails():
    network = tiny_kokoro(torch.float32)
    with capture_logs() as logs:
        use_norm_kernel(network, kernel(error=0.01))
        use_norm_kernel(network, lambda *_: 1 / 0)
    assert fused(network) == {False}
    assert ["off by" in logs[0]["reason"], logs[1]["reason"]] == [True, "division by zero"]


def lstm_kernel(error=0.0):
    """PyTorch's LSTM in place of a kernel, off by so much."""

    def made(lstm):
        plain = copy.deepcopy(lstm)
        return lambda rows, ends: run_lstm(plain, rows, StaticRagged(ends, rows.shape[1])) + error

    return made


def with_own_kernels(network):
    return {module.kernel is not None for module in network.modules() if isinstance(module, BidirectionalLstm)}


def test_lstms_are_given_kernels_that_are_right_and_keep_off_others():
    network = tiny_kokoro(torch.float32)
    with capture_logs() as logs:
        use_lstm_kernel(network, lstm_kernel(error=1e-6))
        use_lstm_kernel(network, lambda lstm: 1 / 0)
    assert with_own_kernels(network) == {False}
    assert ["off by" in logs[0]["reason"], logs[1]["reason"]] == [True, "division by zero"]
    use_lstm_kernel(network, lstm_kernel())
    assert with_own_kernels(network) == {True}


def block_kernel(error=0.0):
    """PyTorch's block in place of a kernel, off by so much."""

    def computed(block, hidden, film, mask):
        plain = copy.deepcopy(block).float()
        plain.kernel, plain.utterance_film, plain.film.forward = None, None, lambda _: film
        return plain(hidden, Condition(hidden), mask) + error

    return computed


def block_dtypes(wren):
    blocks = [module for module in wren.modules() if isinstance(module, ConvNeXtBlock)]
    return {(block.kernel is not None, block.expand.weight.dtype, block.contract.weight.dtype) for block in blocks}


@each_row("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_blocks_take_up_a_kernel_that_is_right_and_its_precision(dtype):
    wren = tiny_wren()
    use_block_kernel(wren, block_kernel(), dtype)
    assert block_dtypes(wren) == {(True, dtype, dtype)}


def test_blocks_keep_off_a_kernel_that_errs_or_fails_and_their_own_precision():
    wren = tiny_wren()
    with capture_logs() as logs:
        use_block_kernel(wren, block_kernel(error=1.0), torch.float16)
        use_block_kernel(wren, lambda *_: 1 / 0, torch.float16)
    assert block_dtypes(wren) == {(False, torch.float32, torch.float32)}
    assert ["off by" in logs[0]["reason"], logs[1]["reason"]] == [True, "division by zero"]


def test_a_small_gpu_has_one_lane(monkeypatch):
    counts = []
    for free in (15 << 30, 17 << 30):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device, free=free: (free, 80 << 30))
        counts.append(native_loading._lane_counts(torch.device("cuda")))
    assert counts == [(1, 0), (2, 1)]


def test_models_with_the_small_decoder_share_one_network_while_either_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(wren_loading, "KokoroFront", lambda *given: given)
    monkeypatch.setattr(wren_loading, "WrenDecoder", lambda *given: given)
    model = tmp_path / "model.onnx"
    model.write_bytes(b"weights")
    load_wren = getattr(wren_loading.load_wren, "__wrapped__", wren_loading.load_wren)  # which tests keep loaded
    first, again, more_threads = (load_wren(model, threads) for threads in (1, 1, 2))
    assert first is again is not more_threads
    os.utime(model, ns=(0, 0))
    assert load_wren(model, 1) is not first, "another file was installed"
    before = len(wren_loading._loaded)
    del again, more_threads, first
    assert len(wren_loading._loaded) == before - 2
