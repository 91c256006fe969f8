"""Whole engines with seeded random weights: what a benchmark or a server starts where no model is installed.

Each speaks in one cloned voice, of a prompt of given length, and for about as long as it is told to.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from benchmarks import (
    chatterbox_gpu,
    cosyvoice_gpu,
    kokoro_native,
    pocket_networks,
    qwen3tts_gpu,
    speechlm_gpu,
    zipvoice,
)
from polyvox.config import Settings
from polyvox.engines.base import Engine, SupportsObserver, SupportsWarning
from polyvox.engines.chatterbox.bundle import ModelSizes, released_sizes
from polyvox.engines.chatterbox.engine import ChatterboxEngine
from polyvox.engines.chatterbox.sampling import TOKEN_RATE
from polyvox.engines.chatterbox.variants import VARIANTS as CHATTERBOX_VARIANTS
from polyvox.engines.chatterbox.variants import Variant as ChatterboxVariant
from polyvox.engines.cosyvoice.bundle import CosyVoiceBundle
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.engines.cosyvoice.frontend.frontend import CosyVoiceFrontend
from polyvox.engines.cosyvoice.frontend.tags import BASE_TOKENS, Tags
from polyvox.engines.cosyvoice.frontend.tokenizer import TextTokenizer
from polyvox.engines.cosyvoice.lm_prompt import language_array
from polyvox.engines.cosyvoice.loading import CosyVoiceNetworks, LoadedModel
from polyvox.engines.cosyvoice.model_config import CosyVoiceConfig
from polyvox.engines.cosyvoice.prompt_features import PromptFeatureExtractor
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.kokoro.native.batched_synthesis import BatchedSynthesis
from polyvox.engines.kokoro.native.fused_kernels import fuse_blocks
from polyvox.engines.kokoro.native.loading import captured, graph_frames, load_shipped_wren
from polyvox.engines.kokoro.native.network import CPU_BATCH, GPU_BATCH, NativeKokoro
from polyvox.engines.kokoro.native.wren import NativeWren
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.engines.kokoro.voice_table import VoiceTable
from polyvox.engines.pockettts.engine import PocketTtsEngine
from polyvox.engines.pockettts.variants import VARIANTS as POCKETTTS_VARIANTS
from polyvox.engines.pockettts.voice_state import VoiceState
from polyvox.engines.qwen3tts.engine import Qwen3TtsEngine
from polyvox.engines.qwen3tts.variants import VARIANTS as QWEN3TTS_VARIANTS
from polyvox.engines.speechlm.engine import SpeechLmEngine
from polyvox.engines.speechlm.tuning import TOKENS_PER_SECOND
from polyvox.engines.zipvoice.engine import ZipVoiceEngine
from polyvox.engines.zipvoice.frontend import ZipVoiceFrontend
from polyvox.engines.zipvoice.mel import BINS, FRAMES_PER_SECOND
from polyvox.engines.zipvoice.variants import TARGET_RMS, VARIANTS
from polyvox.engines.zipvoice.voice import ZipVoicePrompt
from polyvox.models.cosyvoice.conformer import ConformerConfig
from polyvox.models.cosyvoice.dit import DiTConfig
from polyvox.models.cosyvoice.flow import FlowConfig
from polyvox.models.cosyvoice.flow_v2 import Flow2Config
from polyvox.models.cosyvoice.flow_v3 import Flow3Config
from polyvox.models.cosyvoice.lm import CosyVoiceLmConfig
from polyvox.models.cosyvoice.unet import UNetConfig
from polyvox.models.hift.filter import FilterConfig
from polyvox.models.hift.model import HiftConfig
from polyvox.models.hift.source import SourceConfig
from polyvox.models.kokoro.albert import AlbertConfig
from polyvox.models.kokoro.decoder import DecoderConfig
from polyvox.models.kokoro.istftnet import IstftNetConfig
from polyvox.models.kokoro.model import KokoroConfig
from polyvox.models.kokoro.wren import Wren, WrenConfig
from polyvox.models.kokoro.wren_refiner import RefinerConfig
from polyvox.models.pockettts.config import PocketConfig
from polyvox.models.qwen.model import QwenConfig
from polyvox.models.speechlm.neucodec import NeuCodecConfig
from polyvox.models.zipvoice.model import ZipVoice, ZipVoiceConfig
from polyvox.models.zipvoice.vocos import VocosConfig
from polyvox.models.zipvoice.zipformer import ZipformerConfig
from polyvox.runtime.executors.cuda_graphs import CudaGraphs
from polyvox.runtime.placement import PRECISIONS, Placement
from polyvox.runtime.stage import Observer
from polyvox.runtime.tokens import GenerationLimits
from polyvox.text.tokenizers.vocabulary import PAD, TokenVocabulary
from polyvox.types import AudioChunk, PreparedVoice, Utterance, Voice, VoicePrompt

VOICE = "seeded"
SHORT_TEXTS = (
    "The last tram leaves at a quarter to twelve.",
    "Put the small chairs by the window, please.",
    "Nobody had counted on rain that afternoon.",
    "My aunt keeps bees and a very old donkey.",
    "Is the museum open on Mondays this year?",
    "He mended the gate with a piece of rope.",
    "The band played under the bridge instead.",
    "A letter from the north took nine days.",
)
"""Of one segment each, for engines that are told how long to speak."""
LONG_TEXTS = (
    "The last tram leaves at a quarter to twelve, and after that you walk. Most people here have learned to look at "
    "the clock before they order another round.",
    "Put the small chairs by the window, and the long table where everyone can see it. The cake comes last, when the "
    "lights are out and nobody is looking at the door.",
    "Nobody had counted on rain, so the band played under the bridge. Half of the audience stayed until the end, and "
    "the other half came back with their umbrellas.",
    "My aunt keeps bees, three goats and a very old donkey. In the summer she sells honey by the road, and in the "
    "winter she mends what the goats have eaten.",
    "Is the museum open on Mondays, or only from Tuesday to Sunday? The sign on the door says one thing, the leaflet "
    "says another, and the guard only shrugs.",
    "He mended the gate with a piece of rope and a bent nail. It was meant to last for a week, and it held for eleven "
    "years, through two floods and a wedding.",
    "When the lights came on, half of the audience had already gone home. The others stood up and clapped as if they "
    "wanted to be heard on the far side of the river.",
    "A letter from the north took nine days to reach us that winter. By then the ship had sailed, the house was sold, "
    "and the piano stood in the rain behind the shed.",
)
"""Of about ten seconds, for engines whose texts decide that."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The networks' sizes; the defaults are those of the published models."""

    cosyvoice: Callable[[int], CosyVoiceConfig] = cosyvoice_gpu.released
    chatterbox: Callable[[ChatterboxVariant], ModelSizes] = released_sizes
    speechlm: speechlm_gpu.Sizes = field(default_factory=speechlm_gpu.Sizes)
    zipvoice: ZipVoiceConfig | None = None
    vocos: VocosConfig = field(default_factory=VocosConfig)
    kokoro: KokoroConfig = field(default_factory=KokoroConfig)
    qwen3tts: qwen3tts_gpu.Sizes | None = None
    """None are the released sizes."""
    pockettts: PocketConfig | None = None
    """None are the released sizes."""
    wren: WrenConfig | None = None
    """None is the package's own network, with its weights."""

    @classmethod
    def tiny(cls) -> "Sizes":
        """Sizes that a CPU bears: to try a benchmark out."""
        qwen = QwenConfig(hidden=32, feed_forward=64, layers=2, heads=4, key_heads=2, head_width=8)
        zipformer = {"heads": 1, "layers": (1,), "kernels": (3,), "downsampling": (1,), "feed_forward": 16}
        return cls(
            cosyvoice=_tiny_cosyvoice,
            chatterbox=chatterbox_gpu.tiny,
            speechlm=speechlm_gpu.Sizes(
                replace(qwen, qkv_bias=False, qk_norm=True), NeuCodecConfig(hidden=64, depth=1, heads=4), codes=512
            ),
            zipvoice=ZipVoiceConfig(
                zipvoice.TOKENS,
                BINS,
                ZipformerConfig(8, BINS, 8, **zipformer),  # type: ignore[arg-type]
                ZipformerConfig(3 * BINS, BINS, 8, **zipformer, time=8),  # type: ignore[arg-type]
                distilled=True,
            ),
            vocos=VocosConfig(width=16, hidden=16, blocks=1),
            kokoro=KokoroConfig(
                bert=AlbertConfig(embedding=8, hidden=16, feed_forward=32, heads=2, layers=2),
                width=16,
                layers=1,
                max_frames=12,
                decoder=DecoderConfig(width=24, text_residual=4, blocks=2, generator=IstftNetConfig(channels=16)),
            ),
            qwen3tts=qwen3tts_gpu.tiny(),
            pockettts=pocket_networks.tiny(),
            wren=WrenConfig(
                width=16, blocks=1, text_dim=16, condition_dim=8, utterance_dim=4, refiner=RefinerConfig(8, 1)
            ),
        )


