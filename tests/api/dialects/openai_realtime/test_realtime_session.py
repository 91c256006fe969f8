"""The session and the conversation of OpenAI's Realtime API, and the errors that leave the socket open."""

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.fakes import tone_service
from helpers.openai_realtime_client import BETA, RealtimeClient, connected, message, realtime_app, transcript

TEXT = "The tide is out."


@pytest.fixture(scope="module")
def app():
    with realtime_app(tone_service(max_input_chars=2_000, openai_voices=["marin=high"])) as client:
        yield client


@pytest.fixture
def client(app):
    with connected(app) as client:
        yield client
        speaks(client)


def speaks(client):
    """Whatever happened before, the socket still speaks."""
    events = client.speak(conversation="none", input=[message(TEXT)])
    assert transcript(events) == TEXT


def test_a_session_begins_with_the_servers_own_choice(app):
    with app.websocket_connect("/v1/realtime") as socket:
        created = RealtimeClient(socket).next()
    session = created["session"]
    assert created["type"] == "session.created"
    assert session["object"] == "realtime.session"
    assert session["type"] == "realtime"
    assert session["model"] == "tone"
    assert session["output_modalities"] == ["audio"]
    assert session["audio"]["output"] == {"format": {"type": "audio/pcm", "rate": 24_000}, "voice": "low", "speed": 1.0}


@pytest.mark.parametrize("model", ["tone", "gpt-realtime", "gpt-realtime-2.1-mini", "gpt-4o-realtime-preview", "tts-1"])
def test_a_model_is_named_in_the_address(app, model):
    with app.websocket_connect(f"/v1/realtime?model={model}") as socket:
        assert RealtimeClient(socket).next()["session"]["model"] == model


def test_an_update_changes_what_it_names(client):
    session = client.update(
        type="realtime",
        output_modalities=["audio"],
        instructions="Calm.",
        audio={
            "output": {"voice": "high", "format": {"type": "audio/pcm", "rate": 24_000}},
            "input": {"turn_detection": {"type": "server_vad"}},
        },
        tools=[],
        tracing="auto",
    )
    assert session["instructions"] == "Calm."
    assert session["audio"]["output"]["voice"] == "high"
    assert client.update(instructions="Glad.")["audio"]["output"]["voice"] == "high"
    assert client.update(audio={"output": {"format": {"type": "audio/pcma"}}})["audio"]["output"]["format"] == {
        "type": "audio/pcma"
    }
    client.update(audio={"output": {"format": {"type": "audio/pcm"}, "voice": "low"}})


def test_open_webui_speaks(app):
    """What its engine `openai-realtime` sends for each sentence, and what it waits for."""
    with app.websocket_connect("/v1/realtime?model=gpt-realtime-2.1-mini", headers={"Authorization": "Bearer x"}) as it:
        client = RealtimeClient(it)
        assert client.next()["type"] == "session.created"
        audio = {
            "input": {"turn_detection": None, "transcription": None},
            "output": {"format": {"type": "audio/pcm", "rate": 24_000}, "voice": "marin"},
        }
        told = {"output_modalities": ["audio"], "tools": [], "tool_choice": "none", "instructions": "Read it aloud."}
        client.update(type="realtime", audio=audio, **told)
        events = client.speak(conversation="none", input=[message(TEXT)], **told)
        assert not {event["type"] for event in events} & {"error"}
        assert events[-1]["response"]["id"] == events[0]["response"]["id"]
        assert events[-1]["response"]["status"] == "completed"


