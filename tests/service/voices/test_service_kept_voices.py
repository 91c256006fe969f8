"""Kept mixes and imported voice packs: voices like every registered one, and styles of the model."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.cloning import REPORT, Studio, opened, studio_client
from helpers.fakes import TONES, ToneEngine, tone_spec
from helpers.serving import error_of
from polyvox.engines.catalog import Catalog
from polyvox.engines.spec import PresetPrompt, PresetVoices
from polyvox.errors import ConflictError, ForbiddenError, InvalidRequestError, UnknownVoiceError
from polyvox.service.voices.kept_voices import KeptVoices
from polyvox.types import PreparedVoice
from polyvox.voices.mixing import parse_mix
from polyvox.voices.recording.intake import CheckedRecording
from polyvox.voices.records import SHARED_OWNER, VoiceDetails
from polyvox.voices.references import RegisteredVoice
from polyvox.voices.storage.recordings import digest_of, read_wav
from polyvox.voices.torch_file import torch_file

pytestmark = pytest.mark.anyio

PACK = np.random.default_rng(3).uniform(-1, 1, (510, 1, 256)).astype(np.float32)


class StyledEngine(ToneEngine):
    """Speaks with styles, and remembers which it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._capabilities = replace(self._capabilities, voice_mixing=True)
        self.asked: list[tuple[dict[str, float], np.ndarray, str]] = []

    def check(self, utterance):
        if utterance.prepared is None:
            super().check(replace(utterance, voice=parse_mix(utterance.voice)[0].voice))

    async def speak(self, utterance):
        async for chunk in super().speak(replace(utterance, voice="low")):
            yield chunk
        self.heard[-1] = utterance

    def voice_from_style(self, mix, offset, language):
        self.asked.append(({part.voice: part.share for part in mix}, offset, language))
        return PreparedVoice(self.name, "", {})


def preset(name: str) -> PresetPrompt | None:
    try:
        known = all(term.voice in TONES for term in parse_mix(name))
    except UnknownVoiceError:
        known = False
    return PresetPrompt(name, "Good morning.", "en-us", "Good morning.") if known else None


@pytest.fixture(autouse=True)
def lending(monkeypatch):
    spec = replace(tone_spec(), presets=PresetVoices("tone", ("low", "high"), preset))
    monkeypatch.setattr(Catalog, "installed", lambda: Catalog((spec,)))


async def take_wav(data, limits):
    pcm, rate = read_wav(data)
    return CheckedRecording(pcm, rate, digest_of(data), REPORT)


def studio_of(folder, **settings) -> Studio:
    studio = Studio(folder, StyledEngine(), **settings)
    studio.intake.take = take_wav
    return studio


def named(name: str, **more) -> VoiceDetails:
    return VoiceDetails.checked(name=name, **more)


async def style_of(studio: Studio, voice: str, owner: str = "anna"):
    resolved = await studio.voices.resolver.resolve(RegisteredVoice(voice), owner)
    await resolved.prepare(studio.engine)
    return studio.engine.asked[-1]


async def test_a_kept_mix_is_its_owners_voice_and_survives_a_restart(tmp_path):
    async with opened(studio_of(tmp_path)) as studio:
        kept = KeptVoices(studio.speech.settings, studio.voices)
        record = (await kept.keep_mix("low(2)+high", named("combined_voice"), "anna")).record
        assert studio.engine.heard[0].voice == "low(2)+high", "its recording is a sentence in the mix"
        assert (record.transcript, record.language, record.owner) == ("Good morning.", "en-us", "anna")
    async with opened(studio_of(tmp_path)) as studio:
        shares, offset, language = await style_of(studio, "combined_voice")
        assert shares == pytest.approx({"low": 2 / 3, "high": 1 / 3})
        assert (offset.any(), language) == (np.False_, "en-us")
        assert [one.name for one in await studio.voices.styles_of(studio.engine, "anna", 10)] == ["combined_voice"]
        assert await studio.voices.styles_of(studio.engine, "bert", 10) == []
        assert await studio.voices.resolver.resolve(RegisteredVoice("combined_voice"), "bert") is None
        await studio.voices.delete(record.id, "anna")
        assert await studio.voices.resolver.resolve(RegisteredVoice("combined_voice"), "anna") is None


