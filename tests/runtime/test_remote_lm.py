"""The language model behind a server: every token once, every fault a typed error in time."""

import asyncio
import json
import random
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

from helpers.faulty_lm_server import faulty_server, speech
from helpers.tables import each_row
from polyvox.errors import DeadlineError, EngineError, InvalidRequestError, UnavailableError
from polyvox.runtime.remote_lm import RemoteLm, RemoteLmConfig
from polyvox.runtime.speech_token_parser import SpeechTokenParser
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parents[1] / "golden" / "ttsapi_stream"
PROMPT = Prompt(text="<|im_start|>husein: Hi.<|speech_start|>")
SAMPLING = SamplingParams(temperature=0.7, repetition_penalty=1.15)
LIMITS = GenerationLimits(3072)
CODES = [5, 65_535, 0, 12_345, 7]


@asynccontextmanager
async def remote(*scenes, **options):
    async with faulty_server(*scenes) as server:
        quick = {"first_token_seconds": 1.0, "stall_seconds": 0.3, "retry_seconds": 0.01}
        lm = RemoteLm(RemoteLmConfig(server.url, "TTS-model", **{**quick, **options}))
        try:
            yield lm, server
        finally:
            await lm.close()


async def spoken(lm, limits=LIMITS, prompt=PROMPT, sampling=SAMPLING):
    async with lm.generate(prompt, sampling, limits) as stream:
        return [token async for token in stream]


async def answers(client):
    await client.head()
    await client.texts(*map(speech, ([5], [65_535, 0], [12_345], [7])), end="stop")


async def fails(client):
    await client.head("500 Internal Server Error", "text/plain")


async def drops(client):
    client.writer.close()


async def test_tokens_come_in_order_and_the_body_is_the_original_s():
    async with remote(answers) as (lm, server):
        assert await spoken(lm) == CODES
    assert server.asked[0].body == {
        "model": "TTS-model",
        "prompt": "<|im_start|>husein: Hi.<|speech_start|>",
        "max_tokens": 3072,
        "temperature": 0.7,
        "repetition_penalty": 1.15,
        "stream": True,
    }
    assert "authorization" not in server.asked[0].headers


@each_row(
    ("answer", "sentence"),
    [
        ("200 OK", ""),
        ("404 Not Found", ""),
        ("401 Unauthorized", "set speechlm_api_key"),
        ("502 Bad Gateway", "answers 502"),
    ],
)
async def test_a_server_that_is_watched_says_whether_it_can_be_used(answer, sentence):
    async with remote(answers) as (lm, server):
        server.probed = answer
        await lm.watch()
        assert sentence in lm.obstacle
        assert bool(lm.obstacle) is bool(sentence)
        server.probed = "200 OK"
        await lm.probe()
        assert lm.obstacle == ""


async def test_a_server_is_asked_again_and_again_and_every_change_is_seen():
    statuses, seen, asked_often = iter((200, 502, 200, 200)), [], asyncio.Event()

    def answer(request: httpx.Request) -> httpx.Response:
        """When it is asked again, what the answer before has led to is settled."""
        seen.append(lm.obstacle)
        if len(seen) == 4:
            asked_often.set()
        return httpx.Response(next(statuses, 200))

    lm = RemoteLm(RemoteLmConfig("http://lm", "TTS-model", probe_seconds=0.2), httpx.MockTransport(answer))
    await lm.watch()
    async with asyncio.timeout(60):
        await asked_often.wait()
    await lm.close()
    assert [bool(obstacle) for obstacle in seen[:4]] == [False, False, True, False]
    assert "answers 502" in seen[2]


async def test_a_server_that_is_not_there_cannot_be_reached():
    async with faulty_server(answers) as server:
        lm = RemoteLm(RemoteLmConfig(server.url, "TTS-model"))
    await lm.watch()
    assert "cannot be reached" in lm.obstacle
    await lm.close()


async def test_what_is_unusual_is_asked_for_by_vllm_s_names():
    async with remote(answers, api_key="secret", first_code=None) as (lm, server):
        rules = SamplingParams(temperature=1.0, top_k=20, top_p=0.9, seed=7)
        await spoken(lm, GenerationLimits(50, min_tokens=4), Prompt(ids=(1, 2, 3)), rules)
    body = server.asked[0].body
    assert body["prompt"] == [1, 2, 3]
    assert {name: body[name] for name in ("top_k", "top_p", "seed", "min_tokens", "max_tokens")} == {
        "top_k": 20,
        "top_p": 0.9,
        "seed": 7,
        "min_tokens": 4,
        "max_tokens": 50,
    }
    assert server.asked[0].headers["authorization"] == "bearer secret"