@pytest.mark.parametrize(
    ("session", "param", "code"),
    [
        ({"type": "dictation"}, "session.type", "invalid_value"),
        ({"output_modalities": ["smell"]}, "session.output_modalities[0]", "invalid_value"),
        ({"audio": {"output": {"format": {"type": "audio/mp3"}}}}, "session.audio.output.format.type", None),
        (
            {"audio": {"output": {"format": {"type": "audio/pcm", "rate": 16_000}}}},
            "session.audio.output.format.rate",
            None,
        ),
        ({"audio": {"output": {"speed": 9}}}, "session.audio.output.speed", "invalid_value"),
        ({"audio": {"output": {"voice": 3}}}, "session.audio.output.voice", "invalid_value"),
        ({"audio": {"output": {"voice": "v" * 1_001}}}, "session.audio.output.voice", "invalid_value"),
        ({"audio": "loud"}, "session.audio", "invalid_value"),
        ({"instructions": "\x00"}, "session.instructions", "invalid_value"),
        ({"model": "nothing"}, "model", "model_not_found"),
        ({"voice": "high"}, "session.voice", "unknown_parameter"),
        ("all", "session", "invalid_value"),
        (None, "session", "invalid_value"),
    ],
)
def test_an_update_that_cannot_be_obeyed_changes_nothing(client, session, param, code):
    error = client.refused("session.update", session=session)
    assert error["param"] == param
    assert error["type"] == "invalid_request_error"
    assert code is None or error["code"] == code
    assert client.update()["audio"]["output"]["voice"] == "low"


@pytest.mark.parametrize(
    ("session", "param"),
    [
        ({"modalities": ["smell"]}, "session.modalities[0]"),
        ({"output_audio_format": "mp3"}, "session.output_audio_format"),
        ({"turn_detection": {"threshold": 2}}, "session.turn_detection.threshold"),
        ({"model": "nothing"}, "model"),
    ],
)
def test_so_does_one_of_the_beta_version(app, session, param):
    with connected(app, headers=BETA) as client:
        assert client.refused("session.update", session=session)["param"] == param


def test_what_only_a_language_model_could_do_is_warned_of_and_the_rest_is_kept(client):
    """A stock agent must not lose its voice for its tools."""
    event = client.ask(
        "session.update",
        session={
            "tools": [{"type": "function", "name": "f"}],
            "output_modalities": ["text"],
            "tracing": "auto",
            "audio": {"output": {"voice": "high"}},
        },
    )
    assert event["session"]["audio"]["output"]["voice"] == "high"
    assert (event["session"]["tools"], event["session"]["output_modalities"]) == ([], ["audio"])
    first, second = event["warnings"]
    assert first.endswith("ignored: 'tools', 'tracing'.")
    assert "could write" in second
    client.update(audio={"output": {"voice": "low"}})


@pytest.mark.parametrize("name", ["response.think", ""])
def test_an_event_that_nobody_knows_is_an_error(client, name):
    error = client.refused(name, audio="AAAA")
    assert (error["code"], error["param"]) == ("invalid_value", "type")


@pytest.mark.parametrize("raw", ["", "nonsense", "[]", "3", '"response.create"', "[" * 100_000, '{"type": []}', "{}"])
def test_a_message_that_is_no_event_is_an_error(client, raw):
    client.socket.send_text(raw)
    assert client.next()["type"] == "error"
    client.socket.send_bytes(b"\x00")
    assert client.next()["type"] == "error"


@pytest.mark.parametrize("event_id", [None, 7, ["a"], "x" * 600, "\ud800"])
def test_an_event_id_of_any_kind_does_no_harm(client, event_id):
    client.send("nothing", event_id=event_id)
    assert client.next()["type"] == "error"


@pytest.mark.parametrize(
    ("response", "param", "code"),
    [
        ({}, "response.input", "invalid_text"),
        ({"input": []}, "response.input", "invalid_text"),
        ({"input": [message("  \n ")]}, "response.input", "invalid_text"),
        ({"input": [{"type": "function_call_output", "output": "x"}]}, "response.input[0]", "not_supported"),
        ({"input": [message(TEXT, "robot")]}, "response.input[0].role", "invalid_value"),
        ({"input": [{"type": "item_reference", "id": "none"}]}, "item_id", "item_retrieve_invalid_item_id"),
        ({"input": [{"content": [{"type": "input_audio", "audio": ""}]}]}, "response.input[0].content", None),
        ({"input": [{"content": [{"type": "input_text", "text": "\x00"}]}]}, "response.input[0].content[0].text", None),
        ({"input": [message("a")] * 257}, "response.input", "invalid_value"),
        ({"conversation": "both"}, "response.conversation", "invalid_value"),
        ({"output_modalities": ["text"]}, "response.output_modalities", "invalid_value"),
        ({"tools": [{}]}, "response.tools", "not_supported"),
        ({"metadata": {str(index): "" for index in range(17)}}, "response.metadata", "invalid_value"),
        ({"metadata": {"a": "b" * 513}}, "response.metadata.a", "invalid_value"),
        ({"voice": "high"}, "response.voice", "unknown_parameter"),
    ],
)
def test_a_response_that_cannot_be_made_is_an_error(client, response, param, code):
    error = client.refused("response.create", response=response)
    assert error["param"] == param
    assert code is None or error["code"] == code


