"""ElevenLabs' sockets: texts that are still being written, and their audio."""

import asyncio
from collections.abc import Iterator

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from helpers.elevenlabs_sockets import WordlessEngine, connected
from helpers.fakes import TONES, ToneEngine, tone, tone_service
from helpers.serving import decoded_seconds, served, wait_for
from helpers.tables import each_row
from polyvox.audio.pcm import to_pcm16

SINGLE = "/v1/text-to-speech/low/stream-input"
MULTI = "/v1/text-to-speech/low/multi-stream-input"
DIALOGUE = "/v1/text-to-dialogue/multi-stream-input"
PCM = {"output_format": "pcm_24000"}

pytestmark = pytest.mark.anyio


class PacedEngine(ToneEngine):
    """A tone engine whose texts of the word `slow` take a while for each chunk."""

    async def speak(self, utterance):
        async for chunk in super().speak(utterance):
            await asyncio.sleep(0.15 if "slow" in utterance.text else 0.0)
            yield chunk


@pytest.fixture(scope="module")
def engine() -> PacedEngine:
    return PacedEngine()


@pytest.fixture(scope="module")
def url(engine: PacedEngine) -> Iterator[str]:
    with served(
        tone_service(engine, max_contexts_per_connection=4, elevenlabs_voices="21m00Tcm4TlvDq8ikWAM=high")
    ) as at:
        yield at


