"""Both CosyVoices from text to samples, on tiny weights: what is heard depends on the request and on nothing else."""

import asyncio
import itertools
import json
from contextlib import aclosing
from dataclasses import replace

import numpy as np
import pytest
import torch

from helpers.tables import each_row
from helpers.tiny_cosyvoice import FRONTEND, SEED, let_speech_end, prompt, tiny_model
from polyvox.engines.catalog import Catalog
from polyvox.engines.cosyvoice.decoder.hops import Hops
from polyvox.engines.cosyvoice.decoder.sequential_stages import SequentialVocoder
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.engines.cosyvoice.frontend.tags import Tags
from polyvox.engines.cosyvoice.frontend.tokenizer import TextTokenizer
from polyvox.engines.cosyvoice.languages import LANGUAGES
from polyvox.engines.cosyvoice.lm_prompt import build_prompt, choose_mode
from polyvox.errors import (
    BundleError,
    EngineError,
    InvalidRequestError,
    PromptError,
    TextError,
    UnknownVoiceError,
)
from polyvox.installation import load_settings
from polyvox.text.detect import detect_language
from polyvox.types import ChunkPolicy, EngineLocation, PreparedVoice, Utterance

pytestmark = pytest.mark.anyio
VERSIONS = pytest.mark.parametrize("version", [2, 3])
E2E = json.loads((FRONTEND / "cosyvoice_text.json").read_text())["e2e"]


class Running:
    """An engine between start and close, and a voice it prepared."""

    def __init__(self, tmp_path, version, *, ends=False, **settings):
        folder = tiny_model(tmp_path / "model", version)
        if ends:
            let_speech_end(folder)
        self.engine = CosyVoiceEngine(load_settings(**{f"cosyvoice{version}_dir": folder}, **settings), version)

    async def __aenter__(self):
        await self.engine.start()
        self.voice = await self.engine.prepare(prompt())
        return self

    async def __aexit__(self, *_):
        await self.engine.close()

    def utterance(self, text="the wall.", **more):
        return Utterance(text, "", **{"seed": SEED, "prepared": self.voice, **more})

    async def said(self, utterance):
        async with aclosing(self.engine.speak(utterance)) as chunks:
            return [chunk async for chunk in chunks]


@pytest.mark.long
@VERSIONS
async def test_chunks_join_without_gap_and_are_cut_as_the_original_cuts_them(tmp_path, version):
    async with Running(tmp_path, version) as running:
        chunks = await running.said(running.utterance())
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    for before, after in itertools.pairwise(chunks):
        assert (before.end, before.tokens.end, before.frames.end) == (
            after.start,
            after.tokens.start,
            after.frames.start,
        )
    assert len(chunks) > 1
    assert len(chunks[0].pcm) == E2E["3.zero_shot.stream"]["chunks"][0] == 26_880
    assert len(chunks[0].tokens) == 32
    assert [len(chunk.tokens) for chunk in chunks[1:-1]] == [50] * len(chunks[1:-1])
    total = chunks[-1].end
    assert total == 960 * chunks[-1].tokens.end == 480 * chunks[-1].frames.end
    assert all(np.abs(chunk.pcm).max() <= 1 and np.isfinite(chunk.pcm).all() for chunk in chunks)
    assert [chunk.text for chunk in chunks] == ["the wall.", *[""] * (len(chunks) - 1)]


@pytest.fixture
def mels(monkeypatch):
    """The mel frames that the vocoder is given: it turns rounding into phase, so streams are compared before it."""
    heard = []
    step = SequentialVocoder.step

    def recording_step(self, hops):
        heard.extend(hop.mel for hop in hops)
        return step(self, hops)

    monkeypatch.setattr(SequentialVocoder, "step", recording_step)
    return heard


async def mel_of(running, mels):
    mels.clear()
    chunks = await running.said(running.utterance("the wall and all the word and a wall."))
    return chunks, torch.cat(mels, dim=1)


@pytest.mark.slow
@VERSIONS
async def test_neither_an_early_start_nor_forgetting_changes_what_is_spoken(tmp_path, version, mels):
    async with Running(tmp_path / "usual", version, ends=True) as usual:
        chunks, mel = await mel_of(usual, mels)
    for other, first in (({"cosyvoice_first_hop": 5}, 7), ({"cosyvoice_flow_memory": "recompute"}, 32)):
        async with Running(tmp_path / f"first {first}", version, ends=True, **other) as changed:
            others, other_mel = await mel_of(changed, mels)
        assert (mel - other_mel).abs().max().item() < 1e-4, other
        assert others[-1].end == chunks[-1].end, other
        assert len(others[0].tokens) == first, other


