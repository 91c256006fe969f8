"""Pronunciation dictionaries: `/v1/dictionaries`, and every door through which they are heard."""

from dataclasses import replace

import pytest

from helpers.fakes import ToneEngine, running, tone_service
from helpers.realtime_client import realtime_client
from helpers.serving import called, served
from helpers.untimed import UntimedStreamEngine, UntimedToneEngine
from polyvox.errors import InvalidRequestError
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Capabilities, Utterance

pytestmark = pytest.mark.anyio

HOME, SPEECH = "/v1/dictionaries", "/v1/audio/speech"
NAMES = {
    "entries": [{"match": "Nguyen", "say": "win"}, {"kind": "phrase", "match": "New York", "say": "Noo Yawk City"}]
}
ANNA, BERT = ({"Authorization": f"Bearer {key}"} for key in ("anna", "bert"))


class PhonemeEngine(ToneEngine):
    """One that takes phonemes in its text, as Kokoro does."""

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, phonemes=True, reads_markup=True)


@pytest.fixture
def engine():
    return ToneEngine()


@pytest.fixture
async def client(engine, tmp_path):
    async with called(tone_service(engine, data_dir=tmp_path)) as client:
        yield client


async def put(client, name, body, **options):
    answer = await client.put(f"{HOME}/{name}", json=body, **options)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def words_of(client, **wish):
    answer = await client.post("/dev/timestamp", json=wish)
    assert answer.status_code == 200, answer.text
    return [stamp["word"] for stamp in answer.json()["timestamps"]]


# --- Keeping them ---


async def test_a_dictionary_is_kept_listed_shown_and_deleted(client):
    made = await put(client, "names", NAMES | {"default": True})
    assert made == {"name": "names", "entries": 2, "languages": [], "default": True, "shared": False}
    assert (await client.get(HOME)).json() == {"dictionaries": [made]}
    shown = (await client.get(f"{HOME}/names")).json()
    assert shown == {
        "name": "names",
        "default": True,
        "entries": [{"kind": "word", **NAMES["entries"][0]}, NAMES["entries"][1]],
    }
    assert (await put(client, "names", shown)) == made
    assert (await client.delete(f"{HOME}/names")).status_code == 204
    assert (await client.get(f"{HOME}/names")).status_code == 404
    assert (await client.delete(f"{HOME}/names")).status_code == 404
    assert (await client.get(HOME)).json() == {"dictionaries": []}


async def test_another_process_sees_what_was_kept(engine, tmp_path):
    for _ in range(2):
        async with called(tone_service(engine, data_dir=tmp_path)) as client:
            await put(client, "names", NAMES)
    async with called(tone_service(engine, data_dir=tmp_path)) as client:
        assert [each["name"] for each in (await client.get(HOME)).json()["dictionaries"]] == ["names"]
        (file,) = tmp_path.glob("dictionaries/*/names.json")
        file.write_text("{", encoding="utf-8")
    async with called(tone_service(engine, data_dir=tmp_path)) as client:  # damaged files are no reason to be silent
        assert (await client.get(HOME)).json() == {"dictionaries": []}
        assert (await client.post(SPEECH, json={"input": "One."})).status_code == 200


async def test_dictionaries_that_are_out_of_reach_are_an_error_and_not_a_text_read_otherwise(client, tmp_path):
    assert (await client.put(f"{HOME}/names", json=NAMES)).status_code == 200
    folder = tmp_path / "dictionaries"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(folder)
    for _ in range(2):
        assert (await client.post(SPEECH, json={"input": "Nguyen."})).status_code == 503
    folder.unlink()
    assert (await client.post(SPEECH, json={"input": "Nguyen."})).status_code == 200


async def test_names_that_are_no_names_are_refused(client, tmp_path):
    for name in ("..", "a%2Fb", ".hidden", "ü", "a" * 65, "a b", "a%00"):
        answer = await client.put(f"{HOME}/{name}", json=NAMES)
        assert answer.status_code in (400, 404, 405), name
    assert not list(tmp_path.rglob("*.json"))


