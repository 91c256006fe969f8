"""`python -m training.front.teacher_weights`: write the part of Kokoro that a front's training needs, in 16 bits.

ALBERT, the layer behind it, and the prosody predictor; without the decoder, which is most of the file. With them a
tenth of the rows of all voices' style tables.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from polyvox.bundles.kokoro_weights import read_kokoro

PARTS = ("bert.", "bert_encoder.", "predictor.")
STYLES = "styles"
ROWS_APART = 10
"""Style tables have a row for each number of phonemes; neighbours are all but equal."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(prog="python -m training.front.teacher_weights", description=__doc__)
    parser.add_argument("kokoro", type=Path, help="folder of an installed bundle")
    parser.add_argument("file", type=Path, help="the file to write, .safetensors")
    options = parser.parse_args(arguments)
    state = read_kokoro(options.kokoro / "model.onnx")
    kept = {name: tensor.to(torch.float16).contiguous() for name, tensor in state.items() if name.startswith(PARTS)}
    tables = [np.fromfile(file, "<f4").reshape(-1, 256) for file in sorted(options.kokoro.glob("voices/*.bin"))]
    kept[STYLES] = torch.from_numpy(np.stack(tables)[:, ::ROWS_APART].astype(np.float16))
    options.file.parent.mkdir(parents=True, exist_ok=True)
    save_file(kept, options.file)
    print(f"{len(kept)} tensors, {sum(tensor.numel() for tensor in kept.values()) / 1e6:.1f} M parameters")


if __name__ == "__main__":
    main()