def _tiny_cosyvoice(version: int) -> CosyVoiceConfig:
    full = cosyvoice_gpu.released(version)
    assert isinstance(full.lm, CosyVoiceLmConfig)
    backbone = QwenConfig(vocabulary=800, hidden=32, feed_forward=32, layers=1, heads=2, key_heads=1, head_width=16)
    steps = FlowConfig(steps=2, block=5)
    conformer = ConformerConfig(width=32, heads=2, feed_forward=32, blocks=1, up_blocks=1)
    unet = UNetConfig(channels=32, heads=2, head_width=16, transformers=1, mid_blocks=1)
    dit = DiTConfig(width=32, depth=1, heads=2, head_width=16, feed_forward=32)
    return replace(
        full,
        lm=replace(full.lm, backbone=backbone),
        flow=Flow2Config(steps, conformer, unet) if version == 2 else Flow3Config(steps, 16, dit),
        hift=HiftConfig(SourceConfig(channels=16), FilterConfig(channels=32)),
    )


@dataclass(frozen=True, slots=True)
class Seeded:
    """The engine to build, by its name here, and how it is to speak; `precision` None is what the engine prefers."""

    engine: str
    device: str = "cuda"
    precision: str | None = None
    seconds: float = 10.0
    prompt_seconds: float = 5.0
    steps: int = 4
    eager: bool = False
    sizes: Sizes = field(default_factory=Sizes)

    @property
    def texts(self) -> tuple[str, ...]:
        told = ("chatterbox", "cosyvoice", "speechlm", "qwen3tts", "pockettts")
        return SHORT_TEXTS if self.engine.startswith(told) else LONG_TEXTS

    def placement(self, preferred: str) -> Placement:
        usual = preferred if self.device == "cuda" else "float32"
        return Placement(self.device, PRECISIONS[self.precision or usual])

    def settings(self, streams: int) -> dict[str, object]:
        """Settings under which so many streams are spoken at once."""
        common: dict[str, object] = {
            "max_sessions": streams,
            "max_queue": streams,
            "adaptive_sessions": False,
            "log_level": "warning",
        }
        own: dict[str, dict[str, object]] = {
            "zipvoice": {"zipvoice_graph_seconds": 0} if self.eager else {},
            "cosyvoice": {"cosyvoice_streams": min(256, streams)},
            "chatterbox": {
                "chatterbox_streams": min(256, streams),
                "chatterbox_device": self.device,
                "chatterbox_graphs": not self.eager,
            },
            "qwen3tts": {
                "qwen3tts_streams": min(512, streams),
                "qwen3tts_device": self.device,
                "qwen3tts_layout": "streaming",
                "qwen3tts_graphs": not self.eager,
            },
            "pockettts": {
                "pockettts_streams": min(512, streams),
                "pockettts_device": self.device,
                "pockettts_graphs": not self.eager,
            },
            "speechlm": {
                "speechlm_cache_bytes": (48 << 30) if self.device == "cuda" else (1 << 28),
                "speechlm_prefill_rows": 2048,
                "speechlm_max_tokens": round(self.seconds * TOKENS_PER_SECOND),
                **({"speechlm_graph_seconds": []} if self.eager else {}),
            },
        }
        return common | next((each for name, each in own.items() if self.engine.startswith(name)), {})


