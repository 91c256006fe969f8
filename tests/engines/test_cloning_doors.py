"""Tiny models of Pocket TTS and Chatterbox behind every door, with a voice of the caller's: one application."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import grpc
import numpy as np
import pytest
from starlette.testclient import TestClient

from helpers import tiny_chatterbox, tiny_pockettts
from helpers.speaking_doors import RATE, WORDS, Asked, Doors
from polyvox.api.app import create_app
from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, encode
from polyvox.engines.kit import seeds
from polyvox.installation import load_settings
from polyvox.service.local_service import build_service
from polyvox.service.voices.voices import VoiceService

pytestmark = pytest.mark.long

POCKET, TURBO, ENGLISH = tiny_pockettts.MODEL, tiny_chatterbox.TURBO, tiny_chatterbox.ENGLISH
OWN_VOICES = {POCKET: tiny_pockettts.VOICE, TURBO: "default"}
RECORDINGS = Path(__file__).parents[1] / "recordings"
TEXT, ASIDE = "Ha [laugh] ha.", "Ha (laugh) ha."
"""Where a text arrives in two fragments, the tag is cut in two."""
QUARTER = 2 * RATE // 4
"""Bytes of a quarter of a second."""


@cache
def recording(sentences: str = "ab") -> bytes:
    """Some sentences of one reader; Turbo needs two, which are more than five seconds."""
    heard = [
        decode((RECORDINGS / f"librivox_{name}.flac").read_bytes(), max_seconds=60, max_samples=10**7)
        for name in sentences
    ]
    return encode(np.concatenate([pcm for pcm, _ in heard]), AudioFormat.WAV, heard[0][1])


@contextmanager
def served(folder: Path, data: str, *models: str) -> Iterator[Doors]:
    """A server with these models, the first of which is the default one; `data` names the folder of its voices."""
    chosen = load_settings(
        models_dir=folder / "models",
        data_dir=folder / data,
        models=list(models),
        default_model=models[0],
        mcp=True,
        pockettts_device="cpu",
        pockettts_streams=4,
        chatterbox_device="cpu",
        chatterbox_streams=4,
    )
    service = build_service(chosen, tiny_chatterbox.factories())
    app = create_app(service, VoiceService.for_service(service))
    with TestClient(app, base_url="http://localhost") as client:
        yield Doors(client)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Both families; requests without a seed, which not every door takes, have all the same."""
    folder = tmp_path_factory.mktemp("cloning")
    tiny_pockettts.install(POCKET, folder / "models")
    for model in (TURBO, ENGLISH):
        tiny_chatterbox.install(model, folder / "models")
    with pytest.MonkeyPatch.context() as patch:
        tiny_chatterbox.speak_briefly(patch)
        patch.setattr(seeds, "secrets", SimpleNamespace(randbits=lambda bits: 1))
        yield folder


@pytest.fixture(scope="module")
def doors(folder: Path) -> Iterator[Doors]:
    with served(folder, "data", POCKET, TURBO, ENGLISH) as doors:
        yield doors


def made(doors: Doors, path: str, part: str, name: str, sentences: str = "ab", **fields: str) -> str:
    """The id, else the name, of a voice that is made at one of the doors."""
    files = {part: ("a.wav", recording(sentences))}
    answer = doors.client.post(path, data={"name": name, **fields}, files=files)
    assert answer.status_code in (200, 201), answer.text
    voice = answer.json()
    return str(voice.get("voice_id") or voice.get("id") or voice["name"])


def registered(doors: Doors, name: str, sentences: str = "ab") -> str:
    return made(doors, "/v1/voices", "audio", name, sentences, transcribe="none")


def test_a_cloned_voice_and_a_tag_sound_the_same_through_every_door(doors: Doors) -> None:
    voice = registered(doors, "everywhere")
    for model, own in OWN_VOICES.items():
        asked = Asked(model, voice, TEXT, recording())
        expected = doors.openai(asked)
        assert expected not in (doors.openai(replace(asked, voice=own)), b"")
        # To a model without the tag it is an aside.
        assert (doors.openai(replace(asked, text=ASIDE)) == expected) is (model != TURBO)
        for door in Doors.SPEAKING:
            assert getattr(doors, door)(asked) == expected, (door, model)