async def test_a_pack_is_spoken_as_it_is_and_in_mixes_and_its_file_goes_with_it(tmp_path):
    async with opened(studio_of(tmp_path)) as studio:
        kept = KeptVoices(studio.speech.settings, studio.voices)
        details = named("af_mine", language="en-us")
        record = (await kept.keep_pack(torch_file(PACK), details, "anna")).record
        (file,) = (tmp_path / "packs").iterdir()
        assert file.suffix == ".safetensors"
        shares, offset, _ = await style_of(studio, "af_mine")
        assert shares == {}
        np.testing.assert_array_equal(offset, PACK)
        shares, offset, _ = await style_of(studio, "af_mine+high")
        assert shares == {"high": 0.5}
        np.testing.assert_allclose(offset, PACK / 2)
        await studio.voices.delete(record.id, "anna")
        assert list((tmp_path / "packs").iterdir()) == []


async def test_a_pack_whose_file_is_lost_or_changed_is_refused(tmp_path):
    async with opened(studio_of(tmp_path)) as studio:
        await KeptVoices(studio.speech.settings, studio.voices).keep_pack(torch_file(PACK), named("mine"), "anna")
        (file,) = (tmp_path / "packs").iterdir()
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(content)
        with pytest.raises(InvalidRequestError, match="import it again"):
            await style_of(studio, "mine")
        file.unlink()
        with pytest.raises(InvalidRequestError, match="import it again"):
            await style_of(studio, "mine")


async def test_what_cannot_be_kept_is_refused_before_it_speaks_and_leaves_no_file(tmp_path):
    async with opened(studio_of(tmp_path, max_voices=1)) as studio:
        kept = KeptVoices(studio.speech.settings, studio.voices)
        await kept.keep_mix("low+high", named("one"), "anna")
        spoken = len(studio.engine.heard)
        for refused, error in (
            (kept.keep_mix("low+high", named("one"), "anna"), ConflictError),
            (kept.keep_mix("low+high", named("low"), "anna"), ConflictError),
            (kept.keep_mix("low+nobody", named("two"), "anna"), UnknownVoiceError),
            (kept.keep_mix("../etc", named("two"), "anna"), UnknownVoiceError),
            (kept.keep_pack(b"no pack", named("two"), "anna"), InvalidRequestError),
        ):
            with pytest.raises(error):
                await refused
        assert len(studio.engine.heard) == spoken
        with pytest.raises(ForbiddenError, match="1 voice"):
            await kept.keep_pack(torch_file(PACK), named("two"), "anna")
        assert list((tmp_path / "packs").iterdir()) == []


async def test_the_door_keeps_mixes_and_packs_and_lists_them_by_name(tmp_path):
    async with studio_client(tmp_path, StyledEngine()) as (studio, client):
        studio.intake.take = take_wav
        mix = await client.post("/v1/voices", json={"name": "combined_voice", "mix": "low(2)+high(1)"})
        files = {"pack": ("af_mine.pt", torch_file(PACK))}
        pack = await client.post("/v1/voices", data={"name": "bf_mine"}, files=files)
        both = await client.post("/v1/voices", data={"name": "x", "mix": "low+high"}, files=files)
        wrong = await client.post("/v1/voices", data={"name": "x"}, files={"pack": ("x.pt", b"\x80\x04.")})
        listed = (await client.get("/v1/audio/voices?legacy=true")).json()["voices"]
        spoken = await client.post("/v1/audio/speech", json={"input": "One.", "voice": "combined_voice"})
    assert mix.json()["quality"]["mix"] == {"model": "tone", "base": "low(2)+high(1)"}
    assert (pack.status_code, pack.json()["language"]) == (201, "en-gb")
    assert set(pack.json()["quality"]["pack"]) == {"model", "digest"}, "the name of the file stays here"
    assert [(one.status_code, error_of(one)["param"]) for one in (both, wrong)] == [(400, "audio"), (400, "pack")]
    assert listed == ["low", "high", "bf_mine", "combined_voice"]
    assert spoken.status_code == 200, spoken.text
    assert studio.engine.heard[-1].prepared is not None


async def test_packs_need_a_folder_of_this_machine(tmp_path):
    studio = studio_of(tmp_path)
    shared = studio.speech.settings.model_copy(update={"voice_database": "postgresql://somewhere"})
    async with opened(studio):
        with pytest.raises(ForbiddenError, match="voice_database"):
            await KeptVoices(shared, studio.voices).keep_pack(torch_file(PACK), named("mine"), SHARED_OWNER)
