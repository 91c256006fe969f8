"""Where networks end up, whatever the machine claims to have."""

import pytest

torch = pytest.importorskip("torch")

from polyvox.runtime.placement import CPU, Placement, Wish, placed, tried_on_gpu  # noqa: E402


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)


def test_a_gpu_that_works_is_taken(gpu):
    assert placed("It", Wish("auto", "auto"), lambda place: place.device) == (
        "cuda",
        Placement("cuda", torch.bfloat16),
        "",
    )


@pytest.mark.parametrize(
    ("precision", "dtype"), [("auto", torch.float16), ("bfloat16", torch.bfloat16), ("float32", torch.float32)]
)
def test_a_named_precision_goes_before_the_usual_one(gpu, precision, dtype):
    made = tried_on_gpu(Wish("cuda", precision, auto=torch.float16), lambda place: place)
    assert made.models == Placement("cuda", dtype)


def test_a_gpu_that_fails_is_left_with_a_warning(gpu):
    def load(place):
        if place.device == "cuda":
            raise RuntimeError("no kernel image\nand more")
        return place.device

    device, place, warning = placed("It", Wish("auto", "auto"), load)
    assert (device, place) == ("cpu", CPU)
    assert warning.startswith("The GPU failed its test (no kernel image), so It runs on the CPU")


@pytest.mark.parametrize(("device", "warned"), [("auto", False), ("cpu", False), ("cuda", True)])
def test_the_cpu_is_worth_a_warning_only_where_a_gpu_was_asked_for(monkeypatch, device, warned):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    made, place, warning = placed("It", Wish(device, "auto"), lambda place: place.device)
    assert (made, place, bool(warning)) == ("cpu", CPU, warned)


def test_the_cpu_is_taken_beside_a_gpu_where_it_was_asked_for(gpu):
    assert placed("It", Wish("cpu", "auto"), lambda place: place.device)[0] == "cpu"