def test_expression_and_guidance_are_tuned_at_every_door_that_has_a_place_for_them(doors: Doors) -> None:
    asked = Asked(ENGLISH, registered(doors, "tuned"), "One.", recording())
    neutral, fields = doors.openai(asked), {"exaggeration": 1.0, "cfg_weight": 0.25}
    heard = doors.openai(asked, **fields)
    assert len({neutral, heard, doors.openai(asked, exaggeration=1.0)}) == 3
    for door in (doors.kokoro_fastapi, doors.zipvoice, doors.realtime):
        assert door(asked, **fields) == heard, door
    assert doors.streamable(asked, **{name: str(value) for name, value in fields.items()}) == heard
    assert doors.grpc_speech(asked, tuning=fields) == heard
    # A style of 1 is an exaggeration of 1; this door has no place for guidance.
    styled = doors.openai(asked, exaggeration=1.0)
    for door in (doors.elevenlabs, doors.elevenlabs_stream_input, doors.elevenlabs_multi_stream_input):
        assert door(asked, style=1.0) == styled, door
    assert doors.elevenlabs(asked, style=0.0) == neutral
    with pytest.raises(grpc.aio.AioRpcError, match="'tuning' has no 'volume'"):
        doors.grpc_speech(asked, tuning={"volume": 2.0})


def test_dialogues_and_scripts_are_spoken_by_two_cloned_voices(doors: Doors) -> None:
    anna, bert = registered(doors, "Anna"), registered(doors, "Bert", "ba")
    for model in OWN_VOICES:
        asked = Asked(model, anna, "One two.", recording())
        first, second = doors.openai(asked), doors.openai(replace(asked, voice=bert))
        assert first[-QUARTER:] != second[-QUARTER:]
        turns = [{"voice": voice, "text": asked.text} for voice in (anna, bert)]
        inputs = [{"voice_id": voice, "text": asked.text} for voice in (anna, bert)]
        body = {"model": model, "turns": turns, "pause": 0, "response_format": "pcm"}
        script = replace(asked, text="One two. [voice:Bert] One two.")
        heard = {
            "dialogue": doors.posted("/v1/audio/dialogue", json=body),
            "Kokoro-FastAPI": doors.posted("/dev/dialogue", json=body),
            "ElevenLabs": doors.elevenlabs_dialogue(model, inputs),
            "ElevenLabs' socket": doors.elevenlabs_dialogue_input(model, inputs),
            "script": doors.openai(script, allow_voice_tags=True),
        }
        for door, audio in heard.items():  # where two turns meet, their silences become a pause
            assert audio.startswith(first[:QUARTER]), (door, model)
            assert audio.endswith(second[-QUARTER:]), (door, model)
        assert heard["dialogue"] == heard["Kokoro-FastAPI"]


def test_a_voice_that_is_made_at_one_door_speaks_at_the_others_until_it_is_deleted_at_any(doors: Doors) -> None:
    voices = {
        "polyvox": registered(doors, "polyvox"),
        "openai": made(doors, "/v1/audio/voices", "audio_sample", "openai"),
        "elevenlabs": made(doors, "/elevenlabs/v1/voices/add", "files", "elevenlabs"),
        "cartesia": made(doors, "/voices/clone", "clip", "cartesia"),
        "zipvoice": made(doors, "/v1/zipvoice/voices/register", "audio_file", "zipvoice", transcription=WORDS),
        "mcp": doors.mcp_clone("mcp", recording()),
    }
    asked = Asked(POCKET, voices["polyvox"], "One.", recording())
    expected = doors.openai(asked)
    elsewhere = (doors.cartesia, doors.elevenlabs, doors.openai, doors.mcp, doors.realtime, doors.zipvoice)
    for voice, speak in zip(voices.values(), elsewhere, strict=True):
        assert speak(replace(asked, voice=voice)) == expected, voice
    deletions = (
        f"/voices/{voices['polyvox']}",
        f"/elevenlabs/v1/voices/{voices['openai']}",
        f"/v1/voices/{voices['elevenlabs']}",
        "/v1/zipvoice/voices/cartesia",
        f"/v1/voices/{doors.client.get('/v1/voices', params={'q': 'zipvoice'}).json()['data'][0]['id']}",
        f"/voices/{voices['mcp']}",
    )
    for voice, path in zip(voices.values(), deletions, strict=True):
        deleted = doors.client.delete(path)
        assert deleted.is_success, (path, deleted.text)
        refused = doors.client.post("/v1/audio/speech", json={"model": POCKET, "voice": voice, "input": "One."})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "voice"), path


def test_a_voice_sounds_the_same_after_a_restart_and_a_deleted_one_stays_away(folder: Path) -> None:
    with served(folder, "kept", *OWN_VOICES) as before:
        voice, gone = registered(before, "kept"), registered(before, "gone")
        asked = {model: Asked(model, voice, "One.", recording()) for model in OWN_VOICES}
        heard = {model: before.openai(each) for model, each in asked.items()}
        assert before.client.delete(f"/v1/voices/{gone}").is_success
    with served(folder, "kept", *OWN_VOICES) as after:
        assert {model: after.cartesia(each) for model, each in asked.items()} == heard
        assert [each["name"] for each in after.client.get("/v1/voices").json()["data"]] == ["kept"]