async def test_deltas_and_bytes_may_be_cut_anywhere():
    ids = load_file(GOLDEN / "ragged_deltas.safetensors")["ids"].tolist()
    text, cuts = speech(ids), random.Random(3)

    async def ragged(client):
        await client.head()
        events, rest = b"", text
        while rest:
            size = cuts.randint(1, 23)
            event = {"choices": [{"text": rest[:size], "finish_reason": None}]}
            events += b": ping\r\n\r\ndata: " + json.dumps(event).encode() + b"\r\n\r\n"
            rest = rest[size:]
        events += b'data: {"choices": [{"text": "<|im_end|>", "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
        while events:
            size = cuts.randint(1, 400)
            await client.raw(events[:size])
            events = events[size:]

    async with remote(ragged) as (lm, _):
        assert await spoken(lm) == ids


async def test_token_ids_serve_as_well():
    async def ids(client):
        await client.head()
        for tokens in ([1005], [1006, 1000], [99]):
            await client.events({"choices": [{"text": "", "token_ids": tokens, "finish_reason": None}]})
        await client.left()

    async with remote(ids, first_code=1000, codes=100) as (lm, server):
        assert await spoken(lm) == [5, 6, 0]
        assert server.asked[0].body["return_token_ids"] is True


async def test_a_server_without_token_ids_is_told_apart():
    async with remote(answers, first_code=1000) as (lm, _):
        with pytest.raises(EngineError, match="no token ids"):
            await spoken(lm)


@each_row("fault", [fails, drops])
async def test_faults_before_the_first_token_are_tried_again(fault):
    async with remote(fault, fault, answers) as (lm, server):
        assert await spoken(lm) == CODES
    assert len(server.asked) == 3
    assert [client.body for client in server.asked] == [server.asked[0].body] * 3


async def test_a_drop_after_the_head_but_before_a_token_is_tried_again():
    async def torn(client):
        await client.head()
        await client.raw(b'data: {"choices": [{"te')

    async with remote(torn, answers) as (lm, server):
        assert await spoken(lm) == CODES
    assert len(server.asked) == 2


@each_row(("fault", "reason"), [(fails, "answered 500"), (drops, "broke off")])
async def test_a_server_that_goes_on_failing_is_unavailable(fault, reason):
    async with remote(fault) as (lm, server):
        with pytest.raises(UnavailableError, match=reason):
            await spoken(lm)
    assert len(server.asked) == 3


async def test_nobody_there_is_unavailable():
    async with remote(answers) as (_, server):
        url = server.url
    lm = RemoteLm(RemoteLmConfig(url, "m", retry_seconds=0.01))
    with pytest.raises(UnavailableError, match="could not be reached"):
        await spoken(lm)
    await lm.close()


async def test_a_drop_after_the_first_token_is_told_and_not_tried_again():
    async def half(client):
        await client.head()
        await client.texts(speech([5, 6]), "<|s_1")

    async with remote(half) as (lm, server), lm.generate(PROMPT, SAMPLING, LIMITS) as stream:
        assert await stream.read(2) == [5, 6]
        with pytest.raises(EngineError, match="in the middle"):
            await stream.read()
    assert len(server.asked) == 1


async def test_a_silent_server_is_given_up_in_time():
    async def silent(client):
        await client.left()

    async with remote(silent, first_token_seconds=0.2) as (lm, server):
        with pytest.raises(DeadlineError, match=r"no token within 0\.2 s"):
            await spoken(lm)
        await until(lambda: server.over == 1)


async def test_an_answer_that_stalls_is_given_up_in_time_even_if_it_keeps_the_line_busy():
    async def pings(client):
        await client.head()
        await client.texts(speech([5]))
        while True:
            await client.raw(b": still here\n\n")
            await asyncio.sleep(0.02)

    async with remote(pings, stall_seconds=0.2) as (lm, server):
        with pytest.raises(DeadlineError, match=r"nothing for 0\.2 s"):
            await spoken(lm)
        await until(lambda: server.over == 1)


