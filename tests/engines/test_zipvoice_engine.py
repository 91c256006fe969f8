"""The ZipVoice engine with tiny networks: chunks, seeds, batching, dialogue, and refusals."""

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from structlog.testing import capture_logs

from helpers.silent_progress import SilentProgress
from helpers.tables import each_row
from helpers.zipvoice_bundle import write_model, write_vocoder
from polyvox.bundles.pull import pull
from polyvox.engines.catalog import Catalog
from polyvox.engines.zipvoice import loading
from polyvox.engines.zipvoice.bundle import load_networks
from polyvox.engines.zipvoice.engine import ZipVoiceEngine, chunk_policy
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.engines.zipvoice.tuning import ZipVoiceTuning
from polyvox.engines.zipvoice.variants import VARIANTS, Variant
from polyvox.engines.zipvoice.voice import ZipVoicePrompt
from polyvox.errors import (
    BundleError,
    EngineError,
    InvalidRequestError,
    MarkupError,
    PromptError,
    TextError,
    UnavailableError,
    UnknownVoiceError,
)
from polyvox.installation import load_settings
from polyvox.types import AudioChunk, PreparedVoice, Utterance, VoicePrompt

pytestmark = pytest.mark.anyio
CPU = torch.device("cpu")
DISTILLED, STEREO = VARIANTS["zipvoice_distill"], VARIANTS["zipvoice_dialog_stereo"]
RATE = 24_000
TEXT = "Hello world. This is a test of the house, and it is long enough to be cut; I think so!"


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    write_vocoder(root / "vocos")
    for variant in (DISTILLED, STEREO):
        write_model(root / variant.name, variant.name)
    return root


@pytest.fixture(scope="module")
def networks(folders: Path) -> dict[str, ZipVoiceNetworks]:
    return {
        variant.name: load_networks(variant, folders / variant.name, folders / "vocos", CPU)
        for variant in (DISTILLED, STEREO)
    }


@pytest.fixture
def installed(folders: Path, tmp_path: Path, loose_manifests: None) -> Path:
    copy, models = tmp_path / "copy", tmp_path / "models"
    shutil.copytree(folders / DISTILLED.name, copy / DISTILLED.name)
    shutil.copyfile(folders / "vocos" / "pytorch_model.bin", copy / "pytorch_model.bin")
    pull(DISTILLED.name, models_dir=models, folder=copy, hub_url="http://127.0.0.1:9", progress=SilentProgress())
    return models


@pytest.fixture
async def engine(networks: dict[str, ZipVoiceNetworks]) -> AsyncIterator[ZipVoiceEngine]:
    started = ZipVoiceEngine(DISTILLED, load_settings())
    await started.start_with(networks[DISTILLED.name], CPU)
    yield started
    await started.close()


@pytest.fixture
async def stereo(networks: dict[str, ZipVoiceNetworks]) -> AsyncIterator[ZipVoiceEngine]:
    started = ZipVoiceEngine(STEREO, load_settings())
    await started.start_with(networks[STEREO.name], CPU)
    yield started
    await started.close()


def recording(seconds: float = 2.0, pitch: float = 0.05, amplitude: float = 0.05) -> np.ndarray:
    return (np.sin(np.arange(round(seconds * RATE)) * pitch) * amplitude).astype(np.float32)


async def prepared(engine: ZipVoiceEngine, transcript: str = "Hello there, this is me.", **kwargs) -> PreparedVoice:
    return await engine.prepare(VoicePrompt(recording(**kwargs), RATE, transcript, "digest"))


def utterance(voice: PreparedVoice, text: str = TEXT, **fields) -> Utterance:
    tuning = {"num_steps": 2.0, **fields.pop("tuning", {})}
    return Utterance(text, "mine", prepared=voice, seed=fields.pop("seed", 1), tuning=tuning, **fields)


async def spoken(engine: ZipVoiceEngine, asked: Utterance) -> list[AudioChunk]:
    engine.check(asked)
    return [chunk async for chunk in engine.speak(asked)]