async def test_entries_that_cannot_be_used_are_refused_by_their_place(client):
    cases = [
        ({"entries": [{"match": "a", "say": "b"}, {"match": "", "say": "b"}]}, "entries[1].match"),
        ({"entries": [{"match": "a"}]}, "entries[0].say"),
        ({"entries": [{"kind": "regex", "match": "(", "say": "b"}]}, "entries[0].match"),
        ({"entries": [{"kind": "noun", "match": "a", "say": "b"}]}, "entries[0].kind"),
        ({"entries": [{"match": "a", "phonemes": "b", "alphabet": "x-sampa"}]}, "entries[0].alphabet"),
        ({}, "entries"),
        ([], None),
    ]
    for body, param in cases:
        answer = await client.put(f"{HOME}/a", json=body)
        assert answer.status_code == 400, body
        assert answer.json()["error"]["param"] == param


async def test_there_are_limits_for_an_owners_dictionaries_together(tmp_path):
    limits = {"max_dictionaries": 2, "max_dictionary_entries": 3, "max_dictionary_patterns": 1}
    pattern = {"kind": "regex", "match": "x", "say": "y"}
    async with called(tone_service(data_dir=tmp_path, **limits)) as client:
        await put(client, "a", NAMES)
        too_many = await client.put(f"{HOME}/b", json=NAMES)
        await put(client, "b", {"entries": [pattern]})
        await put(client, "b", {"entries": [pattern]})
        patterns = await client.put(f"{HOME}/a", json={"entries": [pattern]})
        another = await client.put(f"{HOME}/c", json={"entries": []})
    assert [answer.status_code for answer in (too_many, patterns, another)] == [403] * 3
    assert [answer.json()["error"]["message"].rpartition(" ")[2] for answer in (too_many, patterns, another)] == [
        "max_dictionary_entries.",
        "max_dictionary_patterns.",
        "max_dictionaries.",
    ]


async def test_a_lexicon_of_the_w3c_comes_in_and_goes_out(client):
    pls = (
        '<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa" xml:lang="en">'
        "<lexeme><grapheme>GIF</grapheme><phoneme>dʒɪf</phoneme><alias>jif</alias></lexeme></lexicon>"
    )
    made = await client.put(
        f"{HOME}/a", params={"default": True}, content=pls.encode(), headers={"Content-Type": "application/pls+xml"}
    )
    assert made.json() == {"name": "a", "entries": 1, "languages": ["en"], "default": True, "shared": False}
    written = await client.get(f"{HOME}/a", params={"pls": True})
    assert written.headers["content-type"].startswith("application/pls+xml")
    assert "<phoneme>dʒɪf</phoneme>" in written.text
    bomb = b'<!DOCTYPE l [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><lexicon>&b;</lexicon>'
    refused = await client.put(f"{HOME}/b", content=bomb, headers={"Content-Type": "application/pls+xml"})
    assert refused.status_code == 400
    assert (await client.put(f"{HOME}/b", content=b"a", headers={"Content-Type": "text/plain"})).status_code == 400


async def test_a_dictionary_can_be_tried(client):
    entries = [
        *NAMES["entries"],
        {"match": "GIF", "phonemes": "dʒɪf"},
        {"kind": "regex", "match": r"(\d+)k", "say": "$1 K"},
    ]
    await put(client, "a", {"entries": entries})
    tried = await client.post(f"{HOME}/a/try", json={"text": "Nguyen's GIF: 12k.", "language": "en"})
    assert tried.json() == {
        "spoken": "win's [GIF](/dʒɪf/): 12 K.",
        "matches": [
            {"start": 0, "end": 8, "match": "Nguyen", "say": "win's", "phonemes": ""},
            {"start": 9, "end": 12, "match": "GIF", "say": "GIF", "phonemes": "dʒɪf"},
            {"start": 14, "end": 17, "match": r"(\d+)k", "say": "12 K", "phonemes": ""},
        ],
        "slow": [],
    }
    assert (await client.post(f"{HOME}/b/try", json={"text": "x"})).status_code == 404


async def test_nobody_sees_or_uses_the_dictionaries_of_another_key(engine, tmp_path):
    async with called(tone_service(engine, data_dir=tmp_path, api_keys=["anna", "bert"])) as client:
        await put(client, "names", NAMES | {"default": True}, headers=ANNA)
        assert (await client.get(HOME, headers=BERT)).json() == {"dictionaries": []}
        assert (await client.get(f"{HOME}/names", headers=BERT)).status_code == 404
        assert (await client.delete(f"{HOME}/names", headers=BERT)).status_code == 404
        assert (await client.get(HOME)).status_code == 401
        wish = {"input": "Nguyen.", "dictionaries": ["names"]}
        assert (await client.post(SPEECH, json=wish, headers=BERT)).status_code == 400
        for headers in (ANNA, BERT):
            await client.post(SPEECH, json={"input": "Nguyen."}, headers=headers)
    assert [utterance.text for utterance in engine.heard] == ["win.", "Nguyen."]