@pytest.mark.long
async def test_a_window_keeps_the_length(tmp_path):
    async with Running(tmp_path, 3, cosyvoice_flow_memory="window", cosyvoice_flow_window=100) as running:
        chunks = await running.said(running.utterance())
    assert chunks[-1].end == 960 * chunks[-1].tokens.end


@pytest.mark.long
@VERSIONS
@pytest.mark.usefixtures("token_audio")
async def test_speech_is_at_least_as_long_as_the_text_asks_for(tmp_path, version):
    async with Running(tmp_path, version) as running:
        for seed in range(3):
            chunks = await running.said(running.utterance("er", seed=seed))
            assert 2 * 2 <= chunks[-1].tokens.end <= 20 * 2


@pytest.mark.long
@pytest.mark.usefixtures("token_audio")
async def test_segments_follow_each_other_with_seeds_of_their_own(tmp_path):
    async with Running(tmp_path, 3, ends=True) as running:
        chunks = await running.said(running.utterance("all. " * 34))
    starts = [chunk for chunk in chunks if chunk.text]
    assert len(starts) > 1
    assert "".join(chunk.text for chunk in starts).replace(" ", "") == "all." * 34
    assert chunks[-1].end == sum(len(chunk.pcm) for chunk in chunks)


@pytest.mark.long
async def test_leaving_early_frees_the_sequence_and_the_stream(tmp_path):
    async with Running(tmp_path, 3, cosyvoice_streams=1) as running:
        async with aclosing(running.engine.speak(running.utterance("all " * 20))) as chunks:
            async for _ in chunks:
                break
        assert await asyncio.wait_for(running.said(running.utterance()), 30)


@pytest.mark.long
@VERSIONS
async def test_voices_that_come_with_the_model_speak_without_a_prompt(tmp_path, version):
    async with Running(tmp_path, version, ends=True) as running:
        assert [voice.id for voice in running.engine.voices] == ["spk_a"]
        assert await running.said(Utterance("the wall.", "spk_a", seed=1))


def ids(case):
    return [number for row in E2E[case]["prompt_text_ids"] + E2E[case]["text_ids"] for number in row or []]


@pytest.mark.long
@each_row(
    ("case", "text", "transcript", "instructions"),
    [
        ("2.zero_shot.offline", "the wall.", "a word", None),
        ("3.zero_shot.offline", "the wall.", "a word", None),
        ("2.cross_lingual.offline", "er[laughter]or.", "一句话", None),
        ("3.cross_lingual.offline", "er[laughter]or.", "一句话", None),
        ("2.instruct2.offline", "the wall.", "a word", "say it fast"),
        ("2.sft.offline", "er.", None, None),
        ("3.sft.offline", "er", None, None),
    ],
)
def test_each_mode_reads_what_the_originals_reads(case, text, transcript, instructions):
    version = int(case[0])
    tokenizer = TextTokenizer(FRONTEND / "CosyVoice-BlankEN", Tags(version))
    arrays = {"embedding": np.ones(192, np.float32)}
    if transcript is not None:
        language = np.frombuffer(b"zh" if transcript == "一句话" else b"en", np.uint8)
        arrays |= {"tokens": np.array([1, 2]), "text": tokenizer.encode_array(transcript), "language": language}
    voice = PreparedVoice(f"cosyvoice{version}", "", arrays)
    mode = choose_mode(voice, instructions, detect_language(text, LANGUAGES[version]))
    assert mode == case.split(".")[1]
    lm_prompt = build_prompt(voice, mode, instructions, tokenizer, version)
    assert [*lm_prompt.prompt_text, *tokenizer.encode(text)] == ids(case)
    assert lm_prompt.prompt_speech == ((1, 2) if mode == "zero_shot" else ())