@each_row(
    ("status", "error", "words"),
    [
        ("401 Unauthorized", UnavailableError, "speechlm_api_key"),
        ("404 Not Found", UnavailableError, "answered 404: no such model"),
        ("400 Bad Request", InvalidRequestError, "refused the request: no such model"),
    ],
)
async def test_refusals_are_told_at_once(status, error, words):
    async def refuses(client):
        await client.head(status, "text/plain")
        await client.raw(b"no such\n model.")

    async with remote(refuses) as (lm, server):
        with pytest.raises(error, match=words) as refusal:
            await spoken(lm)
    assert len(server.asked) == 1
    assert refusal.value.message.endswith(".")


@pytest.mark.long
@each_row(
    ("sent", "words"),
    [
        (b"data: {nonsense\n\n", "no JSON"),
        (b"data: [1]\n\n", "no object"),
        (b'data: {"choices": [7]}\n\n', "could not be read"),
        (b'data: {"error": {"message": "out of memory"}}\n\n', "out of memory"),
        (b'data: {"choices": [{"text": "<|s_65536|>"}]}\n\n', "65536"),
        (b"data: " + b"x" * 2_000_000, "line without end"),
        (b'data: {"choices": [{"text": "' + b"la " * 500 + b'"}]}\n\n', "instead of speech tokens"),
    ],
)
async def test_nonsense_is_told_apart(sent, words):
    async def talks(client):
        await client.head()
        await client.raw(sent)
        await client.left()

    async with remote(talks) as (lm, _):
        with pytest.raises(EngineError, match=words):
            await spoken(lm)


async def test_an_answer_without_end_stops_at_the_greatest_length():
    async def endless(client):
        await client.head()
        while True:
            await client.texts(speech(range(7)))
            await asyncio.sleep(0)

    async with remote(endless) as (lm, server):
        assert await spoken(lm, GenerationLimits(30)) == [place % 7 for place in range(30)]
        await until(lambda: server.over == 1)
    assert server.asked[0].body["max_tokens"] == 30


async def test_an_answer_without_tokens_is_an_empty_stream():
    async def nothing(client):
        await client.head()
        await client.texts(end="stop")

    async with remote(nothing) as (lm, _):
        assert await spoken(lm) == []
        with pytest.raises(InvalidRequestError, match="At least one token"):
            await spoken(lm, GenerationLimits(0))


@pytest.mark.long
async def test_a_reader_that_waits_holds_the_server_back():
    sent = 0

    async def eager(client):
        nonlocal sent
        await client.head()
        for _ in range(40_000):
            await client.texts(speech([1, 2, 3, 4, 5, 6, 7, 8]))
            sent += 8

    # The server shares this event loop and leaves it no turn until the connection is full.
    patient = {"max_unread": 20, "first_token_seconds": 30, "stall_seconds": 30}
    async with (
        remote(eager, **patient) as (lm, _),
        lm.generate(PROMPT, SAMPLING, GenerationLimits(10**6)) as stream,
    ):
        await until(lambda: stream.unread >= 20)
        before = -1
        while before != sent:
            before = sent
            await asyncio.sleep(0.15)
        assert stream.unread < 100
        assert sent < 320_000
        assert len(await stream.read(1_000)) >= 1_000


async def test_leaving_closes_the_connection():
    async def speaks(client):
        await client.head()
        await client.texts(speech([5]))
        await client.left()

    async with remote(speaks) as (lm, server):
        async with lm.generate(PROMPT, SAMPLING, LIMITS) as stream:
            assert await stream.read() == [5]
            assert server.over == 0
        await until(lambda: server.over == 1)


async def until(condition):
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@settings(deadline=None)
@given(
    codes=st.lists(st.integers(0, 65_535), max_size=30),
    cuts=st.lists(st.integers(1, 20), min_size=1, max_size=60),
    stray=st.sampled_from(["", " ", "<", "<|", "\n<|x|>"]),
)
def test_tokens_are_found_however_their_text_is_cut(codes, cuts, stray):
    text = "".join(stray + speech([code]) for code in codes) + "<|im_end|>" + speech([1])
    found, parser = [], SpeechTokenParser(65_536)
    for size in cuts * (1 + len(text) // sum(cuts)):
        found += parser.push(text[:size])
        text = text[size:]
    assert not text
    assert found == codes
    assert parser.ended