def is_tone(audio: bytes, voice: str) -> bool:
    """Whether audio is whole generations of a voice's tone, each of which begins anew."""
    one = to_pcm16(tone(TONES[voice], 0, 7_200, 24_000))
    return bool(audio) and audio == one * (len(audio) // len(one))


def characters(alignments: list) -> str:
    return "".join(char for one in alignments for char in one["chars"])


async def test_one_text_is_spoken_as_it_comes_and_ends_with_a_proper_close(url):
    async with connected(url, SINGLE, **PCM) as client:
        await client.say(
            {"text": " ", "voice_settings": {"stability": 0.5}, "generation_config": {"chunk_length_schedule": [50]}},
            {"text": "One two ", "try_trigger_generation": True},
            {"text": "three. ", "try_trigger_generation": True},
            {"text": ""},
        )
        assert await client.close_code() == 1000
    assert client.seen[-1] == {"audio": None, "isFinal": True, "alignment": None, "normalizedAlignment": None}
    assert is_tone(client.audio(isFinal=None), "low")
    assert characters(client.alignments()).split() == ["One", "two", "three."]
    assert client.alignments() == client.alignments("normalizedAlignment")


async def test_a_flush_speaks_at_once_and_speed_is_used(url, engine):
    async with connected(url, SINGLE, **PCM) as client:
        await client.say({"text": " ", "voice_settings": {"speed": 2.0}}, {"text": "One two three", "flush": True})
        await client.receive()
        assert engine.heard[-1].speed == 2.0
        await client.say({"text": ""})
        assert await client.close_code() == 1000
    assert len(client.audio()) == 7_200


async def test_an_mp3_of_several_generations_is_one_stream(url):
    async with connected(url, MULTI, output_format="mp3_44100_64", auto_mode="true") as client:
        await client.say({"text": " ", "context_id": "a"})
        for _ in range(4):
            await client.say({"text": "One two three. ", "context_id": "a", "flush": True})
        await client.say({"context_id": "a", "close_context": True})
        await client.until(isFinal=True)
    assert decoded_seconds(client.audio()) == pytest.approx(1.2, abs=0.06), "four encoders would add their delays"


@pytest.mark.parametrize("synced", [True, False])
async def test_times_count_from_the_context_or_from_each_message(url, synced):
    options = {"auto_mode": "true"} | ({"sync_alignment": "true"} if synced else {})
    async with connected(url, MULTI, **PCM, **options) as client:
        await client.say(
            {"text": " ", "context_id": "a"},
            {"text": "One two three.", "context_id": "a"},
            {"text": "Four five six.", "context_id": "a"},
            {"context_id": "a", "close_context": True},
        )
        await client.until(isFinal=True)
    found = client.alignments(contextId="a")
    assert characters(found).split() == ["One", "two", "three.", "Four", "five", "six."]
    assert all(one["chars"][-1] == " " for one in found), "clients take a word as complete at a space"
    spans = [one["charStartTimesMs"][-1] + one["charDurationsMs"][-1] for one in found]
    lengths = [100] * 6
    if synced:
        starts = [time for one in found for time in one["charStartTimesMs"]]
        assert starts == sorted(starts)
        assert spans == [sum(lengths[: place + 1]) for place in range(6)]
    else:
        assert spans == lengths, "what clients add up must be the length of the audio"
        assert all(one["charStartTimesMs"][0] == 0 for one in found)


@pytest.mark.long
async def test_contexts_do_not_mix_and_end_one_by_one(url):
    async with connected(url, MULTI, **PCM, auto_mode="true") as client:
        for name in "abc":
            await client.say({"text": " ", "context_id": name}, {"text": f"{name} slow words. ", "context_id": name})
        for name in "abc":
            await client.say({"context_id": name, "close_context": True})
        for _ in "abc":
            await client.until(isFinal=True)
    assert sorted(one["contextId"] for one in client.seen if one.get("isFinal")) == ["a", "b", "c"]
    for name in "abc":
        assert is_tone(client.audio(contextId=name), "low")
        assert characters(client.alignments(contextId=name)).split() == [name, "slow", "words."]
    order = [one["contextId"] for one in client.seen if one.get("audio")]
    assert order != sorted(order), "they speak side by side"


async def test_what_was_sent_before_a_close_is_still_spoken(url):
    async with connected(url, MULTI, **PCM) as client:
        await client.say(
            {"text": " ", "context_id": "a"},
            {"text": "One two ", "context_id": "a"},
            {"context_id": "a", "flush": True},
            {"text": "three four ", "context_id": "a"},
            {"context_id": "a", "close_context": True},
        )
        await client.until(isFinal=True, contextId="a")
    assert characters(client.alignments()).split() == ["One", "two", "three", "four"]


@pytest.mark.long
async def test_a_second_close_interrupts_and_frees_the_slot(url, engine):
    async with connected(url, MULTI, **PCM, auto_mode="true") as client:
        for name in "ab":
            await client.say({"text": f"{name} slow text. ", "context_id": name})
        for _ in range(5):
            await client.say({"text": "More slow text. ", "context_id": "a"})
        await client.until(contextId="a")
        heard = len(engine.heard)
        await client.say(*[{"context_id": "a", "close_context": True}] * 2)
        await client.until(isFinal=True, contextId="a")
        assert engine.speaking <= 1, "only the other context may speak now"
        await client.say({"context_id": "b", "close_context": True})
        await client.until(isFinal=True, contextId="b")
    assert len(engine.heard) <= heard + 1
    assert is_tone(client.audio(contextId="b"), "low")
    assert len(client.audio(contextId="a")) < 14_400 * 2
    assert [one["contextId"] for one in client.seen if one.get("isFinal")] == ["a", "b"]


async def test_silence_before_the_first_word_counts_as_time(url):
    """A text of one word leaves the first two of the engine's chunks without words."""
    async with connected(url, MULTI, **PCM, auto_mode="true") as client:
        await client.say({"text": "One. ", "context_id": "a"}, {"context_id": "a", "close_context": True})
        await client.until(isFinal=True)
    (only,) = client.alignments()
    assert (only["charStartTimesMs"][0], only["chars"][0]) == (200, "O")
    assert only["charStartTimesMs"][-1] + only["charDurationsMs"][-1] == 300


@pytest.mark.long
@each_row("timings", ["estimate", "durations"])
async def test_words_of_an_engine_without_timings_are_told_in_their_order(timings):
    with served(tone_service(WordlessEngine(), word_timings=timings)) as at:
        async with connected(at, MULTI, **PCM, auto_mode="true") as client:
            for text in ("One two three. ", "Four five six. "):
                await client.say({"text": text, "context_id": "a"})
            await client.say({"context_id": "a", "close_context": True})
            await client.until(isFinal=True)
    found = client.alignments()
    assert characters(found).split() == ["One", "two", "three.", "Four", "five", "six."]
    spans = [one["charStartTimesMs"][-1] + one["charDurationsMs"][-1] for one in found]
    assert 500 < sum(spans) <= 600, "clients add up how long each message lasts"
    assert is_tone(client.audio(), "low")


async def test_a_client_that_leaves_frees_its_slot(url, engine):
    closed = engine.closed
    async with connected(url, MULTI, **PCM, auto_mode="true") as client:
        await client.say({"text": " ", "context_id": "a"}, {"text": "slow " * 20, "context_id": "a"})
        await client.receive()
        assert engine.speaking == 1
    await asyncio.to_thread(wait_for, lambda: engine.speaking == 0)
    assert engine.closed == closed + 1


async def test_close_socket_ends_within_two_seconds_with_a_proper_close(url, engine):
    async with connected(url, MULTI, **PCM, auto_mode="true") as client:
        await client.say({"text": " ", "context_id": "a"}, {"text": "One two. ", "context_id": "a"})
        await client.say({"close_socket": True})
        async with asyncio.timeout(2):
            assert await client.close_code() == 1000
    assert {"isFinal": True, "contextId": "a"} in client.seen
    assert engine.speaking == 0


async def test_keep_alives_open_nothing_and_a_context_is_reopened_by_its_name(url, engine):
    heard = len(engine.heard)
    async with connected(url, MULTI, **PCM, auto_mode="true") as client:
        await client.say({"text": ""}, {"text": "", "context_id": "a"}, {"context_id": "a", "close_context": True})
        await client.say({"context_id": "a", "flush": True})
        for _ in range(2):
            await client.say({"text": " ", "context_id": "a"}, {"text": "", "context_id": "a"})
            await client.say({"text": "Hello.", "contextId": "a"}, {"context_id": "a", "close_context": True})
            await client.until(isFinal=True, contextId="a")
        await client.say({"text": "Nameless. "}, {"close_context": True})
        await client.until(isFinal=True, contextId="default")
    assert [one for one in client.seen if "error" in one] == []
    assert [one.text.strip() for one in engine.heard[heard:]] == ["Hello.", "Hello.", "Nameless."]


@pytest.mark.long
@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ("no json", "invalid_value"),
        ("[]", "invalid_value"),
        ('{"text": 7, "context_id": "b"}', "invalid_value"),
        ('{"text": "a\\u0000b", "context_id": "b"}', "invalid_value"),
        ('{"text": "x", "context_id": 9}', "invalid_value"),
        ('{"text": "x", "context_id": "b", "voice_settings": {"speed": 99}}', "invalid_value"),
        ('{"text": "x", "context_id": "b", "voice_settings": 5}', "invalid_value"),
    ],
)
async def test_a_bad_message_is_answered_and_the_other_context_goes_on(url, bad, code):
    async with connected(url, MULTI, **PCM, auto_mode="true") as client:
        await client.say({"text": " ", "context_id": "a"}, {"text": "a slow text. ", "context_id": "a"})
        await client.receive()
        await client.socket.send(bad)
        error = await client.until(error=code)
        await client.say({"context_id": "a", "close_context": True})
        await client.until(isFinal=True, contextId="a")
    assert error["message"].endswith(".")
    assert is_tone(client.audio(contextId="a"), "low")