@dataclass(frozen=True, slots=True)
class Manner:
    """What every utterance of a seeded engine is spoken with: a voice, prepared or by name, and tuning parameters."""

    voice: str = VOICE
    prepared: PreparedVoice | None = None
    tuning: tuple[tuple[str, float], ...] = ()

    def applied(self, utterance: Utterance) -> Utterance:
        tuning = dict(self.tuning) | dict(utterance.tuning)
        return replace(utterance, voice=self.voice, prepared=utterance.prepared or self.prepared, tuning=tuning)


class SeededEngine:
    """An engine that starts without a model on disk and has one voice."""

    def __init__(self, engine: Engine, start: Callable[[], Awaitable[Manner]]) -> None:
        self._engine = engine
        self._start = start
        self._manner = Manner()
        self.name = engine.name
        self.capabilities = engine.capabilities
        self.voices: Sequence[Voice] = (Voice(VOICE, "Seeded", "en-us"),)

    @property
    def warning(self) -> str:
        return self._engine.warning if isinstance(self._engine, SupportsWarning) else ""

    def observe(self, observer: Observer) -> None:
        if isinstance(self._engine, SupportsObserver):
            self._engine.observe(observer)

    async def start(self) -> None:
        self._manner = await self._start()

    async def close(self) -> None:
        await self._engine.close()

    def check(self, utterance: Utterance) -> None:
        self._engine.check(self._manner.applied(utterance))

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        return await self._engine.prepare(prompt)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        async with aclosing(self._engine.speak(self._manner.applied(utterance))) as chunks:  # type: ignore[type-var]
            async for chunk in chunks:
                yield chunk


