"""Random styles: how often they take which voice, and how far from all voices they lie."""

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


def distances(far: float) -> torch.Tensor:
    """How far nine of ten random styles lie at most from voices that are all alike: timbre and prosody.

    The unit is the deviation of a style's rows.
    """
    rows = torch.randn(200, 8, generator=torch.Generator().manual_seed(3))
    voices = StyleTables(NAMES, rows.expand(3, -1, -1), None, far)
    rng = random.Random(5)
    drawn = torch.stack([voices.sample("a", 9, rng) - rows[8] for _ in range(400)])
    return drawn.view(400, 2, 4).pow(2).mean(dim=-1).sqrt().quantile(0.9, dim=0)


def test_far_styles_reach_the_timbres_of_fitted_voices_and_leave_the_prosody_near() -> None:
    torch.manual_seed(1)
    timbre, prosody = distances(1.0)
    assert timbre > 1.7
    assert 0 < prosody < 0.75 * timbre
    assert distances(0.0).max() < 1e-3
