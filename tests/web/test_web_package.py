"""The browser package beside the server: the same phonemes, plans and samples, in Node and in a real browser."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from helpers.studio_browser import launched
from helpers.web_package import COMPILED_ONCE, built_package, run_check
from polyvox.bundles.validate import open_bundle
from polyvox.engines.catalog import Catalog
from polyvox.engines.kokoro import wren
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.engines.kokoro.voices import VOICES
from polyvox.engines.kokoro.wren.browser_bundle import write_bundle
from polyvox.engines.kokoro.wren.decoder import WrenDecoder
from polyvox.engines.kokoro.wren.front import KokoroFront
from polyvox.engines.kokoro.wren.heard import heard_frames
from polyvox.installation import load_settings
from polyvox.text.phoneme_frontend import PhonemeFrontends
from polyvox.text.spoken import SpokenWord
from polyvox.types import NormalizationOptions, Utterance

pytestmark = pytest.mark.slow

SENTENCES = Path(__file__).with_name("english_sentences.txt").read_text(encoding="utf-8").splitlines()
GRAPHS = Path(wren.__path__[0]) / "graphs"
TEXT = "Good morning, everyone."
VOICE = "af_heart"
PAGE = b"<!doctype html><meta charset=utf-8><title>Speech</title>"
SPEAK = """
async ({text, voice}) => {
  const {Synthesizer} = await import('/dist/index.js');
  const synthesizer = await Synthesizer.load({model: '/bundle', voices: [voice], threads: 1});
  if (!text) return synthesizer.close();
  const [samples, words] = [[], []];
  for await (const piece of synthesizer.speak(text, {voice})) {
    samples.push(...piece.pcm);
    words.push(...piece.words);
  }
  synthesizer.close();
  return {samples, words, voices: synthesizer.voices.map(({id}) => id)};
}
"""
PLAY = """
async () => {
  const {Player} = await import('/dist/index.js');
  const player = await Player.open();
  const heard = [];
  async function* pieces() {
    for (const start of [0, 0.1]) {
      const word = {text: `word at ${start}`, start, end: start + 0.1, span: {start: 0, end: 4}};
      yield {pcm: new Float32Array(2400).fill(0.1), sampleRate: 24000, start, words: [word]};
    }
  }
  await player.play(pieces(), {onWord: ({text}) => heard.push(text)});
  await player.close();
  return heard;
}
"""


@pytest.fixture(scope="module")
def kokoro(models_dir: Path) -> Path:
    return open_bundle("kokoro", models_dir).folder


@pytest.fixture(scope="module")
def bundle(kokoro: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    write_bundle(kokoro, folder, [voice for voice in VOICES if voice.id == VOICE])
    return folder


def server_phonemes(text: str, frontends: PhonemeFrontends) -> str:
    sentences = frontends.frontend("en-us").read(text, NormalizationOptions())
    words = [word for sentence in sentences for word in sentence.words if isinstance(word, SpokenWord)]
    return "".join(word.phonemes + " " * word.space for word in words).rstrip(" ")


@pytest.fixture(scope="module")
def compared(kokoro: Path, bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Any, Any]:
    """What Node made of the server's inputs, and the server's own phonemes, plan and samples."""
    frontends = PhonemeFrontends(espeak="auto")
    phonemes = [server_phonemes(text, frontends) for text in SENTENCES]
    ids = tuple(IDS[symbol] for symbol in server_phonemes(TEXT, frontends))
    pack = np.fromfile(kokoro / "voices" / f"{VOICE}.bin", "<f4").reshape(510, 256)
    style = pack[len(ids) - 1]
    plan = KokoroFront(kokoro / "model.onnx", GRAPHS / "bert.onnx", 1).plan(ModelInput(ids, style, 1.0))
    frames = {size: np.sin(np.arange(size) ** 1.5).tolist() for size in (256, 400, 1024)}
    given = {
        "sentences": SENTENCES,
        "ids": ids,
        "style": style.tolist(),
        "plan": {
            "text": plan.text.reshape(-1).tolist(),
            "pitch": plan.pitch.tolist(),
            "energy": plan.energy.tolist(),
            "durations": plan.durations.tolist(),
        },
        "frames": frames,
    }
    folder = tmp_path_factory.mktemp("check")
    (folder / "given.json").write_text(json.dumps(given), encoding="utf-8")
    run_check(bundle, folder / "given.json", folder / "found.json", folder=folder)
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    return found, phonemes, plan


def test_the_reader_gives_the_phonemes_of_the_server_for_198_of_200_sentences(compared: Any) -> None:
    found, phonemes, _ = compared
    other = [text for text, mine, own in zip(SENTENCES, found["phonemes"], phonemes, strict=True) if mine != own]
    # Senses of heteronyms that only the server tells apart.
    assert other == [
        "Mrs. Lee lives at 12 Park Road with her 3 cats.",
        "She will lead the team that tests the lead pipes.",
    ]
    assert len(SENTENCES) == 200


def test_the_front_plans_durations_within_a_frame_of_the_servers(compared: Any) -> None:
    found, _, plan = compared
    apart = np.abs(np.array(found["durations"]) - plan.durations)
    assert apart.max() <= 1
    assert (apart > 0).mean() < 0.1


def test_the_decoder_gives_the_samples_of_the_server_up_to_the_rounding_of_8_bits(compared: Any) -> None:
    found, _, plan = compared
    decoder = WrenDecoder(GRAPHS, 1)
    own, mine = decoder.decode(plan, within=heard_frames(plan)), np.array(found["samples"])
    assert len(mine) == len(own)
    assert np.corrcoef(own, mine)[0, 1] > 0.998
    assert np.abs(own - mine).max() < 0.08


def test_transforms_are_those_of_numpy(compared: Any) -> None:
    for size, (spectrum, back) in compared[0]["spectra"].items():
        frame = np.sin(np.arange(int(size)) ** 1.5)
        expected = np.fft.rfft(frame)
        assert np.allclose(spectrum, np.concatenate((expected.real, expected.imag)), atol=1e-9)
        assert np.allclose(back, frame, atol=1e-12)


class _Files(SimpleHTTPRequestHandler):
    """A page, the built package, and a model that the server may stop to serve."""

    extensions_map: ClassVar = {".js": "text/javascript", ".wasm": "application/wasm", "": "application/octet-stream"}
    offline = False
    refused: ClassVar[list[str]] = []

    def __init__(self, *arguments: Any, folders: dict[str, Path], **options: Any) -> None:
        self._folders = folders
        super().__init__(*arguments, **options)

    def translate_path(self, path: str) -> str:
        _, top, *rest = path.partition("?")[0].split("/")
        return str(self._folders[top].joinpath(*rest)) if top in self._folders else "/nonexistent"

    def do_GET(self) -> None:
        if self.path == "/":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)
        elif type(self).offline and self.path.startswith("/bundle"):
            type(self).refused.append(self.path)
            self.send_error(503)
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        """Requests are no part of a test's output."""