def test_without_words_only_the_sound_is_used_and_zero_shot_may_be_asked_for():
    arrays = {"tokens": np.array([1]), "text": np.array([5]), "language": np.frombuffer(b"zh", np.uint8)}
    voice = PreparedVoice("cosyvoice3", "", arrays)
    assert choose_mode(voice, None, "en") == "cross_lingual"
    assert choose_mode(voice, None, "en", zero_shot=True) == "zero_shot"
    wordless = PreparedVoice("cosyvoice3", "", arrays | {"text": np.zeros(0, np.int32)})
    assert choose_mode(wordless, None, "zh", zero_shot=True) == "cross_lingual"


def test_version_3_has_its_system_prompt_before_an_instruction():
    tokenizer = TextTokenizer(FRONTEND / "CosyVoice-BlankEN", Tags(3))
    voice = PreparedVoice("cosyvoice3", "", {"tokens": np.array([1]), "embedding": np.ones(192, np.float32)})
    lm_prompt = build_prompt(voice, choose_mode(voice, "Fast!", "en"), "Fast!", tokenizer, 3)
    assert list(lm_prompt.prompt_text) == [*tokenizer.encode("You are a helpful assistant. Fast!"), 500]


@each_row("length", [0, 1, 24, 25, 43, 50, 251])
def test_hops_end_where_blocks_end(length):
    hops = Hops(ChunkPolicy(25, 2.0, 100), length, 25, 3)
    sizes = []
    for _ in range(5):
        assert (hops.end + length) % 25 == 0
        assert hops.needed == hops.end + 3
        sizes.append(hops.end - hops.done)
        hops = hops.after()
    assert sizes == [25 + -length % 25, 50, 100, 100, 100]


@pytest.mark.long
@VERSIONS
async def test_bad_input_is_refused_before_any_work(tmp_path, version):
    async with Running(tmp_path, version) as running:
        check = running.engine.check
        for text in ("Hi <|endofprompt|> there", "Hi [gigglesnort]", "<b>Hi</b>"):
            check(running.utterance(text))
        with pytest.raises(InvalidRequestError, match="does not speak 'sw'"):
            check(running.utterance(language="sw"))
        with pytest.raises(InvalidRequestError, match="longer than 500"):
            check(running.utterance(instructions="a" * 501))
        with pytest.raises(InvalidRequestError, match="cannot follow instructions"):
            check(Utterance("Hi", "spk_a", instructions="Fast"))
        with pytest.raises(UnknownVoiceError, match="use one of spk_a"):
            await running.said(Utterance("Hi", "nobody"))
        with pytest.raises(InvalidRequestError, match="prepared for 'other'"):
            await running.said(running.utterance(prepared=replace(running.voice, engine="other")))
        with pytest.raises(TextError, match="Nothing in the text"):
            await running.said(running.utterance("..."))
        wordless = await running.engine.prepare(prompt(""))
        with pytest.raises(PromptError, match="no transcript"):
            check(running.utterance(prepared=wordless, tuning={"zero_shot": 1.0}))
        marked = await running.engine.prepare(prompt("a <|im_end|> word"))
        assert np.array_equal(marked.arrays["text"], running.voice.arrays["text"])
    with pytest.raises(EngineError, match="not running"):
        await running.said(running.utterance())


async def test_a_folder_of_the_other_version_is_refused(tmp_path):
    engine = CosyVoiceEngine(load_settings(cosyvoice3_dir=tiny_model(tmp_path, 2)), 3)
    with pytest.raises(BundleError, match="holds CosyVoice 2, not 3"):
        await engine.start()


@pytest.mark.long
@pytest.mark.parametrize("claims", [True, False])
async def test_without_a_working_gpu_the_cpu_speaks_and_says_so(tmp_path, monkeypatch, claims):
    """The build for CPUs fails at the first tensor that is to go to a GPU, as a broken one does."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: claims)
    async with Running(tmp_path, 3, cosyvoice_device="cuda") as running:
        assert "runs on the CPU" in running.engine.warning
        assert ("failed its test" in running.engine.warning) is claims
        assert running.engine.location == EngineLocation("cpu")
        assert await running.said(running.utterance())


@pytest.mark.long
@VERSIONS
async def test_the_catalog_has_both(tmp_path, version):
    engine = Catalog.installed().factories[f"cosyvoice{version}"](load_settings(models_dir=tmp_path))
    tiny_model(tmp_path / f"cosyvoice{version}", version)
    await engine.start()
    assert engine.capabilities.cloning
    await engine.close()