@pytest.mark.long
@pytest.mark.parametrize("variant", [DISTILLED, STEREO], ids=lambda variant: variant.name)
async def test_texts_that_other_processes_read_give_the_same_samples(
    networks: dict[str, ZipVoiceNetworks], variant: Variant
) -> None:
    texts = ["[S1] He paid $5.20. [S2] Who? [pause:300ms] 今天3点。 <chang2>城 [S1] Me." * 2, TEXT, "No [S2] one <b"]
    made = []
    for workers in (0, 2):
        engine = ZipVoiceEngine(variant, load_settings(zipvoice_text_workers=workers))
        await engine.start_with(networks[variant.name], CPU)
        voice = await prepared(engine)
        made.append(await asyncio.gather(*(spoken(engine, utterance(voice, text)) for text in texts)))
        with pytest.raises(MarkupError, match="length of time"):
            await spoken(engine, utterance(voice, "Wait. [pause:0.3]"))
        await engine.close()
    for alone, beside in zip(*made, strict=True):
        assert [(chunk.text, chunk.tokens) for chunk in alone] == [(chunk.text, chunk.tokens) for chunk in beside]
        for one, other in zip(alone, beside, strict=True):
            np.testing.assert_allclose(one.pcm, other.pcm, atol=1e-5)


def samples(chunks: list[AudioChunk]) -> np.ndarray:
    return np.concatenate([chunk.pcm for chunk in chunks])


@pytest.mark.long
async def test_chunks_follow_each_other_and_point_at_the_text(engine: ZipVoiceEngine) -> None:
    chunks = await spoken(engine, utterance(await prepared(engine)))
    assert len(chunks) > 1
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(after.start == before.end for before, after in itertools.pairwise(chunks))
    assert all(after.tokens.start == before.tokens.end for before, after in itertools.pairwise(chunks))
    assert " ".join(chunk.text for chunk in chunks) == TEXT
    assert all(chunk.stages.flow.device > 0 and chunk.stages.vocoder.device > 0 for chunk in chunks)
    assert all(chunk.stages.lm is None and chunk.frames for chunk in chunks)
    assert all(TEXT[chunk.span.start : chunk.span.end] == chunk.text for chunk in chunks)
    assert chunks[0].text == "Hello world."


@pytest.mark.long
async def test_the_length_follows_the_prompts_pace_and_the_speed(engine: ZipVoiceEngine) -> None:
    voice = await prepared(engine)
    pace = len(voice.arrays["mel"]) / len(voice.arrays["tokens"])
    for speed in (1.0, 1.5):
        chunk = (await spoken(engine, utterance(voice, "Hello world.", speed=speed)))[0]
        frames = int(np.ceil(np.float32(pace) * 14 / np.float32(speed)))
        assert len(chunk.pcm) == pytest.approx((frames - 1) * 256, abs=2 * 2400)


@pytest.mark.long
async def test_a_seed_gives_the_same_speech_and_another_seed_another(engine: ZipVoiceEngine) -> None:
    voice = await prepared(engine)
    text = "Hello world. I think so!"
    first, again, other = [samples(await spoken(engine, utterance(voice, text, seed=seed))) for seed in (5, 5, 6)]
    np.testing.assert_allclose(first, again, atol=1e-6)
    assert first.shape != other.shape or np.abs(first - other).max() > 1e-3


@pytest.mark.long
async def test_without_a_seed_no_two_utterances_are_alike(engine: ZipVoiceEngine) -> None:
    voice = await prepared(engine)
    first, second = [samples(await spoken(engine, utterance(voice, "Hello world.", seed=None))) for _ in range(2)]
    assert first.shape != second.shape or np.abs(first - second).max() > 1e-3


@pytest.mark.long
async def test_batched_utterances_equal_the_same_spoken_alone(engine: ZipVoiceEngine) -> None:
    voice, other = await prepared(engine), await prepared(engine, "你好，是我。", pitch=0.09)
    asked = [
        utterance(voice, TEXT, seed=1),
        utterance(other, "Yes. No, I do not think so.", seed=2, tuning={"num_steps": 5.0, "guidance_scale": 1.0}),
        utterance(voice, "你好，世界。", seed=3, speed=1.3),
        utterance(other, "Hello", seed=4, tuning={"num_steps": 1.0}),
    ]
    together = await asyncio.gather(*(spoken(engine, each) for each in asked))
    for each, ours in zip(asked, together, strict=True):
        alone = await spoken(engine, each)
        assert [chunk.start for chunk in ours] == [chunk.start for chunk in alone]
        np.testing.assert_allclose(samples(ours), samples(alone), atol=1e-4)