@contextmanager
def file_server(folders: dict[str, Path]) -> Iterator[tuple[str, type[_Files]]]:
    handler = type("Files", (_Files,), {"refused": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, folders=folders))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def server_speech(models_dir: Path) -> tuple[np.ndarray, list[Any]]:
    settings = load_settings(models_dir=models_dir, kokoro_executor="onnx")
    engine = Catalog.installed().factories["wren"](settings)
    assert isinstance(engine, KokoroEngine)
    await engine.start()
    try:
        chunks = [chunk async for chunk in engine.speak(Utterance(TEXT, VOICE))]
    finally:
        await engine.close()
    return np.concatenate([chunk.pcm for chunk in chunks]), [word for chunk in chunks for word in chunk.words]


def envelope(pcm: Any, window: int = 1_200) -> Any:
    """Level of each 50 ms; longer than what a duration of one frame more or less moves a word by."""
    padded = np.pad(np.asarray(pcm, np.float64), (0, -len(pcm) % window))
    return np.sqrt(np.square(padded.reshape(-1, window)).mean(axis=1))


def test_the_player_plays_to_the_end_and_tells_each_word() -> None:
    with file_server({"dist": built_package()}) as (url, _), launched() as browser:
        page = browser.new_page()
        page.goto(url)
        page.mouse.click(10, 10)  # browsers play nothing before the reader did something
        assert page.evaluate(PLAY) == ["word at 0", "word at 0.1"]


def test_a_page_that_loaded_the_model_once_speaks_as_the_server_does_without_it(bundle: Path, models_dir: Path) -> None:
    folders = {"dist": built_package(), "bundle": bundle}
    with file_server(folders) as (url, files), launched(f"--js-flags={COMPILED_ONCE}") as browser:
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.goto(url)
        page.evaluate(SPEAK, {"text": "", "voice": VOICE})
        files.offline = True
        page.reload()
        spoken = page.evaluate(SPEAK, {"text": TEXT, "voice": VOICE})
    assert files.refused == ["/bundle/manifest.json"]
    assert spoken["voices"] == [VOICE]
    pcm, words = asyncio.run(server_speech(models_dir))
    assert [word["text"] for word in spoken["words"]] == [word.word for word in words]
    for mine, own in zip(spoken["words"], words, strict=True):
        assert abs(mine["start"] - own.start) < 0.08
    mine, own = envelope(spoken["samples"]), envelope(pcm)
    assert abs(len(mine) - len(own)) <= 2
    count = min(len(mine), len(own))
    assert np.corrcoef(mine[:count], own[:count])[0, 1] > 0.95