def test_items_are_retrieved_ordered_and_deleted(client):
    first = client.say("One.")
    assert first["status"] == "completed"
    assert first["content"] == [{"type": "input_text", "text": "One."}]
    third = client.ask("conversation.item.create", item={**message("Three."), "id": "three"})
    assert (third["previous_item_id"], third["item"]["id"]) == (first["id"], "three")
    client.next()
    second = client.ask("conversation.item.create", item=message("Two."), previous_item_id=first["id"])
    assert second["previous_item_id"] == first["id"]
    client.next()
    zero = client.ask("conversation.item.create", item=message("Zero."), previous_item_id="root")
    assert zero["previous_item_id"] is None
    client.next()
    assert client.ask("conversation.item.retrieve", item_id="three")["item"] == third["item"]
    deleted = client.ask("conversation.item.delete", item_id=second["item"]["id"])
    assert (deleted["type"], deleted["item_id"]) == ("conversation.item.deleted", second["item"]["id"])
    assert transcript(client.speak()) == "Zero.\nOne.\nThree."


@pytest.mark.parametrize(
    ("name", "fields", "code"),
    [
        ("conversation.item.retrieve", {"item_id": "none"}, "item_retrieve_invalid_item_id"),
        ("conversation.item.delete", {"item_id": "none"}, "item_delete_invalid_item_id"),
        ("conversation.item.truncate", {"item_id": "none", "audio_end_ms": 1}, "item_truncate_invalid_item_id"),
        ("conversation.item.truncate", {"item_id": "mine", "audio_end_ms": 1}, "item_truncate_invalid_item_id"),
        ("conversation.item.truncate", {"item_id": "mine", "audio_end_ms": -1}, "invalid_value"),
        ("conversation.item.retrieve", {}, "invalid_value"),
        ("conversation.item.create", {"item": {**message(TEXT), "id": "mine"}}, "item_create_duplicate_id"),
        (
            "conversation.item.create",
            {"item": message(TEXT), "previous_item_id": "none"},
            "item_create_invalid_previous_item_id",
        ),
        ("conversation.item.create", {"item": {**message(TEXT), "id": "a\nb"}}, "invalid_value"),
        ("conversation.item.create", {}, "invalid_value"),
    ],
)
def test_what_cannot_be_done_with_an_item_is_an_error(client, name, fields, code):
    client.ask("conversation.item.create", item={**message(TEXT), "id": "mine"})
    client.next()
    assert client.refused(name, **fields)["code"] == code


def test_the_oldest_items_make_room(client):
    first = client.say("a" * 1_500)
    second = client.say("b" * 600)
    assert client.refused("conversation.item.retrieve", item_id=first["id"])
    assert client.ask("conversation.item.retrieve", item_id=second["id"])["item"]["id"] == second["id"]
    for index in range(256):
        client.say(f"{index}")
    assert client.refused("conversation.item.retrieve", item_id=second["id"])


NAMES = [
    "session.update",
    "transcription_session.update",
    "input_audio_buffer.append",
    "input_audio_buffer.commit",
    "input_audio_buffer.clear",
    "conversation.item.create",
    "conversation.item.retrieve",
    "conversation.item.truncate",
    "conversation.item.delete",
    "response.create",
    "response.cancel",
    "output_audio_buffer.clear",
]
FIELDS = "session response item item_id input audio output voice format type content role text conversation id".split()
FIELDS += ["turn_detection", "transcription"]
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=()), max_size=8),
    st.sampled_from(["message", "none", "user", "input_text", "audio/pcm", "root", "item_reference"]),
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.long
@examples(80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(NAMES), fields=st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4))
def test_no_event_ends_the_socket(client, name, fields):
    client.socket.send_json({**fields, "type": name})
    client.send("end", event_id="end")
    events = client.until("error")
    while events[-1]["error"]["event_id"] != "end":
        events = client.until("error")