def seeded_engine(seeded: Seeded, settings: Settings) -> SeededEngine:
    """The engine, to be started."""
    builders: dict[str, Callable[[Seeded, Settings], SeededEngine]] = {
        "cosyvoice2": partial(_cosyvoice, version=2),
        "cosyvoice3": partial(_cosyvoice, version=3),
        "chatterbox": _chatterbox,
        "chatterbox-turbo": _chatterbox,
        "chatterbox-nano": _chatterbox,
        "zipvoice": _zipvoice,
        "speechlm": _speechlm,
        "kokoro": _kokoro,
        "wren": _wren,
        "qwen3tts-0.6b": _qwen3tts,
        "qwen3tts-1.7b": _qwen3tts,
        "pockettts": _pockettts,
        "pockettts-18m": _pockettts,
        "pockettts-7m": _pockettts,
        "pockettts-2m": _pockettts,
    }
    return builders[seeded.engine](seeded, settings)


ENGINES = (
    *("cosyvoice3", "cosyvoice2", "zipvoice", "speechlm", "kokoro", "wren", "qwen3tts-0.6b", "qwen3tts-1.7b"),
    *(
        "pockettts",
        "pockettts-18m",
        "pockettts-7m",
        "pockettts-2m",
        "chatterbox",
        "chatterbox-turbo",
        "chatterbox-nano",
    ),
)


class _SetLengthCosyVoice(CosyVoiceEngine):
    """Speaks so many tokens for every segment, whatever the random weights would have."""

    def set_length(self, tokens: int) -> None:
        synthesizer = self._started().synthesizer
        usual = synthesizer.limits

        def limits(text_ids: int) -> GenerationLimits:
            return GenerationLimits(max_tokens=tokens, banned_tokens=usual(text_ids).stop_tokens)

        synthesizer.limits = limits  # type: ignore[method-assign]


