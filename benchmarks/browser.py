"""`python -m benchmarks.browser MODULES`: Wren in a browser beside kokoro-js, on one page, in one run.

MODULES is a `node_modules` folder with the package kokoro-js (`npm install --ignore-scripts kokoro-js`). It is given
the installed Kokoro, in 8 bits, as the files that it asks the Hugging Face hub for. Build `web/` first. Both speak one
sentence of ten words in turns, on one thread; each turn's first audio and its total are printed with the ratios of the
medians.
"""

import argparse
import json
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from playwright.sync_api import sync_playwright

from polyvox.bundles.validate import open_bundle
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.engines.kokoro.voices import VOICES
from polyvox.engines.kokoro.wren.browser_bundle import write_bundle
from polyvox.installation import load_settings

WEB = Path(__file__).parents[1] / "web"
TEXT = "The old clock in the hall is ten minutes slow."
VOICE = "af_heart"
_SPEAK = """
async ({text, voice, turns}) => {
  const {Synthesizer} = await import('/dist/index.js');
  const {KokoroTTS, env} = await import('/modules/kokoro-js/dist/kokoro.web.js');
  env.wasmPaths = '/runtime/';
  const outside = window.fetch;
  window.fetch = (url, options) => outside(String(url?.url ?? url).replace(/^https:..huggingface.co/, '/hub'), options);
  const wren = await Synthesizer.load({model: '/bundle', voices: [voice], threads: 1});
  const kokoro = await KokoroTTS.from_pretrained('onnx-community/Kokoro-82M-v1.0-ONNX', {dtype: 'q8', device: 'wasm'});
  const measured = {wren: [], kokoro: []};
  for (let turn = 0; turn < turns; turn++) {
    let start = performance.now(), first, samples = 0;
    for await (const piece of wren.speak(text, {voice})) {
      first ??= performance.now() - start;
      samples += piece.pcm.length;
    }
    measured.wren.push({first, total: performance.now() - start, seconds: samples / 24000});
    start = performance.now();
    const {audio} = await kokoro.generate(text, {voice});
    const total = performance.now() - start;
    measured.kokoro.push({first: total, total, seconds: audio.length / 24000});
  }
  return measured;
}
"""


def tokenizer() -> dict[str, Any]:
    """Kokoro's vocabulary in the form that transformers.js reads: one token a symbol, with padding at both ends."""
    padding = {"SpecialToken": {"id": "$", "type_id": 0}}
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": ""}, "behavior": "Isolated", "invert": False},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [padding, {"Sequence": {"id": "A", "type_id": 0}}, padding],
            "pair": [],
            "special_tokens": {"$": {"id": "$", "ids": [0], "tokens": ["$"]}},
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {"$": 0} | dict(IDS), "unk_token": "$"},
    }


def hub_files(kokoro: Path) -> dict[str, bytes]:
    """The files that kokoro-js asks the hub for, by the ends of their addresses."""
    return {
        "/config.json": json.dumps({"model_type": "style_text_to_speech_2"}).encode(),
        "/tokenizer.json": json.dumps(tokenizer()).encode(),
        "/tokenizer_config.json": json.dumps({"tokenizer_class": "PreTrainedTokenizer", "pad_token": "$"}).encode(),
        "/onnx/model_quantized.onnx": (kokoro / "model.onnx").read_bytes(),
        f"/voices/{VOICE}.bin": (kokoro / "voices" / f"{VOICE}.bin").read_bytes(),
    }


class _Files(SimpleHTTPRequestHandler):
    """The page, and all that it loads, from folders and files of this machine."""

    extensions_map = {  # noqa: RUF012 - an instance variable of the base class
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        "": "application/octet-stream",
    }
    folders: ClassVar[dict[str, Path]] = {}
    hub: ClassVar[dict[str, bytes]] = {}

    def translate_path(self, path: str) -> str:
        _, top, *rest = path.partition("?")[0].split("/")
        return str(self.folders[top].joinpath(*rest)) if top in self.folders else "/nonexistent"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        data = next((data for end, data in self.hub.items() if path.endswith(end)), None)
        if path != "/" and data is None:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if data is None else "application/octet-stream")
        body = data or b"<!doctype html><title>Speech</title>"
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Only figures are printed."""


@contextmanager
def served(modules: Path, bundle: Path, hub: dict[str, bytes]) -> Iterator[str]:
    transformers = modules / "@huggingface" / "transformers" / "dist"
    folders = {"dist": WEB / "dist", "bundle": bundle, "modules": modules, "runtime": transformers}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Files", (_Files,), {"folders": folders, "hub": hub}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description="Wren in a browser beside kokoro-js.")
    parser.add_argument("modules", type=Path, help="a node_modules folder with kokoro-js")
    parser.add_argument("--browser", default="/usr/bin/chromium", help="Chromium's program")
    parser.add_argument("--turns", type=int, default=4, help="turns of each; the first is not counted")
    given = parser.parse_args()
    kokoro = open_bundle("kokoro", load_settings().models_dir).folder
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_bundle(kokoro, Path(folder), [voice for voice in VOICES if voice.id == VOICE])
        browser = playwright.chromium.launch(executable_path=given.browser, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_default_timeout(600_000)
        page.on("pageerror", lambda error: print(error))
        with served(given.modules, Path(folder), hub_files(kokoro)) as url:
            page.goto(url)
            measured = page.evaluate(_SPEAK, {"text": TEXT, "voice": VOICE, "turns": given.turns})
        browser.close()
    medians: dict[str, list[float]] = {}
    for name, turns in measured.items():
        for turn in turns:
            print(
                f"{name:7} first {turn['first']:6.0f} ms, all {turn['total']:6.0f} ms, {turn['seconds']:.2f} s of audio"
            )
        counted = turns[1:] or turns
        first, rate = (
            statistics.median(turn["first"] for turn in counted),
            statistics.median(turn["total"] / turn["seconds"] / 1000 for turn in counted),
        )
        medians[name] = [first, rate]
        print(f"{name:7} median: first {first:.0f} ms, {rate:.2f} seconds for a second of audio")
    (first, rate), (other_first, other_rate) = medians["wren"], medians["kokoro"]
    print(f"wren against kokoro-js: first audio 1/{other_first / first:.1f}, time 1/{other_rate / rate:.1f}")


if __name__ == "__main__":
    main()
