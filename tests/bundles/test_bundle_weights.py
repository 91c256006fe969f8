import os

import pytest
import torch
from safetensors.torch import save_file

from polyvox.bundles.weights import read_plain, read_weights
from polyvox.errors import BundleError

STATE = {"a.weight": torch.arange(6.0).view(2, 3), "b": torch.ones(1, dtype=torch.float16)}


class Hostile:
    def __reduce__(self):
        return os.system, ("true",)


@pytest.mark.parametrize("name", ["model.safetensors", "model.pt"])
def test_both_formats_give_the_same_tensors(tmp_path, name):
    path = tmp_path / name
    save_file(STATE, path) if name.endswith("safetensors") else torch.save(STATE, path)
    read = read_weights(path)
    assert set(read) == set(STATE)
    assert all(torch.equal(read[key], STATE[key]) for key in STATE)


def test_a_file_that_would_run_code_is_refused_and_runs_nothing(tmp_path):
    torch.save({"a": Hostile()}, tmp_path / "model.pt")
    with pytest.raises(BundleError, match=r"model\.pt cannot be read as plain tensors"):
        read_weights(tmp_path / "model.pt")


@pytest.mark.parametrize("content", [{"a": 1}, [torch.ones(1)], {"a": {"b": torch.ones(1)}}])
def test_what_is_not_a_state_dict_is_refused(tmp_path, content):
    torch.save(content, tmp_path / "model.pt")
    with pytest.raises(BundleError, match="not a state dict"):
        read_weights(tmp_path / "model.pt")


def test_plain_containers_of_tensors_can_be_read(tmp_path):
    torch.save({"speaker": {"embedding": torch.ones(1, 192), "prompt_text": "so"}}, tmp_path / "speakers.pt")
    speakers = read_plain(tmp_path / "speakers.pt")
    assert speakers["speaker"]["embedding"].shape == (1, 192)


@pytest.mark.parametrize("name", ["model.safetensors", "model.pt"])
def test_damaged_and_missing_files_say_so(tmp_path, name):
    with pytest.raises(BundleError, match=name):
        read_weights(tmp_path / name)
    (tmp_path / name).write_bytes(b"\x01\x02 not weights")
    with pytest.raises(BundleError, match=name):
        read_weights(tmp_path / name)


def test_an_unknown_kind_of_file_is_refused(tmp_path):
    with pytest.raises(BundleError, match="not a file of weights"):
        read_weights(tmp_path / "model.npz")
