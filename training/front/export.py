"""`python -m training.front.export`: write a trained network as the graph that Wren's front runs, in 8 bits."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from safetensors.numpy import load_file

from polyvox.bundles.onnx_graphs.distilled_bert import distilled_bert_graph
from training.wren.export import SHIPPED


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the graph."""
    parser = argparse.ArgumentParser(prog="python -m training.front.export", description=__doc__)
    parser.add_argument("weights", type=Path, help="distilled_bert.safetensors")
    parser.add_argument(
        "graph", type=Path, nargs="?", default=SHIPPED / "bert.onnx", help="the package's own if left out"
    )
    options = parser.parse_args(arguments)
    options.graph.write_bytes(distilled_bert_graph(load_file(options.weights)))


if __name__ == "__main__":
    main()
