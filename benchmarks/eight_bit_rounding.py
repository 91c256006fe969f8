"""Wren against itself: its decoder with a plan that is moved by less than the rounding of a float.

    python -m benchmarks.eight_bit_rounding

A product in 8 bits rounds its inputs to 256 steps. A float that moves by its last digit now and then falls onto the
next step, and the layers behind it move further than the float did. So two runtimes whose floats differ in their last
digits, as WebAssembly's and the processor's own do, give samples that are this far apart.
"""

from dataclasses import replace
from importlib.resources import as_file, files

import numpy as np

from polyvox.bundles.validate import open_bundle
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.wren.decoder import WrenDecoder
from polyvox.engines.kokoro.wren.front import KokoroFront
from polyvox.engines.kokoro.wren.heard import heard_frames
from polyvox.installation import load_settings

TEXT = "The old clock in the hall is ten minutes slow, and nobody has the time to set it right."
VOICE = "af_heart"
SHIFTS = (1e-7, 3e-7, 1e-6)
SEEDS = range(3)


def main() -> None:
    """Print the table."""
    settings = load_settings()
    bundle = open_bundle("kokoro", settings.models_dir)
    _, ids = KokoroEngine(settings).phonemize(TEXT, "en-us")
    pack = np.fromfile(bundle.file(f"voices/{VOICE}.bin"), "<f4").reshape(510, 1, 256)
    with as_file(files("polyvox.engines.kokoro.wren") / "graphs") as folder:
        front, decoder = KokoroFront(bundle.file("model.onnx"), folder / "bert.onnx", 1), WrenDecoder(folder, 1)
    plan = front.plan(ModelInput(tuple(ids), pack[len(ids) - 1], 1.0))
    own = decoder.decode(plan, within=heard_frames(plan))
    print(f"{'relative shift':>15} {'correlation':>12} {'largest difference':>19}")
    for shift in SHIFTS:
        for seed in SEEDS:
            noise = np.random.default_rng(seed).uniform(1 - shift, 1 + shift, plan.text.shape)
            moved = replace(plan, text=(plan.text * noise).astype(np.float32))
            samples = decoder.decode(moved, within=heard_frames(plan))
            correlation, largest = np.corrcoef(own, samples)[0, 1], np.abs(own - samples).max()
            print(f"{shift:15.0e} {correlation:12.5f} {largest:19.3f}")


if __name__ == "__main__":
    main()