@pytest.mark.long
async def test_a_context_that_fails_ends_and_the_others_go_on(url, engine):
    async with connected(url, MULTI, **PCM, auto_mode="true") as client:
        await client.say({"text": " ", "context_id": "a"}, {"text": "a slow text. ", "context_id": "a"})
        await client.receive()
        engine.fail_at, before = 0, engine.fail_at
        try:
            await client.say({"text": "Broken. ", "context_id": "b"})
            error = await client.until(error="engine_failed", contextId="b")
        finally:
            engine.fail_at = before
        await client.until(isFinal=True, contextId="b")
        await client.say({"context_id": "a", "close_context": True})
        await client.until(isFinal=True, contextId="a")
    assert error["code"] == 1011
    assert is_tone(client.audio(contextId="a"), "low")


async def test_contexts_beyond_the_limit_are_refused(url):
    async with connected(url, MULTI, **PCM) as client:
        for name in "abcde":
            await client.say({"text": " ", "context_id": name})
        error = await client.until(contextId="e")
        assert (error["error"], error["code"]) == ("too_many_concurrent_requests", 1013)
        await client.say({"text": "Hello. ", "context_id": "a"}, {"context_id": "a", "close_context": True})
        await client.until(isFinal=True, contextId="a")


async def test_half_of_a_surrogate_pair_waits_for_the_other(url):
    async with connected(url, MULTI, **PCM) as client:
        await client.say({"text": " ", "context_id": "a"})
        await client.socket.send('{"text": "One \\ud83d", "context_id": "a"}')
        await client.socket.send('{"text": "\\ude00 two ", "context_id": "a"}')
        await client.say({"context_id": "a", "close_context": True})
        await client.until(isFinal=True)
    assert "\ufffd" not in characters(client.alignments())
    assert "\U0001f600" in characters(client.alignments())