class _NoFeatures(PromptFeatureExtractor):
    """Stands where the networks that read recordings would be."""

    def __init__(self) -> None:
        """Load nothing."""


def _cosyvoice(seeded: Seeded, settings: Settings, version: int) -> SeededEngine:
    engine = _SetLengthCosyVoice(settings, version)

    async def start() -> Manner:
        recipe, placement = seeded.sizes.cosyvoice(version), seeded.placement("bfloat16")
        networks = cosyvoice_gpu.random_networks(recipe, placement)
        voice = cosyvoice_voice(recipe, seeded)
        await engine.start_with(_loaded_cosyvoice(recipe, networks, placement, voice))
        await engine.captured()
        engine.set_length(round(seeded.seconds * cosyvoice_gpu.TOKENS_PER_SECOND))
        return Manner()

    return SeededEngine(engine, start)


def cosyvoice_voice(recipe: CosyVoiceConfig, seeded: Seeded) -> PreparedVoice:
    """The voice of a seeded CosyVoice."""
    load = cosyvoice_gpu.StreamLoad(seeded.seconds, seeded.prompt_seconds)
    voice = cosyvoice_gpu.seeded_voice(recipe, load)
    text = np.arange(100, 130, dtype=np.int32)
    return replace(voice, arrays={**voice.arrays, "text": text, "language": language_array(SHORT_TEXTS[0])})


def _loaded_cosyvoice(
    recipe: CosyVoiceConfig, networks: cosyvoice_gpu.RandomNetworks, placement: Placement, voice: PreparedVoice
) -> LoadedModel:
    tags = Tags(recipe.version)
    tokenizer = _byte_tokenizer(tags)
    return LoadedModel(
        bundle=CosyVoiceBundle(Path("seeded"), recipe),
        networks=CosyVoiceNetworks(networks.lm, networks.token2wav),
        placement=placement,
        warning="",
        tokenizer=tokenizer,
        frontend=CosyVoiceFrontend(tags, lambda text: len(tokenizer.encode(text))),
        features=_NoFeatures(),
        voices={VOICE: voice},
    )


