"""Tuning parameters: typed, bounded, and those of other families passed over."""

import math

import pytest
from pydantic import Field, ValidationError

from helpers.tables import each_row
from polyvox.engines.kit.tuning import Tuning
from polyvox.errors import InvalidRequestError


class ToyTuning(Tuning):
    guidance: float | None = Field(None, ge=0.5, le=2.0)
    steps: int | None = Field(None, ge=1, le=64)
    label: str | None = None


def refused(**parameters):
    with pytest.raises(InvalidRequestError) as caught:
        ToyTuning.of(parameters)
    return caught.value.field, caught.value.message


def test_parameters_of_other_families_are_passed_over():
    tuning = ToyTuning.of({"guidance": 1.5, "temperature": 99})
    assert (tuning.guidance, tuning.steps) == (1.5, None)


def test_a_value_out_of_bounds_is_refused_with_the_bounds():
    assert refused(guidance=3.0) == ("guidance", "guidance must lie between 0.5 and 2, not 3.")
    assert refused(steps=0) == ("steps", "steps must lie between 1 and 64, not 0.")


@each_row("value", [math.nan, math.inf])
def test_values_that_are_not_finite_are_refused(value):
    assert refused(guidance=value)[0] == "guidance"


def test_a_fraction_in_place_of_a_whole_number_is_refused():
    assert refused(steps=1.5) == ("steps", "steps must be a whole number, not 1.5.")


def test_a_value_of_another_type_is_refused():
    field, message = refused(label=7)
    assert field == "label"
    assert message.startswith("label is not acceptable (")


def test_bounds_are_those_of_the_field():
    assert ToyTuning.bounds("guidance") == (0.5, 2.0)
    assert ToyTuning.bounds("label") == (None, None)


def test_tuning_is_immutable():
    with pytest.raises(ValidationError):
        ToyTuning().steps = 3