@pytest.mark.long
async def test_steps_of_several_requests_share_batches(networks: dict[str, ZipVoiceNetworks]) -> None:
    sizes: list[tuple[str, int]] = []
    engine = ZipVoiceEngine(DISTILLED, load_settings())
    engine.observe(lambda report: sizes.append((report.stage, report.size)))
    await engine.start_with(networks[DISTILLED.name], CPU)
    voice = await prepared(engine)
    await asyncio.gather(*(spoken(engine, utterance(voice, "Hello.", tuning={"num_steps": 8.0})) for _ in range(4)))
    await engine.close()
    assert max(size for stage, size in sizes if stage == "zipvoice-step") > 1


@pytest.mark.long
async def test_a_pause_is_silence_of_its_length(engine: ZipVoiceEngine) -> None:
    chunks = await spoken(engine, utterance(await prepared(engine), "Hello. [pause:0.5s] World."))
    assert [len(chunk.pcm) for chunk in chunks if not chunk.pcm.any()] == [12_000]


@pytest.mark.long
async def test_an_abandoned_utterance_leaves_the_engine_as_it_was(engine: ZipVoiceEngine) -> None:
    voice = await prepared(engine)
    speech = engine.speak(utterance(voice, tuning={"num_steps": 4.0}))
    await anext(speech)
    await speech.aclose()
    task = asyncio.ensure_future(spoken(engine, utterance(voice, tuning={"num_steps": 32.0})))
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert await spoken(engine, utterance(voice, "Hello."))


@pytest.mark.long
async def test_a_soft_recording_is_spoken_as_softly(engine: ZipVoiceEngine) -> None:
    voices = [await prepared(engine, amplitude=amplitude) for amplitude in (0.05, 0.1)]
    soft, loud = [samples(await spoken(engine, utterance(voice, "Hello world."))) for voice in voices]
    # Both are raised to the same RMS before they reach the network.
    assert soft.std() == pytest.approx(loud.std() / 2, rel=0.05)


async def test_raising_a_mel_is_raising_its_recording() -> None:
    noise = np.random.default_rng(0).standard_normal(24_000).astype(np.float32) * np.float32(0.02)
    pcm = np.concatenate((noise, np.zeros(4800, np.float32)))
    voice = ZipVoicePrompt.of([1], pcm)
    raised, gain = voice.amplify_to(0.1)
    np.testing.assert_allclose(raised.mel, ZipVoicePrompt.of([1], pcm * np.float32(gain)).mel, atol=1e-3)
    assert voice.amplify_to(0.01)[1] == 1.0


