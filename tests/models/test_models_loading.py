import pytest
import torch
from torch import nn

from helpers.tables import each_row
from polyvox.models.loading import WeightsError, fold_weight_norm, load, under, without_prefix

NEW_NAMES = ("parametrizations.weight.original0", "parametrizations.weight.original1")


def make():
    return nn.Linear(3, 2)


def state():
    return {"weight": torch.ones(2, 3), "bias": torch.zeros(2)}


def test_a_model_holds_the_given_tensors_and_needs_no_gradient():
    module = load(make, state())
    assert module(torch.ones(1, 3)).tolist() == [[3.0, 3.0]]
    assert not any(each.requires_grad for each in module.parameters())


@each_row(
    ("change", "complaint"),
    [
        ({"bias": None}, "lack bias"),
        ({"extra": torch.ones(1)}, "hold extra that the model does not have"),
        ({"weight": torch.ones(2, 4)}, r"wrong shape at weight \(\(2, 4\) for \(2, 3\)\)"),
    ],
)
def test_a_state_dict_that_does_not_fit_is_refused(change, complaint):
    changed = {name: tensor for name, tensor in (state() | change).items() if tensor is not None}
    with pytest.raises(WeightsError, match=complaint):
        load(make, changed)


@each_row("names", [("weight_g", "weight_v"), NEW_NAMES])
@each_row("kind", [nn.Conv1d, nn.ConvTranspose1d])
def test_weight_norm_is_folded_under_both_of_its_names(names, kind):
    normed = nn.utils.parametrizations.weight_norm(kind(4, 6, 3))
    with torch.no_grad():
        normed.parametrizations.weight.original0.mul_(3.0)
    published = normed.state_dict()
    renamed = {
        "up.bias": published["bias"],
        f"up.{names[0]}": published[NEW_NAMES[0]],
        f"up.{names[1]}": published[NEW_NAMES[1]],
    }
    folded = fold_weight_norm(renamed)
    assert set(folded) == {"up.weight", "up.bias"}
    torch.testing.assert_close(folded["up.weight"], normed.weight.detach())


def test_half_of_a_weight_norm_pair_is_refused():
    with pytest.raises(WeightsError, match="weight_v"):
        fold_weight_norm({"up.weight_g": torch.ones(2, 1, 1)})


def test_prefixes():
    names = {"generator.a": torch.ones(1), "b": torch.ones(1)}
    assert set(without_prefix("generator.", names)) == {"a", "b"}
    assert set(under("generator.", names)) == {"a"}
