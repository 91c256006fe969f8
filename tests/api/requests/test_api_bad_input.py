"""Bad input gets a 4xx with one sentence and the field's name, and the server goes on."""

import asyncio
import json
import time

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.fakes import ToneEngine, tone_service
from helpers.serving import called, error_of
from helpers.tables import each_row

pytestmark = pytest.mark.anyio

SPEECH = "/v1/audio/speech"
JSON = {"Content-Type": "application/json"}

FIELDS = {
    "input missing": ({}, "input"),
    "input null": ({"input": None}, "input"),
    "input empty": ({"input": ""}, "input"),
    "input blank": ({"input": " \n\t "}, "input"),
    "input of a megabyte": ({"input": "word " * 200_000}, "input"),
    "input not text": ({"input": 5}, "input"),
    "input a list": ({"input": ["a"]}, "input"),
    "input with NUL": ({"input": "a\x00b"}, "input"),
    "input with escape codes": ({"input": "\x1b[31mred"}, "input"),
    "input with C1 controls": ({"input": "a\x9bb"}, "input"),
    "input only symbols": ({"input": "+ = +"}, "input"),
    "input only emoji": ({"input": "😀🎉"}, "input"),
    "voice unknown": ({"input": "a", "voice": "nobody"}, "voice"),
    "voice a number": ({"input": "a", "voice": 3}, "voice"),
    "voice without id": ({"input": "a", "voice": {"name": "low"}}, "voice"),
    "voice id a number": ({"input": "a", "voice": {"id": 1}}, "voice"),
    "voice a path": ({"input": "a", "voice": "../../etc/passwd"}, "voice"),
    "model unknown": ({"input": "a", "model": "nothing"}, "model"),
    "model a list": ({"input": "a", "model": []}, "model"),
    "format unknown": ({"input": "a", "response_format": "midi"}, "response_format"),
    "format a number": ({"input": "a", "response_format": 1}, "response_format"),
    "speed zero": ({"input": "a", "speed": 0}, "speed"),
    "speed negative": ({"input": "a", "speed": -1}, "speed"),
    "speed a hundred": ({"input": "a", "speed": 100}, "speed"),
    "speed a word": ({"input": "a", "speed": "fast"}, "speed"),
    "speed a truth": ({"input": "a", "speed": True}, "speed"),
    "stream a word": ({"input": "a", "stream": "maybe"}, "stream"),
    "stream_format unknown": ({"input": "a", "stream_format": "carrier-pigeon"}, "stream_format"),
    "instructions a number": ({"input": "a", "instructions": 1}, "instructions"),
    "lang_code nonsense": ({"input": "a", "lang_code": "!!"}, "lang_code"),
    "lang_code a number": ({"input": "a", "lang_code": 1}, "lang_code"),
    "volume zero": ({"input": "a", "volume_multiplier": 0}, "volume_multiplier"),
    "volume negative": ({"input": "a", "volume_multiplier": -1}, "volume_multiplier"),
    "seed negative": ({"input": "a", "seed": -1}, "seed"),
    "seed fractional": ({"input": "a", "seed": 1.5}, "seed"),
    "seed too big": ({"input": "a", "seed": 2**63}, "seed"),
    "sample rate of zero": ({"input": "a", "sample_rate": 0}, "sample_rate"),
    "sample rate of a gigahertz": ({"input": "a", "sample_rate": 10**9}, "sample_rate"),
    "loudness too loud": ({"input": "a", "loudness": 0}, "loudness"),
    "normalisation not an object": ({"input": "a", "normalization_options": []}, "normalization_options"),
    "normalisation not a truth": (
        {"input": "a", "normalization_options": {"normalize": "perhaps"}},
        "normalization_options.normalize",
    ),
}

BODIES = {
    "speed not a number": (b'{"input": "a", "speed": NaN}', "speed"),
    "speed infinite": (b'{"input": "a", "speed": 1e999}', "speed"),
    "speed of five thousand digits": (b'{"input": "a", "speed": 1' + b"0" * 5_000 + b"}", "speed"),
    "seed of five thousand digits": (b'{"input": "a", "seed": 1' + b"0" * 5_000 + b"}", "seed"),
    "duplicate keys": (b'{"input": "a", "voice": "low", "voice": "high"}', "voice"),
    "duplicate keys deep down": (b'{"input": "a", "x": {"y": 1, "y": 2}}', "y"),
    "half a surrogate pair": (b'{"input": "\\ud83d"}', None),
    "half a surrogate pair as a key": (b'{"\\ud83d": 1, "\\ud83d": 2}', "?"),
    "broken JSON": (b'{"input": "a"', None),
    "no JSON": (b"input=a", None),
    "nothing": (b"", None),
    "an array": (b'["input"]', None),
    "a string": (b'"input"', None),
    "null": (b"null", None),
    "invalid UTF-8": (b'{"input": "\xff\xfe"}', None),
    "UTF-16": ('{"input": "a"}'.encode("utf-16"), None),
    "nested lists": (b"[" * 100_000, None),
    "nested objects": (b'{"a":' * 100_000, None),
    "nested field": (b'{"input": ' + b"[" * 500 + b"]" * 500 + b"}", "input"),
}