@pytest.mark.long
async def test_long_silences_are_cut_only_if_asked(engine: ZipVoiceEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    import polyvox.engines.zipvoice.synthesizer as module

    calls: list[int] = []
    monkeypatch.setattr(module, "with_pauses_cut", lambda pcm, rate: calls.append(rate) or pcm)
    voice = await prepared(engine)
    await spoken(engine, utterance(voice, "Hello."))
    assert calls == []
    await spoken(engine, utterance(voice, "Hello.", tuning={"remove_long_silence": 1.0}))
    assert calls == [RATE]


@pytest.mark.long
async def test_stereo_is_stereo_and_the_speakers_are_told_apart(stereo: ZipVoiceEngine) -> None:
    assert stereo.capabilities.channels == 2
    assert stereo.capabilities.dialogue
    first, second = await prepared(stereo), await prepared(stereo, "Yes, it is.", pitch=0.11)
    both = stereo.dialogue_voice(first, second)
    assert both.arrays["mel"].shape == (len(first.arrays["mel"]) + len(second.arrays["mel"]), 200)
    chunks = await spoken(stereo, utterance(both, "[S1] Hello. [S2] Good morning to you. [S1] Bye."))
    pcm = samples(chunks)
    assert pcm.ndim == 2
    assert pcm.shape[1] == 2
    assert np.abs(pcm[:, 0] - pcm[:, 1]).max() > 1e-3


@pytest.mark.long
async def test_one_voice_may_speak_a_dialogue_model_and_begins_as_the_first_speaker(stereo: ZipVoiceEngine) -> None:
    assert (await spoken(stereo, utterance(await prepared(stereo), "Hello.")))[0].pcm.shape[1] == 2


async def test_a_model_for_one_voice_makes_no_duets(engine: ZipVoiceEngine) -> None:
    voice = await prepared(engine)
    with pytest.raises(UnavailableError, match="one for dialogues"):
        engine.dialogue_voice(voice, voice)


@pytest.mark.long
async def test_fifty_thousand_characters_start_at_once_and_are_read_as_they_are_spoken(engine: ZipVoiceEngine) -> None:
    text = "This is one sentence of very many. " * 1430
    speech = engine.speak(utterance(await prepared(engine), text, tuning={"num_steps": 1.0}))
    first = await asyncio.wait_for(anext(speech), 10)
    assert len(first.text) < 100
    await speech.aclose()


@pytest.mark.long
@each_row(
    ("name", "value"),
    [
        ("num_steps", 0.0),
        ("num_steps", 33.0),
        ("num_steps", 2.5),
        ("num_steps", float("nan")),
        ("guidance_scale", -1.0),
        ("guidance_scale", 11.0),
        ("t_shift", 0.0),
        ("max_duration", 0.0),
        ("target_rms", 0.0),
    ],
)
async def test_tuning_out_of_range_is_refused(engine: ZipVoiceEngine, name: str, value: float) -> None:
    with pytest.raises(InvalidRequestError, match=name) as caught:
        engine.check(utterance(await prepared(engine), tuning={name: value}))
    assert caught.value.field == name


async def test_requests_without_a_voice_a_language_or_a_word_are_refused(engine: ZipVoiceEngine) -> None:
    voice = await prepared(engine)
    with pytest.raises(UnknownVoiceError, match="none of its own"):
        engine.check(replace(utterance(voice), prepared=None))
    with pytest.raises(InvalidRequestError, match="does not speak 'fr'"):
        engine.check(utterance(voice, language="fr"))
    with pytest.raises(InvalidRequestError, match="prepared for the model 'other'"):
        engine.check(utterance(replace(voice, engine="other")))
    with pytest.raises(UnknownVoiceError, match="prepare it again"):
        engine.check(utterance(replace(voice, arrays={})))
    with pytest.raises(TextError, match="Nothing in the text"):
        await spoken(engine, utterance(voice, "... !!! [pause:1s]"))


@pytest.mark.long
@each_row("transcript", ["", "…", "[laugh]"])
async def test_a_transcript_without_a_word_is_refused(engine: ZipVoiceEngine, transcript: str) -> None:
    with pytest.raises(PromptError, match="no word") as caught:
        await prepared(engine, transcript)
    assert caught.value.field == "prompt_text"


@pytest.mark.long
async def test_english_is_spoken_without_espeak_and_the_engine_says_so(networks: dict[str, ZipVoiceNetworks]) -> None:
    engine = ZipVoiceEngine(DISTILLED, load_settings(espeak="no-such-program"))
    assert engine.warning == ""
    await engine.start_with(networks[DISTILLED.name], CPU)
    assert engine.location.device == "cpu"
    with capture_logs() as logs:
        assert await spoken(engine, utterance(await prepared(engine)))
    assert logs == []
    assert "espeak-ng is not installed" in engine.warning
    await engine.close()


@pytest.mark.long
async def test_unknown_tokens_are_reported(engine: ZipVoiceEngine) -> None:
    with capture_logs() as logs:
        await spoken(engine, utterance(await prepared(engine), "[laugh] hello"))
    assert ["[laugh]"] in [entry.get("tokens") for entry in logs]


def test_chunks_fit_with_the_prompt_into_what_the_model_can_say_at_once() -> None:
    voice = ZipVoicePrompt((1,) * 50, np.zeros((469, 100), np.float32), 0.1)
    policy = chunk_policy(voice, ZipVoiceTuning.of({}).resolve(DISTILLED), 1.0)
    assert policy.first == pytest.approx(3.0 / voice.token_seconds, abs=1)
    assert policy.maximum == pytest.approx((25.0 - voice.seconds) / voice.token_seconds, abs=1)
    short = chunk_policy(voice, ZipVoiceTuning.of({"max_duration": 1.0}).resolve(DISTILLED), 1.0)
    assert short.maximum == pytest.approx(4.0 / voice.token_seconds, abs=1)


@pytest.mark.long
async def test_a_pulled_model_starts_and_speaks(installed: Path) -> None:
    engine = Catalog.installed().factories[DISTILLED.name](load_settings(models_dir=installed, zipvoice_device="cpu"))
    await engine.start()
    assert await spoken(engine, utterance(await prepared(engine), "Hello."))
    await engine.close()
    with pytest.raises(EngineError, match="not running"):
        await prepared(engine)


async def test_a_model_that_is_not_installed_names_the_command(tmp_path: Path) -> None:
    assert Catalog.installed().factories.keys() >= VARIANTS.keys()
    with pytest.raises(BundleError, match="polyvox pull zipvoice_dialog"):
        await Catalog.installed().factories["zipvoice_dialog"](load_settings(models_dir=tmp_path)).start()


async def test_dialogue_models_have_no_onnx_graphs(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="zipvoice_executor"):
        await (
            Catalog.installed()
            .factories[STEREO.name](load_settings(models_dir=tmp_path, zipvoice_executor="onnx"))
            .start()
        )
    with pytest.raises(BundleError, match="polyvox pull zipvoice_distill-onnx"):
        await (
            Catalog.installed()
            .factories[DISTILLED.name](load_settings(models_dir=tmp_path, zipvoice_executor="onnx-int8"))
            .start()
        )


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model.json", "{", "not a JSON file"),
        ("model.json", '{"model": {}, "feature": {}}', "fm_decoder_downsampling_factor"),
        ("tokens.txt", "_\t0\n", "do not fit"),
        ("model.pt", "no weights", "cannot be read"),
    ],
)
def test_a_damaged_folder_is_refused(folders: Path, tmp_path: Path, name: str, content: str, message: str) -> None:
    folder = Path(shutil.copytree(folders / DISTILLED.name, tmp_path / "model"))
    (folder / name).write_text(content)
    with pytest.raises(BundleError, match=message):
        load_networks(DISTILLED, folder, folders / "vocos", CPU)


