"""Device placement: which device models end up on, and the warnings."""

import pytest

torch = pytest.importorskip("torch")

from helpers.tables import each_row  # noqa: E402
from polyvox.runtime.placement import CPU, DeviceRequest, Placement, place_models, try_on_gpu  # noqa: E402


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)


def test_a_gpu_that_works_is_taken(gpu):
    assert place_models("It", DeviceRequest("auto", "auto"), lambda place: place.device) == (
        "cuda",
        Placement("cuda", torch.bfloat16),
        "",
    )


@pytest.mark.parametrize(
    ("precision", "dtype"), [("auto", torch.float16), ("bfloat16", torch.bfloat16), ("float32", torch.float32)]
)
def test_a_named_precision_goes_before_the_usual_one(gpu, precision, dtype):
    made = try_on_gpu(DeviceRequest("cuda", precision, auto_dtype=torch.float16), lambda place: place)
    assert made.models == Placement("cuda", dtype)


def test_a_gpu_that_fails_is_left_with_a_warning(gpu):
    def load(place):
        if place.device == "cuda":
            raise RuntimeError("no kernel image\nand more")
        return place.device

    device, place, warning = place_models("It", DeviceRequest("auto", "auto"), load)
    assert (device, place) == ("cpu", CPU)
    assert warning.startswith("The GPU failed its test (no kernel image), so It runs on the CPU")


@pytest.mark.parametrize(("device", "warned"), [("auto", False), ("cpu", False), ("cuda", True)])
def test_the_cpu_is_worth_a_warning_only_where_a_gpu_was_asked_for(monkeypatch, device, warned):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    made, place, warning = place_models("It", DeviceRequest(device, "auto"), lambda place: place.device)
    assert (made, place, bool(warning)) == ("cpu", CPU, warned)


def test_the_cpu_is_taken_beside_a_gpu_where_it_was_asked_for(gpu):
    assert place_models("It", DeviceRequest("cpu", "auto"), lambda place: place.device)[0] == "cpu"


@each_row(("precision", "dtype"), [("auto", torch.float32), ("bfloat16", torch.bfloat16)])
def test_networks_that_can_run_in_less_on_the_cpu_get_the_precision_asked_for(precision, dtype):
    request = DeviceRequest("cpu", precision)
    assert place_models("It", request, lambda place: place, request.cpu)[0] == Placement("cpu", dtype)


def test_an_engine_with_a_fallback_of_its_own_words_the_warning_itself(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    attempt = try_on_gpu(DeviceRequest("cuda"), lambda place: place)
    assert attempt.models is None
    assert attempt.warn("It runs on ONNX Runtime") == (
        "PyTorch finds no GPU, so It runs on ONNX Runtime; check driver and PyTorch build."
    )
    assert try_on_gpu(DeviceRequest("auto"), lambda place: place).warn("It runs elsewhere") == ""


def test_an_error_that_is_not_the_device_s_passes_through(gpu):
    def load(place):
        raise ValueError("the weights are broken")

    with pytest.raises(ValueError, match="broken"):
        try_on_gpu(DeviceRequest("auto"), load)


def test_apples_gpu_is_taken_only_where_it_is_asked_for_and_passes(monkeypatch):
    def load(place):
        if place.dtype == torch.float16:
            raise TypeError("mps has no such dtype")
        return place.device

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert place_models("It", DeviceRequest("mps"), load) == ("mps", Placement("mps", torch.float32), "")
    assert place_models("It", DeviceRequest("auto"), load) == ("cpu", CPU, "")
    device, _, warning = place_models("It", DeviceRequest("mps", "float16"), load)
    assert (device, warning.partition(", so")[0]) == ("cpu", "The GPU failed its test (mps has no such dtype)")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    device, _, warning = place_models("It", DeviceRequest("mps"), load)
    assert (device, warning.partition(", so")[0]) == ("cpu", "PyTorch finds no GPU of Apple's (mps)")


def test_a_mistake_of_ours_on_another_gpu_is_not_taken_for_the_devices(gpu):
    def load(place):
        raise TypeError("a mistake")

    with pytest.raises(TypeError):
        try_on_gpu(DeviceRequest("cuda"), load)