async def test_shared_dictionaries_are_everyones_and_own_ones_come_first(engine, tmp_path):
    async with called(tone_service(engine, data_dir=tmp_path)) as client:
        await put(client, "names", NAMES | {"default": True})
    async with called(tone_service(engine, data_dir=tmp_path, api_keys=["anna"])) as client:
        (listed,) = (await client.get(HOME, headers=ANNA)).json()["dictionaries"]
        await client.post(SPEECH, json={"input": "Nguyen."}, headers=ANNA)
        await put(client, "mine", {"default": True, "entries": [{"match": "Nguyen", "say": "nwin"}]}, headers=ANNA)
        await client.post(SPEECH, json={"input": "Nguyen in New York."}, headers=ANNA)
        assert (await client.delete(f"{HOME}/names", headers=ANNA)).status_code == 404
    assert listed["shared"]
    assert [utterance.text for utterance in engine.heard] == ["win.", "nwin in Noo Yawk City."]


# --- Hearing them ---


async def test_named_dictionaries_and_default_ones_are_heard(client, engine):
    await put(client, "names", NAMES)
    await put(client, "more", {"default": True, "entries": [{"match": "tide", "say": "tyde"}]})
    await client.post(SPEECH, json={"input": "Nguyen, the tide."})
    await client.post(SPEECH, json={"input": "Nguyen, the tide.", "dictionaries": ["names"]})
    await client.post(SPEECH, json={"input": "Nothing to see."})
    assert [utterance.text for utterance in engine.heard] == ["Nguyen, the tyde.", "win, the tyde.", "Nothing to see."]
    unknown = await client.post(SPEECH, json={"input": "One.", "dictionaries": ["nobody"]})
    assert (unknown.status_code, unknown.json()["error"]["param"]) == (400, "dictionaries")


async def test_words_and_their_times_stay_those_of_the_callers_text(client):
    text = "In New York Nguyen's tide."
    await put(client, "names", NAMES)
    assert await words_of(client, input=text) == ["In", "New", "York", "Nguyen's", "tide."]
    assert await words_of(client, input=text, dictionaries=["names"]) == ["In", "New York", "Nguyen's", "tide."]


async def test_captions_show_what_was_written(client):
    await put(client, "names", NAMES | {"default": True})
    cues = (await client.post(SPEECH, json={"input": 'In "New York", Nguyen.', "response_format": "json"})).json()[
        "cues"
    ]
    assert [cue["text"] for cue in cues] == ['In "New York", Nguyen.']
    words = [word for cue in cues for word in cue["words"]]
    assert [word["span"] for word in words] == sorted(word["span"] for word in words)


async def test_words_that_are_timed_afterwards_are_the_callers_too(tmp_path):
    async with called(tone_service(UntimedToneEngine(), data_dir=tmp_path, models_dir=tmp_path)) as client:
        await put(client, "names", NAMES | {"default": True})
        assert await words_of(client, input="In New York, Nguyen's tide.") == ["In", "New York", "Nguyen's", "tide"]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"input": "<speak>Nguyen <sub alias='Nguyen'>N</sub></speak>", "ssml": True}, ["win Nguyen"]),
        ({"input": "[voice:high] Nguyen. [voice:low] Nguyen?", "allow_voice_tags": True}, [" win. ", " win?"]),
        ({"input": "Nguyen <b>Nguyen</b>"}, ["win win"]),
    ],
)
async def test_entries_are_found_between_markup(client, engine, wish, said):
    await put(client, "names", NAMES | {"default": True})
    answer = await client.post(SPEECH, json=wish)
    assert answer.status_code == 200
    assert [utterance.text for utterance in engine.heard] == said