def _byte_tokenizer(tags: Tags) -> TextTokenizer:
    """A tokenizer without merges: every byte is an id."""
    from tokenizers.pre_tokenizers import ByteLevel

    letters = sorted(ByteLevel.alphabet())
    added = {str(len(letters) + index): {"content": token} for index, token in enumerate(BASE_TOKENS)}
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "vocab.json").write_text(json.dumps({letter: index for index, letter in enumerate(letters)}))
        (folder / "merges.txt").write_text("#version: 0.2\n")
        (folder / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": added}))
        return TextTokenizer(folder, tags)


def _zipvoice(seeded: Seeded, settings: Settings) -> SeededEngine:
    engine = ZipVoiceEngine(VARIANTS["zipvoice_distill"], settings)

    async def start() -> Manner:
        device = torch.device(seeded.device)
        networks = zipvoice.random_networks(
            device, distilled=True, sizes=seeded.sizes.zipvoice, vocoder=seeded.sizes.vocos
        )
        networks = replace(networks, vocabulary=_phoneme_vocabulary())
        assert isinstance(networks.acoustic_model, ZipVoice)
        networks.acoustic_model.to(seeded.placement("float16").dtype)
        frontend = ZipVoiceFrontend(networks.vocabulary, settings.espeak, dialogue=False)
        await engine.start_with(networks, device)
        await engine.captured()
        return Manner(
            prepared=_zipvoice_voice(engine.name, frontend, seeded), tuning=(("num_steps", float(seeded.steps)),)
        )

    return SeededEngine(engine, start)


def _phoneme_vocabulary() -> TokenVocabulary:
    """Phonemes of English and signs between them; the rest of the published vocabulary has no name here."""
    symbols = [*dict.fromkeys([PAD, *IDS, *map(chr, range(32, 127))])][: zipvoice.TOKENS]
    named = symbols + [f"<{index}>" for index in range(len(symbols), zipvoice.TOKENS)]
    return TokenVocabulary({symbol: index for index, symbol in enumerate(named)})


def _zipvoice_voice(engine: str, frontend: ZipVoiceFrontend, seeded: Seeded) -> PreparedVoice:
    """A prompt of such a pace that the texts take as long as they are to."""
    tokens = sum(len(frontend.transcript_ids(text)) for text in seeded.texts) / len(seeded.texts)
    count = max(1, round(tokens * seeded.prompt_seconds / seeded.seconds))
    frames = round(seeded.prompt_seconds * FRAMES_PER_SECOND)
    mel = np.random.Generator(np.random.Philox(1)).standard_normal((frames, BINS), np.float32)
    return ZipVoicePrompt(tuple(range(1, 1 + count)), mel, TARGET_RMS).to_prepared(engine, VOICE)


class _SetLengthChatterbox(ChatterboxEngine):
    """Speaks so many tokens for every passage, whatever the random weights would have."""

    def set_length(self, tokens: int) -> None:
        running = self._started()
        told = replace(running.sampling, min_tokens=tokens, max_tokens=tokens, tokens_per_id=tokens)
        self._running = replace(running, sampling=told)


def _chatterbox(seeded: Seeded, settings: Settings) -> SeededEngine:
    variant = CHATTERBOX_VARIANTS[seeded.engine]
    engine = _SetLengthChatterbox(variant, settings)

    async def start() -> Manner:
        placement = seeded.placement("bfloat16")
        sizes = seeded.sizes.chatterbox(variant)
        networks = chatterbox_gpu.random_networks(sizes, torch.device(placement.device), placement.dtype)
        await engine.start_with(networks, chatterbox_gpu.CharacterEncoder.of(networks))
        await engine.captured()
        engine.set_length(round(seeded.seconds * TOKEN_RATE))
        voice = chatterbox_gpu.seeded_voice(networks, seeded.prompt_seconds)
        return Manner(prepared=voice.pack(engine.name, VOICE))

    return SeededEngine(engine, start)


def _speechlm(seeded: Seeded, settings: Settings) -> SeededEngine:
    engine = SpeechLmEngine(settings)

    async def start() -> Manner:
        placement = seeded.placement("bfloat16")
        sizes = seeded.sizes.speechlm
        networks = speechlm_gpu.random_networks(sizes, torch.device(placement.device), placement.dtype)
        await engine.start_with(networks)
        count = round(seeded.prompt_seconds * TOKENS_PER_SECOND)
        codes = np.random.Generator(np.random.Philox(1)).integers(0, sizes.codes, count)
        voice = engine.voice_from_codes(codes.tolist(), SHORT_TEXTS[0])
        return Manner(prepared=voice, tuning=(("max_tokens", float(round(seeded.seconds * TOKENS_PER_SECOND))),))

    return SeededEngine(engine, start)


class _SetLengthQwen3Tts(Qwen3TtsEngine):
    """Speaks as many frames as it is told to, whatever the random weights would have."""

    def never_stop(self) -> None:
        running = self._started()
        parts = replace(running.parts, stop=frozenset(), banned=running.parts.stop)
        self._running = replace(running, parts=parts)


def _qwen3tts(seeded: Seeded, settings: Settings) -> SeededEngine:
    """A model with built-in speakers; cloning computes the same and reads a longer prompt."""
    engine = _SetLengthQwen3Tts(QWEN3TTS_VARIANTS[f"{seeded.engine}-custom-voice"], settings)

    async def start() -> Manner:
        placement = seeded.placement("bfloat16")
        config = seeded.sizes.qwen3tts or qwen3tts_gpu.released(seeded.engine.removeprefix("qwen3tts-"))
        networks = qwen3tts_gpu.random_networks(config, torch.device(placement.device), placement.dtype)
        with TemporaryDirectory() as folder:
            qwen3tts_gpu.write_tokenizer(Path(folder))
            await engine.start_with(networks, Path(folder))
        engine.never_stop()
        frames = round(seeded.seconds * qwen3tts_gpu.FRAMES_PER_SECOND)
        return Manner(voice=engine.voices[0].id, tuning=(("max_new_tokens", float(frames)),))

    return SeededEngine(engine, start)


def _pockettts(seeded: Seeded, settings: Settings) -> SeededEngine:
    """A voice of as many positions as its prompt has frames, and speech of the length that is asked for."""
    engine = PocketTtsEngine(POCKETTTS_VARIANTS[seeded.engine], settings)

    async def start() -> Manner:
        placement = seeded.placement("bfloat16")
        config = seeded.sizes.pockettts or pocket_networks.released(seeded.engine)
        networks = pocket_networks.random_networks(config, torch.device(placement.device), placement.dtype)
        await engine.start_with(networks, pocket_networks.SetLengthDivider(seeded.seconds), pocket_networks.RULES)
        sizes, positions = config.transformer, round(seeded.prompt_seconds * pocket_networks.FRAMES_PER_SECOND)
        shape = (sizes.layers, sizes.key_heads, positions, sizes.head_width)
        keys, values = np.random.Generator(np.random.Philox(1)).standard_normal((2, *shape), np.float32)
        voice = VoiceState(keys, values).pack(engine.name, VOICE, networks.fingerprint)
        return Manner(prepared=voice, tuning=pocket_networks.NEVER_ENDING)

    return SeededEngine(engine, start)


def _kokoro(seeded: Seeded, settings: Settings) -> SeededEngine:
    def network() -> NativeKokoro:
        placement = seeded.placement("float16")
        batch = GPU_BATCH if placement.device == "cuda" else CPU_BATCH
        return kokoro_native.on_device(kokoro_native.seeded_network(seeded.sizes.kokoro), placement, batch)

    return _native_kokoro(KokoroEngine(settings), network, seeded, settings)


def _wren(seeded: Seeded, settings: Settings) -> SeededEngine:
    """A seeded front before Wren."""

    def network() -> NativeKokoro:
        placement = seeded.placement("float16")
        front = kokoro_native.on_device(kokoro_native.seeded_network(seeded.sizes.kokoro), placement, 1).network
        del front.decoder
        batch = GPU_BATCH if placement.device == "cuda" else CPU_BATCH
        if seeded.sizes.wren is None:
            wren, bert = load_shipped_wren()
            front.use_distilled(bert)
        else:
            wren = Wren(seeded.sizes.wren).requires_grad_(False).eval()
        if placement.device == "cuda":
            fuse_blocks(wren.to(placement.device), placement.dtype)
        return NativeWren(front, wren, batch)

    return _native_kokoro(KokoroEngine(settings, "wren"), network, seeded, settings)


def _native_kokoro(
    engine: KokoroEngine, network: Callable[[], NativeKokoro], seeded: Seeded, settings: Settings
) -> SeededEngine:
    async def start() -> Manner:
        native, style = network(), kokoro_native.read_style(None)
        if native.device.type == "cuda" and not seeded.eager:
            (probe,) = kokoro_native.calls(style, [kokoro_native.SENTENCE], 0)
            frames = graph_frames(settings.section(KokoroSettings).graph_seconds)
            native = captured(native, frames, probe.input, CudaGraphs)
        with TemporaryDirectory() as folder:
            style.astype("<f4").tofile(Path(folder) / f"{kokoro_native.VOICE}.bin")
            voices = VoiceTable(Path(folder), [voice for voice in engine.voices if voice.id == kokoro_native.VOICE])
            await engine.start_with(BatchedSynthesis(native, engine.observer), voices)
        return Manner(voice=kokoro_native.VOICE)

    return SeededEngine(engine, start)
