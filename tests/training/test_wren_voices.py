"""How often random styles take which voice."""

import random

import pytest

torch = pytest.importorskip("torch")

from training.wren.voices import StyleTables  # noqa: E402

NAMES = ["af_one", "af_two", "bf_three"]


def tables(weights=None) -> StyleTables:
    return StyleTables(NAMES, torch.eye(3).repeat_interleave(4, dim=0).view(3, 4, 3), weights)


def share(drawn: StyleTables, index: int) -> float:
    rng = random.Random(7)
    styles = torch.stack([drawn.sample("a", 2, rng) for _ in range(600)])
    return float((styles.argmax(dim=1) == index).float().mean())


def test_a_weight_draws_a_voice_more_often() -> None:
    torch.manual_seed(1)
    assert share(tables(), 0) < 0.6
    assert share(tables({"af_one": 8}), 0) > 0.75


def test_an_unknown_voice_is_refused() -> None:
    with pytest.raises(ValueError, match="no voice af_none"):
        tables({"af_none": 2})
