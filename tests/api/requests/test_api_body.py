"""The body: counted before it is parsed, parsed before it is believed."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.fakes import tone_service
from helpers.serving import called, error_of
from helpers.tables import each_row
from polyvox.api.dialects.streamable import CloneBody
from polyvox.api.requests.body import MAX_ITEMS, parse_json
from polyvox.api.requests.forms import Fields
from polyvox.errors import InvalidRequestError

SPEECH = "/v1/audio/speech"
JSON = {"Content-Type": "application/json"}


@pytest.mark.anyio
async def test_an_announced_body_over_the_limit_is_not_read():
    async with called(tone_service(max_body_bytes=1_024)) as client:
        refused = await client.post(SPEECH, json={"input": "word " * 1_000})
    assert refused.status_code == 413
    assert error_of(refused)["code"] == "request_too_large"
    assert refused.headers["connection"] == "close"


@pytest.mark.anyio
async def test_a_body_that_announces_nothing_is_counted():
    taken = 0

    async def endless():
        nonlocal taken
        while taken < 1_000:
            taken += 1
            yield b" " * 512

    async with called(tone_service(max_body_bytes=1_024)) as client:
        refused = await client.post(SPEECH, content=endless(), headers=JSON)
    assert refused.status_code == 413
    assert taken == 3


@pytest.mark.anyio
async def test_a_body_at_the_limit_passes():
    body = json.dumps({"input": "Hello."}).encode()
    padded = body + b" " * (1_024 - len(body))
    async with called(tone_service(max_body_bytes=1_024)) as client:
        assert (await client.post(SPEECH, content=padded, headers=JSON)).status_code == 200
        assert (await client.post(SPEECH, content=padded + b" ", headers=JSON)).status_code == 413


@pytest.mark.anyio
async def test_a_long_body_within_the_limit_is_parsed_all_the_same():
    async with called(tone_service()) as client:
        response = await client.post(SPEECH, json={"input": "Hello.", "padding": "x" * 100_000})
    assert response.status_code == 200


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_what_is_json_is_parsed_as_it_was_written(value):
    assert parse_json(json.dumps(value).encode()) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary())
def test_whatever_comes_is_parsed_or_refused(data):
    with contextlib.suppress(InvalidRequestError):
        parse_json(data)


def test_the_place_of_a_mistake_is_named():
    with pytest.raises(InvalidRequestError, match="line 2, column 10"):
        parse_json(b'{\n "input" "a"}')


@each_row(
    ("value", "complaint"),
    [
        ({"tags": [1] * (MAX_ITEMS + 1)}, "'tags' has 10001 items"),
        ({str(number): 1 for number in range(MAX_ITEMS + 1)}, "has 10001 names"),
        ({"inner": {str(number): 1 for number in range(MAX_ITEMS + 1)}}, "has 10001 names"),
    ],
)
def test_more_items_or_names_than_anybody_needs_are_refused_before_any_is_checked(value, complaint) -> None:
    with pytest.raises(InvalidRequestError, match=complaint):
        parse_json(json.dumps(value).encode())


def test_a_list_in_a_form_is_measured_before_it_is_parsed():
    form = {"reference_text": "a", "generate_text": "b"}
    assert Fields(form | {"reference_codes": "[1,2]"}, is_form=True).parsed(CloneBody).reference_codes == [1, 2]
    with pytest.raises(InvalidRequestError, match="131,072 characters") as error:
        Fields(form | {"reference_codes": "[" + "1," * 200_000 + "1]"}, is_form=True).parsed(CloneBody)
    assert error.value.field == "reference_codes"
