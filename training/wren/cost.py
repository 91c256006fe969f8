"""`python -m training.wren.cost`: CPU time per second of audio, Wren's against Kokoro's, in one process on one thread.

Utterances alternate between the models, so that a busy machine slows both; only the ratio means something there.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from polyvox.models.kokoro.wren_source import SAMPLE_RATE
from polyvox.runtime.executors.ort import OrtGraph
from training.wren.checkpoint import load_student
from training.wren.features import synthesize
from training.wren.held_out import read_sentences
from training.wren.teacher import Request, Teacher
from training.wren.voices import StyleTables

_VOICE = "af_heart"
_PADDING = 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Print CPU-seconds per second of audio: Wren, Kokoro's whole graph, and their ratio."""
    parser = argparse.ArgumentParser(prog="python -m training.wren.cost", description=__doc__)
    parser.add_argument("student", type=Path, help="wren.safetensors of a checkpoint")
    parser.add_argument("data", type=Path, help="folder of held_out.json")
    parser.add_argument("kokoro", type=Path, help="Kokoro's bundle: model.onnx and voices/")
    parser.add_argument("--utterances", type=int, default=8)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    device = torch.device("cpu")
    voices, student = StyleTables.read(options.kokoro / "voices", device), load_student(options.student)
    teacher, graph = Teacher(options.kokoro / "model.onnx", device), OrtGraph(options.kokoro / "model.onnx", 1)
    sentences = [row for row in read_sentences(options.data / "held_out.json") if row.language == "a"]
    spent = {"wren": 0.0, "kokoro": 0.0}
    audio = {"wren": 0.0, "kokoro": 0.0}
    for number, sentence in enumerate(sentences[: options.utterances + 1]):
        style = voices.style({_VOICE: 1.0}, len(sentence.ids))
        (features,) = teacher.predict([Request(sentence.ids, style)])
        inputs = {
            "input_ids": np.array([[_PADDING, *sentence.ids, _PADDING]], dtype=np.int64),
            "style": style.numpy()[np.newaxis],
            "speed": np.ones(1, dtype=np.float32),
        }
        began = time.process_time()
        decoded = synthesize(student, features)
        between = time.process_time()
        (waveform,) = graph.run(["waveform"], inputs)
        ended = time.process_time()
        if number == 0:
            continue  # The first utterance warms both up.
        for name, seconds, samples in (
            ("wren", between - began, decoded.numel()),
            ("kokoro", ended - between, waveform.size),
        ):
            spent[name] += seconds
            audio[name] += samples / SAMPLE_RATE
    cost = {name: spent[name] / audio[name] for name in spent}
    print(
        json.dumps(
            {
                "audio_seconds": round(audio["wren"], 1),
                **{f"{name}_cpu_per_audio_second": round(value, 4) for name, value in cost.items()},
                "ratio": round(cost["kokoro"] / cost["wren"], 1),
            }
        )
    )


if __name__ == "__main__":
    main()