@pytest.mark.parametrize("path", [SINGLE.replace("low", "nobody"), MULTI.replace("low", "nobody")])
async def test_an_unknown_voice_is_told_in_their_words(url, path):
    async with connected(url, path, **PCM) as client:
        await client.say({"text": " ", "context_id": "a"}, {"text": "Hello. ", "context_id": "a", "flush": True})
        error = await client.until(error="voice_not_found")
        if "multi" in path:
            assert error["contextId"] == "a"
        else:
            assert await client.close_code() == error["code"] == 1008


async def test_a_bad_message_ends_the_socket_of_one_text_with_a_reason(url):
    async with connected(url, SINGLE, **PCM) as client:
        await client.socket.send("no json")
        assert await client.close_code() == 1008
    assert client.seen[-1]["code"] == 1008
    assert client.seen[-1]["message"]


@pytest.mark.parametrize("path", [SINGLE, MULTI, DIALOGUE])
async def test_an_address_that_cannot_be_obeyed_is_refused_before_the_socket_opens(url, path):
    for query, status in (({"output_format": "mp3"}, 400), ({"model_id": "gone"}, 404), ({"seed": "x"}, 422)):
        with pytest.raises(InvalidStatus) as refused:
            async with connected(url, path, **query):
                pass
        assert refused.value.response.status_code == status
        assert b'"detail"' in refused.value.response.body


@pytest.mark.long
async def test_an_idle_client_is_let_go(url):
    async with connected(url, SINGLE, inactivity_timeout=1, **PCM) as client:
        assert await client.close_code() == 1008
        assert client.seen[-1]["error"] == "input_timeout_exceeded"
    async with connected(url, MULTI, inactivity_timeout=1, **PCM) as client:
        await client.say({"text": " ", "context_id": "a"})
        assert await client.close_code() == 1000
        assert client.seen[0]["error"] == "input_timeout_exceeded"


