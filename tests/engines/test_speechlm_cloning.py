"""Cloning from a recording with NeuCodec's own encoder: tokens, bounds, threads, and what is said where it lacks."""

import asyncio
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from helpers.seeded_codec import seeded_codec_state
from helpers.tiny_speechlm import (
    CODEC,
    CODEC_SEED,
    ENCODER_GOLDEN,
    tiny_speechlm_settings,
    whole_codec_state,
    write_cloning_model,
    write_tiny_codec,
    write_whole_codec,
)
from polyvox.engines.speechlm.bundle import load_codec
from polyvox.engines.speechlm.encoder import NetworkEncoder
from polyvox.engines.speechlm.encoder_weights import EncoderWeights
from polyvox.engines.speechlm.engine import SpeechLmEngine
from polyvox.engines.speechlm.loading import find_encoder, load_networks
from polyvox.errors import BundleError, PromptError, UnavailableError
from polyvox.types import Utterance, VoicePrompt

pytestmark = pytest.mark.anyio

CPU = torch.device("cpu")
GOLDEN = load_file(ENCODER_GOLDEN / "tiny.safetensors")
CLIPS = {name: GOLDEN[f"{name}.audio_in"].numpy() for name in ("short", "long")}
CODES = {name: GOLDEN[f"{name}.codes"].flatten().tolist() for name in ("short", "long")}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return write_cloning_model(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def networks(models):
    return load_networks(tiny_speechlm_settings(models))


@asynccontextmanager
async def engine(networks, observer=None):
    made = SpeechLmEngine(tiny_speechlm_settings(Path("unused")))
    if observer is not None:
        made.observe(observer)
    await made.start_with(networks)
    try:
        yield made
    finally:
        await made.close()


def prompt(pcm, rate=16_000, transcript="Ini suara saya.", digest="abc"):
    return VoicePrompt(pcm, rate, transcript, digest)


def codes(voice):
    return voice.arrays["codes"].tolist()


class HeldEncoder:
    """Encodes when it is let."""

    def __init__(self):
        self.began, self.let, self.calls = threading.Event(), threading.Event(), 0

    def encode(self, pcm):
        self.calls += 1
        self.began.set()
        assert self.let.wait(30)
        return np.arange(5)


async def spoken(made, **utterance):
    wish = {"text": "Selamat pagi.", "voice": "husein", "seed": 5, "tuning": {"max_tokens": 10}} | utterance
    return np.concatenate([chunk.pcm async for chunk in made.speak(Utterance(**wish))])


@pytest.mark.long
async def test_the_engine_s_tokens_are_those_of_the_original_and_its_voice_speaks(networks):
    async with engine(networks) as made:
        voice = await made.prepare(prompt(CLIPS["long"]))
        assert (codes(voice), voice.engine, voice.digest) == (CODES["long"], "speechlm", "abc")
        assert len(await spoken(made, voice="mine", prepared=voice)) == 10 * 480


@pytest.mark.long
async def test_a_voice_depends_neither_on_others_at_once_nor_on_earlier_ones(networks):
    reports = []
    async with engine(networks, reports.append) as made:
        names = ["short", "long", "short", "long"]
        together = await asyncio.gather(*(made.prepare(prompt(CLIPS[name])) for name in names))
        assert [codes(voice) for voice in together] == [CODES[name] for name in names]
    assert [report.size for report in reports if report.stage == "speechlm encoder"] == [1] * 4


async def test_speech_and_the_event_loop_do_not_wait_for_a_recording(networks):
    encoder = HeldEncoder()
    async with engine(replace(networks, encoder=encoder)) as made:
        preparing = asyncio.create_task(made.prepare(prompt(CLIPS["long"])))
        assert await asyncio.to_thread(encoder.began.wait, 30)
        async with asyncio.timeout(30):
            assert len(await spoken(made)) == 10 * 480
        assert not preparing.done()
        encoder.let.set()
        assert codes(await preparing) == list(range(5))


@pytest.mark.long
@pytest.mark.parametrize(
    ("given", "words", "field"),
    [
        (prompt(np.zeros(721 * 1000, np.float32), 24_000), "30 are the most", "reference_audio"),
        (prompt(np.zeros(2**22, np.float32)), "30 are the most", "reference_audio"),
        (prompt(np.zeros(500, np.float32)), "too short", "reference_audio"),
        (prompt(np.zeros(0, np.float32)), "too short", "reference_audio"),
        (prompt(CLIPS["long"], transcript=" "), "transcript", "reference_text"),
    ],
)
async def test_what_cannot_be_a_voice_is_refused_before_any_work(networks, given, words, field):
    encoder = HeldEncoder()
    async with engine(replace(networks, encoder=encoder)) as made:
        with pytest.raises(PromptError, match=words) as caught:
            await made.prepare(given)
    assert (caught.value.field, encoder.calls) == (field, 0)


@pytest.mark.long
async def test_half_a_minute_is_a_voice(networks):
    async with engine(networks) as made:
        voice = await made.prepare(prompt(np.resize(CLIPS["long"], 30 * 16_000)))
    assert len(codes(voice)) == 1500


@pytest.mark.long
def test_the_network_is_loaded_with_the_first_recording_and_once(models):
    loads = []
    weights = EncoderWeights(models / "neucodec", models / "w2v-bert")
    encoder = NetworkEncoder(lambda: loads.append(1) or weights.load(CPU))
    assert loads == []
    for name in ("short", "long", "short"):
        assert encoder.encode(CLIPS[name]).tolist() == CODES[name]
    assert loads == [1]


@pytest.mark.long
def test_a_load_that_failed_is_tried_again(tmp_path):
    encoder = NetworkEncoder(lambda: EncoderWeights(tmp_path / "neucodec", tmp_path).load(CPU))
    with pytest.raises(BundleError, match="polyvox pull neucodec"):
        encoder.encode(CLIPS["short"])
    write_whole_codec(tmp_path / "neucodec")
    assert encoder.encode(CLIPS["short"]).tolist() == CODES["short"]


def test_a_gpu_without_memory_is_told_to_the_caller():
    def load():
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(UnavailableError, match="send a shorter one"):
        NetworkEncoder(load).encode(CLIPS["short"])


# Folders


def test_weights_of_the_decoder_alone_name_the_command(tmp_path):
    write_tiny_codec(tmp_path / "neucodec")
    encoder, fault = find_encoder(EncoderWeights(tmp_path / "neucodec", tmp_path / "w2v-bert"), CPU)
    assert encoder is None
    assert "polyvox pull neucodec" in fault
    assert "encoder.onnx" in fault


@pytest.mark.long
def test_weights_of_w2v_bert_may_lie_in_a_folder_of_their_own(tmp_path):
    write_whole_codec(tmp_path / "neucodec", without="semantic_model.")
    weights = EncoderWeights(tmp_path / "neucodec", tmp_path / "w2v-bert")
    assert "polyvox pull w2v-bert" in weights.fault()
    (tmp_path / "w2v-bert").mkdir()
    (tmp_path / "w2v-bert" / "model.safetensors").write_bytes(b"nonsense")
    assert "fetch it again" in weights.fault()
    prefix = "semantic_model."
    semantic = {name[len(prefix) :]: tensor for name, tensor in whole_codec_state().items() if name.startswith(prefix)}
    save_file(semantic, tmp_path / "w2v-bert" / "model.safetensors")
    assert weights.fault() == ""
    assert weights.load(CPU).encode(CLIPS["long"]).tolist() == CODES["long"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("CodecEnc.conv_final_block.1.bias", "conv_final_block.1.bias"),
        ("CodecEnc.conv_blocks.0.weight_v", "conv_blocks.0.weight_v"),
        ("fc_prior.weight", "fc_prior.weight"),
        ("SemanticEncoder_module.final_conv.weight", "final_conv.weight"),
        ("semantic_model.encoder.layers.9.ffn1_layer_norm.bias", "layers.9.ffn1_layer_norm.bias"),
    ],
)
def test_a_weight_that_is_missing_is_named_at_the_start_and_speech_goes_on(tmp_path, name, words):
    write_whole_codec(tmp_path / "neucodec", without=name)
    settings = tiny_speechlm_settings(tmp_path, speechlm_url="http://127.0.0.1:9")
    networks = load_networks(settings)
    assert networks.encoder is None
    assert words in networks.encoder_fault
    with pytest.raises(BundleError, match=words.replace(".", r"\.")):
        EncoderWeights(tmp_path / "neucodec", tmp_path).load(CPU)


@pytest.mark.long
@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_weights_are_copied_out_of_a_mapped_file(tmp_path, zipped):
    folder = tmp_path / "neucodec"
    folder.mkdir()
    path = folder / "pytorch_model.bin"
    torch.save(whole_codec_state(), path, _use_new_zipfile_serialization=zipped)
    codec, encoder = load_codec(folder, CPU), EncoderWeights(folder, folder).load(CPU)
    tokens = torch.arange(9)[None]
    expected = codec(tokens)
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
    assert torch.equal(codec(tokens), expected)
    assert encoder.encode(CLIPS["short"]).tolist() == CODES["short"]


@pytest.mark.long
def test_the_decoder_is_the_same_with_the_encoder_beside_it(tmp_path):
    write_whole_codec(tmp_path / "whole")
    (tmp_path / "alone").mkdir()
    state = seeded_codec_state(CODEC, CODEC_SEED) | {
        name: tensor for name, tensor in whole_codec_state().items() if "quantizer" in name
    }
    save_file(state, tmp_path / "alone" / "model.safetensors")
    tokens = torch.arange(9)[None]
    assert torch.equal(load_codec(tmp_path / "whole", CPU)(tokens), load_codec(tmp_path / "alone", CPU)(tokens))
