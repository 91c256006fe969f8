from pathlib import Path

import pytest

from helpers.tables import each_row
from polyvox.bundles.manifest import manifest_named
from polyvox.errors import UnavailableError
from polyvox.evaluate.metric import Metric
from polyvox.evaluate.scorers import Scorers
from polyvox.evaluate.wording import compare_words, plain_form, reading_errors


@each_row(
    ("form", "transcript", "errors", "words"),
    [
        ("The cat sat.", "the cat sat", 0, 3),
        ("The train leaves at nine forty-two.", "The train leaves at 9:42.", 0, 7),
        ("Doctor Hale paid twenty dollars.", "Dr. Hale paid $20.", 0, 5),
        ("The A P I's are up at three P M.", "The APIs are up at 3 p.m.", 0, 7),
        ("One two three.", "One three.", 1, 3),
        ("One two three.", "", 3, 3),
        ("One.", "One two.", 1, 1),
    ],
)
def test_words_are_compared_as_they_are_said(form, transcript, errors, words):
    found = compare_words([form], transcript)
    assert (found.errors, found.words) == (errors, words)


def test_the_reference_is_what_people_say_and_not_what_the_normaliser_makes_of_it():
    """Both sides through one normaliser agreed on "May third" for a fraction, whatever was said."""
    assert compare_words(["size five thirds"], "size May third").errors == 2
    assert reading_errors("It weighs 5 stone.", ["it weighs five stone"]).errors == 0
    assert reading_errors("It weighs 5 qv.", ["it weighs five stone"]).errors > 0


def test_any_of_several_spoken_forms_is_right():
    assert compare_words(["a hundred five", "one hundred and five"], "one hundred and five").errors == 0


@each_row(
    ("text", "form"),
    [
        ("The cat sat.", "The cat sat."),
        ("**Stop** there.", "Stop there."),
        ("Say [Kokoro](/kəkˈɔɹO/) now [pause:1s] please.", "Say Kokoro now   please."),
        ("It is 9:42.", None),
        ("Ask Dr. Hale.", None),
    ],
)
def test_a_text_of_words_is_its_own_spoken_form(text, form):
    assert plain_form(text) == form


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