async def test_a_dialogue_changes_voices_within_one_context(url, engine):
    heard = len(engine.heard)
    async with connected(url, DIALOGUE, sync_alignment="true", **PCM) as client:
        await client.say(
            {"context_id": "a", "voices": ["low", "21m00Tcm4TlvDq8ikWAM"], "voice_settings": {"stability": 0.5}},
            {"context_id": "a", "inputs": [{"text": "One two. ", "voice_id": "low", "new_turn": True}]},
            {"context_id": "a", "inputs": [{"text": "Three. ", "voice_id": "21m00Tcm4TlvDq8ikWAM"}], "flush": True},
            {"context_id": "a", "keep_alive": True},
            {"context_id": "a", "close_context": True},
        )
        await client.until(is_final=True, context_id="a")
    assert [one.voice for one in engine.heard[heard:]] == ["low", "high"]
    low, high = (to_pcm16(tone(TONES[voice], 0, 7_200, 24_000)) for voice in ("low", "high"))
    assert client.audio(context_id="a") == low + high
    found = client.alignments(context_id="a")
    assert characters(found).split() == ["One", "two.", "Three."]
    assert set(found[0]) == {"chars", "char_start_times_ms", "char_durations_ms"}
    assert all(one["char_start_times_ms"][0] == 0 for one in found), "times count from each message"
    assert {"is_final_audio_for_turn": True, "context_id": "a"} in client.seen


async def test_a_dialogue_refuses_what_it_cannot_obey_and_goes_on(url):
    async with connected(url, DIALOGUE, **PCM) as client:
        for message, field in (
            ({"context_id": "b", "inputs": [{"text": "Hi.", "voice_id": "low"}]}, "voices"),
            ({"context_id": "b", "voices": ["low"] * 11}, "voices"),
            ({"context_id": "b", "voices": [7]}, "voices"),
        ):
            await client.say(message)
            assert (await client.until(context_id="b"))["param"] == field
        await client.say({"context_id": "a", "voices": ["low"]})
        for inputs, field in ((7, "inputs"), ([{"text": "Hi.", "voice_id": "high"}], "inputs.voice_id")):
            await client.say({"context_id": "a", "inputs": inputs})
            assert (await client.until(error="invalid_value"))["param"] == field
        await client.say({"context_id": "a", "inputs": [{"text": "Hi. ", "voice_id": "low"}]}, {"close_socket": True})
        assert await client.close_code() == 1000
    assert is_tone(client.audio(context_id="a"), "low")
    assert client.alignments() == []


@pytest.mark.parametrize("path", [SINGLE, MULTI, DIALOGUE])
async def test_pages_of_other_origins_are_refused(url, path):
    with pytest.raises(InvalidStatus) as refused:
        async with connect(url.replace("http", "ws", 1) + path, origin="https://evil.example", proxy=None):
            pass
    assert refused.value.response.status_code == 403
    assert b'"detail"' in refused.value.response.body


async def test_a_message_over_the_limit_closes_the_socket():
    with served(tone_service(max_body_bytes=1_024)) as at:
        for path in (SINGLE, MULTI, DIALOGUE):
            async with connected(at, path) as client:
                await client.say({"text": "x" * 2_000})
                assert await client.close_code() == 1009


async def test_more_text_than_a_request_may_have_is_refused_and_the_rest_is_spoken():
    with served(tone_service(max_input_chars=20)) as at:
        async with connected(at, MULTI, **PCM) as client:
            await client.say({"text": "One two. ", "context_id": "a"}, {"text": "x" * 21, "context_id": "a"})
            assert (await client.until(contextId="a", error="invalid_text"))["param"] == "text"
            await client.say({"context_id": "a", "close_context": True})
            await client.until(isFinal=True, contextId="a")
    assert is_tone(client.audio(contextId="a"), "low")


async def test_sockets_ask_for_keys_in_their_form():
    with served(tone_service(api_keys=["secret"])) as at:
        for path in (SINGLE, MULTI, DIALOGUE, f"/elevenlabs{MULTI}"):
            async with connected(at, path, "secret"):
                pass
            with pytest.raises(InvalidStatus) as refused:
                async with connected(at, path, "wrong"):
                    pass
            assert refused.value.response.status_code == 401
            assert b"invalid_api_key" in refused.value.response.body