@pytest.mark.long
@each_row(("body", "field"), FIELDS.values())
async def test_a_bad_field_is_named(body, field):
    async with called(tone_service()) as client:
        refused = await client.post(SPEECH, json=body)
        served = await client.post(SPEECH, json={"input": "Still here."})
    assert 400 <= refused.status_code < 500
    assert error_of(refused)["param"] == field
    assert error_of(refused)["type"] == "invalid_request_error"
    assert served.status_code == 200


@pytest.mark.long
@each_row(("body", "field"), BODIES.values())
async def test_a_bad_body_is_refused(body, field):
    async with called(tone_service()) as client:
        refused = await client.post(SPEECH, content=body, headers=JSON)
        served = await client.post(SPEECH, json={"input": "Still here."})
    assert refused.status_code == 400
    assert error_of(refused)["param"] == field
    assert served.status_code == 200


@each_row("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_a_body_that_is_not_labelled_json_is_refused(kind):
    headers = {} if kind is None else {"Content-Type": kind}
    async with called(tone_service()) as client:
        refused = await client.post(SPEECH, content=b'{"input": "a"}', headers=headers)
    assert refused.status_code == 400
    assert "application/json" in error_of(refused)["message"]


@each_row("kind", ["application/json", "Application/JSON; charset=utf-8", "application/vnd.api+json"])
async def test_a_body_that_is_labelled_json_is_read(kind):
    async with called(tone_service()) as client:
        response = await client.post(SPEECH, content=b'\xef\xbb\xbf{"input": "a"}', headers={"Content-Type": kind})
    assert response.status_code == 200


async def test_white_space_of_all_kinds_is_no_control_character():
    async with called(tone_service()) as client:
        response = await client.post(SPEECH, json={"input": "one\r\ntwo\tthree\x0bfour\x0cfive\x85six"})
    assert response.status_code == 200


async def test_unknown_paths_and_methods_have_the_same_shape():
    async with called(tone_service()) as client:
        missing = await client.get("/v1/nothing")
        wrong = await client.get(SPEECH)
        bad_query = await client.get("/v1/audio/voices", params={"legacy": "perhaps"})
    assert (missing.status_code, error_of(missing)["code"]) == (404, "not_found")
    assert (wrong.status_code, error_of(wrong)["code"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "POST"
    assert (bad_query.status_code, error_of(bad_query)["param"]) == (400, "legacy")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KNOWN_FIELDS = st.sampled_from(
    "input voice model instructions response_format speed stream_format stream lang_code volume_multiplier "
    "normalization_options seed sample_rate loudness".split()
)


@pytest.mark.long
@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.dictionaries(KNOWN_FIELDS, JSON_VALUES, max_size=6))
async def test_no_json_at_all_makes_the_server_fail(body):
    async with called(tone_service(ToneEngine(chunks=1, chunk_seconds=0.02))) as client:
        response = await client.post(SPEECH, content=json.dumps({"input": "a"} | body), headers=JSON)
    assert response.status_code in {200, 400, 404}
    if response.status_code != 200:
        error_of(response)


@each_row(
    ("path", "body", "field"),
    [
        ("/v1/audio/dialogue", '{"turns":[' + "1," * 2_000_000 + "1]}", "turns"),
        ("/v1/audio/dialogue", '{"turns":[' + "1," * 9_000 + "1]}", "turns[0]"),
        ("/v1/voices", '{"name":"anna","audio":"base64+AAAA","tags":[' + "1," * 2_000_000 + "1]}", "tags"),
        ("/v1/voices", '{"name":"anna","audio":"base64+AAAA","tags":[' + "1," * 9_000 + "1]}", "tags[0]"),
    ],
)
@pytest.mark.long
async def test_a_long_list_does_not_hold_others_up(path, body, field):
    gaps, done = [], asyncio.Event()

    async def others():
        while not done.is_set():
            began = time.perf_counter()
            await asyncio.sleep(0.005)
            gaps.append(time.perf_counter() - began)

    watcher = asyncio.create_task(others())
    async with called(tone_service(max_body_bytes=8_388_608)) as client:
        response = await client.post(path, content=body.encode(), headers=JSON)
    done.set()
    await watcher
    assert response.status_code == 400
    assert error_of(response)["param"] == field
    assert len(response.content) < 500
    assert max(gaps) < 2.0
