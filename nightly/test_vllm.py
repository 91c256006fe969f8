"""The language model behind a real vLLM: the same tokens as in this process, and a whole request through the engine."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import torch
from safetensors.torch import save_file

from helpers.tiny_lm import tiny_state
from helpers.tiny_speechlm import BYTES, CODES, tiny_speechlm_settings, tiny_tokenizer, write_tiny_codec
from polyvox.engines.speechlm.bundle import load_lm, read_vocabulary
from polyvox.engines.speechlm.engine import SpeechLmEngine
from polyvox.engines.speechlm.prompt_builder import PromptBuilder
from polyvox.errors import InvalidRequestError, UnavailableError
from polyvox.models.qwen.model import QwenConfig
from polyvox.models.speechlm.codec_lm import CodecLmConfig
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.remote_lm import RemoteLm, RemoteLmConfig
from polyvox.runtime.tokens import GenerationLimits, SamplingParams
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio

NAME, KEY = "TTS-model", "sesame"
START_SECONDS = 600.0
# vLLM's attention wants heads of at least 64.
BACKBONE = QwenConfig(
    vocabulary=BYTES + 3 + CODES,
    hidden=128,
    feed_forward=256,
    layers=2,
    heads=2,
    key_heads=1,
    head_width=64,
    qkv_bias=False,
    qk_norm=True,
)
LM = CodecLmConfig(first_code=BYTES + 3, end=BYTES + 1, codes=CODES, backbone=BACKBONE)
TEXTS = ("Hi.", "Selamat pagi, apa khabar?", "Good morning, your table is ready.", "一二三。")


def write_model(folder: Path) -> Path:
    """A seeded model as its makers would publish it."""
    folder.mkdir()
    state = tiny_state(LM, gain=3.0)
    state["lm_head.weight"][: LM.first_code] = 0.0  # so that vLLM, which may draw any token, draws the codec's
    save_file(state, folder / "model.safetensors")
    config = {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": BACKBONE.vocabulary,
        "hidden_size": BACKBONE.hidden,
        "intermediate_size": BACKBONE.feed_forward,
        "num_hidden_layers": BACKBONE.layers,
        "num_attention_heads": BACKBONE.heads,
        "num_key_value_heads": BACKBONE.key_heads,
        "head_dim": BACKBONE.head_width,
        "rope_theta": BACKBONE.rope_theta,
        "rms_norm_eps": BACKBONE.norm_eps,
        "hidden_act": "silu",
        "max_position_embeddings": 2048,
        "tie_word_embeddings": False,
        "attention_bias": False,
        "torch_dtype": "float32",
        "eos_token_id": LM.end,
    }
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "model_max_length": 2048}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    tiny_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("vllm") / "speechlm")


@pytest.fixture(scope="module")
def server(model, tmp_path_factory):
    """The base URL of vLLM, which needs a minute or two to start."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = f"--model {model} --served-model-name {NAME} --port {port} --host 127.0.0.1 --dtype float32"
    limits = f"--max-model-len 1024 --max-num-seqs 8 --enforce-eager --api-key {KEY} --no-enable-log-requests"
    command = [os.environ["POLYVOX_VLLM_PYTHON"], "-m", "vllm.entrypoints.openai.api_server"]
    environment = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
    with (tmp_path_factory.mktemp("log") / "vllm.log").open("w+") as log:
        process = subprocess.Popen(
            [*command, *options.split(), *limits.split()],
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until_healthy(url, process, Path(log.name))
            yield url
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


def wait_until_healthy(url, process, log):
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()[-4000:]
        try:
            if httpx.get(f"{url}/health", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(1)
    raise AssertionError(log.read_text()[-4000:])


@asynccontextmanager
async def remote(url, **options):
    lm = RemoteLm(
        RemoteLmConfig(url, NAME, **{"api_key": KEY, "codes": CODES, "first_token_seconds": 120.0, **options})
    )
    try:
        yield lm
    finally:
        await lm.close()


async def drawn(source, prompt, sampling, limits):
    async with source.generate(prompt, sampling, limits) as stream:
        return [token async for token in stream]


@pytest.mark.parametrize("by_ids", [False, True], ids=["from text", "from ids"])
async def test_the_tokens_are_those_of_the_model_in_this_process(server, model, by_ids):
    vocabulary = read_vocabulary(model)
    prompts = [PromptBuilder(vocabulary).named("husein", text) for text in TEXTS]
    greedy = SamplingParams(temperature=0.0, repetition_penalty=1.15)
    executor = DeviceExecutor("lm", 1)
    here = LmScheduler(
        load_lm(model, vocabulary, torch.device("cpu"), torch.float32),
        LmSchedulerConfig(slots=4, capacity=600),
        executor=executor,
    )
    limits = GenerationLimits(60, stop_tokens=frozenset({CODES}))
    async with remote(server, first_code=LM.first_code if by_ids else None) as there:
        expected = await asyncio.gather(*(drawn(here, prompt, greedy, limits) for prompt in prompts))
        found = await asyncio.gather(*(drawn(there, prompt, greedy, GenerationLimits(60)) for prompt in prompts))
    await here.close()
    executor.close()
    assert all(len(tokens) > 5 for tokens in expected)
    assert found == expected


async def test_a_seed_draws_the_same_again(server, model):
    prompt = PromptBuilder(read_vocabulary(model)).named("husein", TEXTS[1])
    async with remote(server) as lm:
        first, again, other = [
            await drawn(lm, prompt, SamplingParams(temperature=0.8, seed=seed), GenerationLimits(40))
            for seed in (1, 1, 2)
        ]
    assert first == again != other


async def test_a_listener_who_leaves_stops_the_server_s_work(server, model):
    prompt = PromptBuilder(read_vocabulary(model)).named("husein", TEXTS[1])
    async with remote(server) as lm:
        async with lm.generate(prompt, SamplingParams(seed=3), GenerationLimits(900)) as stream:
            await anext(aiter(stream))
        async with asyncio.timeout(10):
            while await running_requests(server):
                await asyncio.sleep(0.1)


async def running_requests(url):
    async with httpx.AsyncClient() as client:
        lines = (await client.get(f"{url}/metrics")).text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("vllm:num_requests_running"))


async def test_refusals_are_typed_errors(server, model):
    prompt = PromptBuilder(read_vocabulary(model)).named("husein", TEXTS[0])
    async with remote(server, api_key="wrong") as lm:
        with pytest.raises(UnavailableError, match="refused the key"):
            await drawn(lm, prompt, SamplingParams(), GenerationLimits(10))
    async with remote(server) as lm:
        with pytest.raises(InvalidRequestError, match="refused the request"):
            await drawn(lm, prompt, SamplingParams(), GenerationLimits(100_000))


async def test_a_request_is_spoken_through_it(server, tmp_path):
    write_tiny_codec(tmp_path / "neucodec")
    settings = tiny_speechlm_settings(
        tmp_path, speechlm_url=server, speechlm_api_key=KEY, streamable_model=NAME, speechlm_first_token_seconds=120.0
    )
    engine = SpeechLmEngine(settings)
    await engine.start()
    try:
        chunks = [chunk async for chunk in engine.speak(Utterance("Selamat pagi.", "husein", seed=7))]
    finally:
        await engine.close()
    assert sum(len(chunk.pcm) for chunk in chunks) % 480 == 0
    assert sum(chunk.duration for chunk in chunks) > 0.2
