from pathlib import Path

import pytest

from polyvox.bundles.manifest import manifest_named
from polyvox.errors import UnavailableError
from polyvox.evaluate.metric import Metric
from polyvox.evaluate.scorers import Scorers, compare_words


@pytest.mark.parametrize(
    ("text", "transcript", "errors", "words"),
    [
        ("The cat sat.", "the cat sat", 0, 3),
        ("The train leaves at 9:42.", "The train leaves at nine forty-two.", 0, 7),
        ("Dr. Hale paid $20.", "Doctor Hale paid 20 dollars.", 0, 5),
        ("Say [Kokoro](/kəkˈɔɹO/) now [pause:1s] please.", "Say Kokoro now, please.", 0, 4),
        ("**Stop** there.", "Stop there.", 0, 2),
        ("One two three.", "One three.", 1, 3),
        ("One two three.", "", 3, 3),
        ("One.", "One two.", 1, 1),
    ],
)
def test_words_are_compared_as_they_are_said(text, transcript, errors, words):
    found = compare_words(text, transcript)
    assert (found.errors, found.words) == (errors, words)


def test_every_metric_has_a_model_that_can_be_pulled():
    assert {metric.bundle for metric in Metric} == {"moonshine-base", "campplus", "distillmos", "dnsmos"}
    assert all(manifest_named(metric.bundle) for metric in Metric)


def test_all_missing_models_are_named_at_once(tmp_path: Path):
    with pytest.raises(UnavailableError) as caught:
        Scorers.of(list(Metric), tmp_path, 1)
    for metric in Metric:
        assert f"polyvox pull {metric.bundle}" in caught.value.message


def test_models_of_other_metrics_are_not_needed(tmp_path: Path):
    assert Scorers.of([], tmp_path, 1) == Scorers()
    with pytest.raises(UnavailableError) as caught:
        Scorers.of([Metric.DNSMOS], tmp_path, 1)
    assert "campplus" not in caught.value.message