def test_weights_of_another_variant_are_refused(folders: Path) -> None:
    with pytest.raises(BundleError, match="do not fit"):
        load_networks(VARIANTS["zipvoice"], folders / DISTILLED.name, folders / "vocos", CPU)
    with pytest.raises(BundleError, match=r"no \[S1\]"):
        load_networks(STEREO, folders / DISTILLED.name, folders / "vocos", CPU)


async def warning_of_start(models: Path, device: str) -> str:
    engine = ZipVoiceEngine(DISTILLED, load_settings(models_dir=models, zipvoice_device=device))
    await engine.start()
    assert await spoken(engine, utterance(await prepared(engine), "Hello."))
    warning = engine.warning
    await engine.close()
    return warning


@pytest.mark.long
async def test_without_a_gpu_it_runs_on_the_cpu_and_warns_where_one_was_asked_for(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "PyTorch finds no GPU, so ZipVoice runs on the CPU" in await warning_of_start(installed, "cuda")
    assert "GPU" not in await warning_of_start(installed, "auto")


@pytest.mark.long
@pytest.mark.parametrize("device", ["auto", "cuda"])
async def test_a_gpu_that_fails_its_trial_is_not_used(
    installed: Path, monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    def load(
        variant: object, folder: Path, vocoder: Path, device: torch.device, dtype: torch.dtype = torch.float32
    ) -> ZipVoiceNetworks:
        if device.type == "cuda":
            raise RuntimeError("no kernel image is available\nfor execution on the device")
        return load_networks(DISTILLED, folder, vocoder, device)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(loading, "load_networks", load)
    assert "The GPU failed its test (no kernel image is available)" in await warning_of_start(installed, device)


def test_non_finite_values_fail_the_trial(networks: dict[str, ZipVoiceNetworks]) -> None:
    for variant in (DISTILLED, STEREO):
        loading.try_out(networks[variant.name], variant.channels * 100, CPU)

    def broken(mels: list[torch.Tensor]) -> list[torch.Tensor]:
        return [torch.full((len(mel),), float("nan")) for mel in mels]

    vocos: Any = broken
    with pytest.raises(RuntimeError, match="non-finite"):
        loading.try_out(replace(networks[DISTILLED.name], vocos=vocos), 100, CPU)