async def test_phonemes_reach_a_model_that_takes_them_and_others_are_warned_of(client, engine, tmp_path):
    entries = {"default": True, "entries": [{"match": "GIF", "phonemes": "dʒɪf"}]}
    await put(client, "a", entries)
    plain = await client.post(SPEECH, json={"input": "A GIF."})
    assert plain.headers["x-polyvox-warning"] == "phonemes-not-used: GIF"
    assert engine.heard[-1].text == "A GIF."
    reader = PhonemeEngine()
    async with called(tone_service(reader, data_dir=tmp_path)) as other:
        told = await other.post(SPEECH, json={"input": "A GIF."})
    assert "x-polyvox-warning" not in told.headers
    assert reader.heard[-1].text == "A [GIF](/dʒɪf/)."


async def test_a_pattern_that_never_ends_is_left_out_with_a_warning(client, engine):
    entries = [{"kind": "regex", "match": "(a+)+$", "say": "x"}, {"match": "Nguyen", "say": "win"}]
    await put(client, "a", {"default": True, "entries": entries})
    answer = await client.post(SPEECH, json={"input": "Nguyen " + "a" * 60 + "!"})
    assert answer.status_code == 200
    assert answer.headers["x-polyvox-warning"] == "slow-patterns: (a+)+$"
    assert engine.heard[-1].text.startswith("win aaa")
    assert "polyvox_slow_patterns_total 1.0" in (await client.get("/metrics")).text


async def test_a_text_that_becomes_too_long_is_refused(tmp_path):
    async with called(tone_service(data_dir=tmp_path, max_input_chars=500)) as client:
        await put(client, "a", {"default": True, "entries": [{"match": "a", "say": "b" * 200}]})
        answer = await client.post(SPEECH, json={"input": "a a a a"})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "input")


async def test_the_turns_of_a_dialogue_are_pronounced(client, engine):
    await put(client, "names", NAMES)
    turns = [{"voice": "low", "text": "Is New York far?"}, {"voice": "high", "text": "Nguyen!"}]
    wish = {"turns": turns, "dictionaries": ["names"], "response_format": "json"}
    cues = (await client.post("/v1/audio/dialogue", json=wish)).json()["cues"]
    assert [utterance.text for utterance in engine.heard] == ["Is Noo Yawk City far?", "win!"]
    assert [(cue["speaker"], cue["text"]) for cue in cues] == [("low", "Is New York far?"), ("high", "Nguyen!")]
    assert [word["word"] for word in cues[0]["words"]] == ["Is", "New York", "far?"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/dev/captioned_speech", {"input": "Nguyen."}),
        ("/tts/bytes", {"transcript": "Nguyen.", "voice": {"mode": "id", "id": "low"}, "model_id": "sonic-3",
                        "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000}}),
        ("/v1/text-to-speech/low", {"text": "Nguyen."}),
        ("/v1/text-to-dialogue", {"inputs": [{"voice_id": "low", "text": "Nguyen."}]}),
        ("/v1/audio/speech/batch", {"items": [{"input": "Nguyen."}]}),
    ],
)  # fmt: skip
async def test_default_dictionaries_are_heard_at_every_door(client, engine, path, body):
    await put(client, "names", NAMES | {"default": True})
    answer = await client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    assert [utterance.text for utterance in engine.heard] == ["win."]


@pytest.mark.long
async def test_text_that_arrives_in_fragments_is_pronounced_and_its_words_are_the_callers(tmp_path):
    for engine in (ToneEngine(), UntimedStreamEngine()):
        service = tone_service(engine, data_dir=tmp_path, models_dir=tmp_path)
        with served(service) as url:
            async with realtime_client(url) as client:
                async with called(tone_service(data_dir=tmp_path)) as keeper:
                    await put(keeper, "names", NAMES)
                heard = await client.start("a", word_timings=True, dictionaries=["names"])
                for fragment in ("In New", " Yo", "rk, Ngu", "yen.", " Bye."):
                    await client.send("text", "a", text=fragment)
                await client.send("end", "a")
                await heard.ended.wait()
        said = " ".join(utterance.text.strip() for utterance in engine.heard)
        assert said == "In Noo Yawk City, win. Bye."
        words = [word["word"].strip(".,") for word in heard.words]
        assert words == ["In", "New York", "Nguyen", "Bye"]


async def test_an_unknown_dictionary_is_refused_before_the_text_is_there(tmp_path):
    async with running(tone_service(data_dir=tmp_path)) as service:
        with pytest.raises(InvalidRequestError, match="no dictionary 'nobody'"):
            await service.output(SpeechRequest(Utterance("", "low"), dictionary_names=("nobody",)), LOCAL_CALL)
