"""The files that Wren needs in a browser, where it speaks without a server.

The graphs are those that the server runs. A manifest names every file with its size and SHA-256, so that a browser
fetches each once, checks it, and keeps it.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from polyvox.bundles.onnx_graphs.kokoro_front import front_graph
from polyvox.engines.kokoro.levels import gain_for, measured_levels
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.vocabulary import IDS, MAX_PHONEMES
from polyvox.engines.kokoro.voices import VOICES
from polyvox.engines.kokoro.wren.decoder import USUAL_SAMPLES, normal_noise
from polyvox.text.phonemes.english import g2p
from polyvox.text.phonemes.english.reader_tables import as_json, reader_tables
from polyvox.types import Voice

FORMAT: Final = 1
"""Of the manifest; a package that reads another one refuses it."""
_WREN: Final = ("plan", "filters", "refiner")


def bundle_files(kokoro: Path, voices: Sequence[Voice] = VOICES) -> Iterator[tuple[str, bytes]]:
    """The names and contents of all files but the manifest, from an installed model folder."""
    graphs = files("polyvox.engines.kokoro.wren") / "graphs"
    with as_file(graphs / "bert.onnx") as bert:
        yield "front.onnx", front_graph(kokoro / "model.onnx", bert)
    for name in _WREN:
        yield f"{name}.onnx", (graphs / f"{name}.onnx").read_bytes()
    yield "noise.f32", normal_noise(USUAL_SAMPLES).astype("<f4").tobytes()
    encoder, decoder = g2p.graphs()
    yield "g2p_encoder.onnx", encoder
    yield "g2p_decoder.onnx", decoder
    yield "reader-us.json", as_json(reader_tables("us"))
    yield "reader-gb.json", as_json(reader_tables("gb"))
    for voice in voices:
        yield f"voices/{voice.id}.bin", (kokoro / "voices" / f"{voice.id}.bin").read_bytes()


def write_bundle(kokoro: Path, folder: Path, voices: Sequence[Voice] = VOICES) -> None:
    """Write the bundle to a folder, the manifest last."""
    described: dict[str, dict[str, str | int]] = {}
    for name, data in bundle_files(kokoro, voices):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        described[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    manifest = {
        "format": FORMAT,
        "sampleRate": SAMPLE_RATE,
        "maxPhonemes": MAX_PHONEMES,
        "ids": dict(IDS),
        "voices": [
            {
                "id": voice.id,
                "name": voice.name,
                "language": voice.language,
                "gender": voice.gender,
                "gain": gain_for(measured_levels()[voice.id]),
            }
            for voice in voices
        ],
        "files": described,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False), encoding="utf-8")
