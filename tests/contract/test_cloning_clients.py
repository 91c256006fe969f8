"""The SDKs of ElevenLabs, Cartesia and OpenAI make voices of a recording on a server of ours, and speak with them."""

from pathlib import Path

from helpers.client_environment import run_client
from helpers.cloning import CloneEngine
from helpers.documents import ROOT
from helpers.fakes import tone_service
from helpers.serving import served

KEY = "a-long-enough-key"
RECORDING = ROOT / "tests" / "recordings" / "librivox_a.flac"


def test_three_sdks_make_a_voice_and_speak_with_it(tmp_path: Path, moonshine_alone: Path) -> None:
    service = tone_service(CloneEngine(), api_keys=[KEY], data_dir=tmp_path, models_dir=moonshine_alone)
    with served(service) as url:
        found = run_client("sdks", "cloning_calls.py", url, KEY, RECORDING)
    ids = [seen.pop("id") for seen in found.values()]
    assert len(set(ids)) == 3
    assert all(voice.startswith("voice_") for voice in ids)
    assert found == {
        "elevenlabs": {
            "verification": False,
            "name": "by-elevenlabs",
            "user": ["polyvox", True, 0, "workspace_admin"],
            "unique": True,
            "spoken": True,
            "deleted": "ok",
        },
        "cartesia": {"name": "by-cartesia", "access": "private", "spoken": True},
        "openai": {"name": "by-openai", "object": "audio.voice", "spoken": True},
    }
