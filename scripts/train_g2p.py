"""Train, measure and export the grapheme-to-phoneme (G2P) network for English words in no dictionary.

It is trained on misaki's dictionaries (Apache-2.0), all four at once: a tag in front of the letters selects the variant
and quality of the output. One word in thirty-two is held out, together with all its inflected forms.

    pip install torch onnx
    python scripts/train_g2p.py train --weights g2p.pt        # some minutes on a GPU
    python scripts/train_g2p.py export --weights g2p.pt       # writes into the package
    python scripts/train_g2p.py measure                       # evaluates the exported network
"""

import argparse
import hashlib
import json
import math
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from g2p_network import DECODER_LAYERS, END, HEAD, HEADS, PAD, Encode, Network, Step
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from polyvox.text.phonemes.english.lexicon import dictionaries

PACKAGE = Path(__file__).parents[1] / "src/polyvox/text/phonemes/english"
TAGS = ("us-gold", "us-silver", "gb-gold", "gb-silver")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MAX_LETTERS = 32
ENDINGS = re.compile("(?:ies|y|s|es|ed|ing|ings|er|ers|or|ly|ness|less|able|al|ally|ic|ist|ism|ate|ation|ion|ions)$")
BATCH, LEARNING_RATE, WARM_UP, SMOOTHING, GOLD_WEIGHT = 1024, 1.5e-3, 400, 0.1, 2.0


@dataclass(frozen=True, slots=True)
class Example:
    tag: str
    word: str
    phonemes: str


def examples() -> list[Example]:
    """Every plain word of the dictionaries, in lower case; initials and mixed case are left out."""
    found = []
    dictionaries_by_tag = zip(TAGS, (*dictionaries("us"), *dictionaries("gb")), strict=True)
    for tag, dictionary in dictionaries_by_tag:
        for word, entry in dictionary.items():
            phonemes = entry if isinstance(entry, str) else entry["DEFAULT"]
            plain = re.fullmatch(f"[A-Za-z]{{2,{MAX_LETTERS}}}", word) and word in (word.lower(), word.capitalize())
            if phonemes and plain:
                found.append(Example(tag, word.lower(), phonemes))
    return found


def is_held_out(word: str) -> bool:
    """By hash of the word without its ending, so that no inflected form of a test word is trained on."""
    return hashlib.sha256(ENDINGS.sub("", word).encode()).digest()[0] < 8


def letter_ids() -> dict[str, int]:
    return {name: index for index, name in enumerate((*TAGS, *LETTERS), start=2)}


def symbol_ids(of: Iterable[Example]) -> dict[str, int]:
    symbols = sorted({symbol for example in of for symbol in example.phonemes})
    return {symbol: index for index, symbol in enumerate(symbols, start=2)}


def edits(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for index, symbol in enumerate(left, start=1):
        previous, row = row, [index]
        for place, other in enumerate(right, start=1):
            row.append(min(previous[place] + 1, row[-1] + 1, previous[place - 1] + (symbol != other)))
    return row[-1]


def report(tested: Sequence[Example], read: Callable[[str, Sequence[str]], list[str]]) -> None:
    """Print word accuracy, with and without stress, and phoneme error rate for each dictionary's held-out words."""
    references: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for example in tested:
        references[example.tag][example.word].append(example.phonemes)
    for tag, words in references.items():
        guesses = dict(zip(words, read(tag, list(words)), strict=True))
        right = sum(guesses[word] in targets for word, targets in words.items())
        right_sounds = sum(_bare(guesses[word]) in map(_bare, targets) for word, targets in words.items())
        wrong = sum(min(edits(guesses[word], one) for one in targets) for word, targets in words.items())
        total = sum(len(targets[0]) for targets in words.values())
        print(
            f"{tag}: {len(words)} words, {right / len(words):.1%} right, {right_sounds / len(words):.1%} but for"
            f" stress, phoneme error rate {wrong / total:.2%}",
            flush=True,
        )


def _bare(phonemes: str) -> str:
    return phonemes.replace("ˈ", "").replace("ˌ", "")


class TrainingSet:
    """The training examples as padded tensors on the device, in batches of similar length."""

    def __init__(self, chosen: Sequence[Example], symbols: dict[str, int], device: str) -> None:
        letters = letter_ids()
        inputs = [torch.tensor([letters[one.tag], *(letters[char] for char in one.word), END]) for one in chosen]
        targets = [torch.tensor([*(symbols[char] for char in one.phonemes), END]) for one in chosen]
        self.lengths = [(len(source), len(target)) for source, target in zip(inputs, targets, strict=True)]
        self.inputs = pad_sequence(inputs, batch_first=True).to(device)
        self.targets = pad_sequence(targets, batch_first=True).to(device)
        weight = [GOLD_WEIGHT if one.tag.endswith("gold") else 1.0 for one in chosen]
        self.weights = torch.tensor(weight, device=device)

    def batches(self, rng: random.Random) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
        """Letters, target symbols and the weight of each target; all examples, in a new order."""
        order = sorted(range(len(self.lengths)), key=lambda index: self.lengths[index][0] + 3 * rng.random())
        cut = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        rng.shuffle(cut)
        for picked in cut:
            rows = torch.tensor(picked, device=self.inputs.device)
            longest = [max(lengths) for lengths in zip(*(self.lengths[index] for index in picked), strict=True)]
            targets = self.targets[rows][:, : longest[1]]
            yield self.inputs[rows][:, : longest[0]], targets, (targets != PAD) * self.weights[rows][:, None]


def train(weights: Path, epochs: int) -> None:
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    device = "cuda" if torch.cuda.is_available() else "cpu"
    everything = examples()
    symbols = symbol_ids(everything)
    tested = [example for example in everything if is_held_out(example.word)]
    training = TrainingSet([example for example in everything if not is_held_out(example.word)], symbols, device)
    network = Network(2 + len(letter_ids()), 2 + len(symbols)).to(device)
    size = sum(parameter.numel() for parameter in network.parameters())
    print(f"{len(training.lengths)} examples, {len(tested)} held out, {size} parameters", flush=True)
    fit(network, training, epochs)
    kept = {name: value.half().cpu() for name, value in network.state_dict().items()}
    torch.save({"symbols": list(symbols), "network": kept}, weights)
    report(tested, lambda tag, words: decode(network, list(symbols), tag, words))


def fit(network: Network, training: TrainingSet, epochs: int) -> None:
    """AdamW with warm-up and a cosine schedule; the result is an exponential moving average of the weights."""
    parameters = list(network.parameters())
    averaged = [parameter.detach().clone() for parameter in parameters]
    optimizer = torch.optim.AdamW(parameters, lr=LEARNING_RATE, betas=(0.9, 0.98), weight_decay=0.02)
    total = epochs * math.ceil(len(training.lengths) / BATCH)
    rng, step, began = random.Random(0), 0, time.monotonic()
    for epoch in range(1, epochs + 1):
        for inputs, targets, weight in training.batches(rng):
            losses = functional.cross_entropy(
                network(inputs, targets).flatten(0, 1),
                targets.flatten(),
                reduction="none",
                label_smoothing=SMOOTHING,
            )
            loss = (losses.view_as(targets) * weight).sum() / weight.sum()
            rate = LEARNING_RATE * min(1.0, step / WARM_UP) * (1 + math.cos(math.pi * step / total)) / 2
            optimizer.param_groups[0]["lr"] = rate
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            step += 1
            torch._foreach_lerp_(averaged, [one.detach() for one in parameters], 1 - min(0.999, step / (step + 9)))
        print(f"epoch {epoch} of {epochs}: loss {loss.item():.4f}, {time.monotonic() - began:.0f} s", flush=True)
    for parameter, average in zip(parameters, averaged, strict=True):
        parameter.data.copy_(average)


@torch.no_grad()
def decode(network: Network, symbols: list[str], tag: str, words: Sequence[str]) -> list[str]:
    """Greedy decoding of each word."""
    network.eval()
    letters, device = letter_ids(), network.out.weight.device
    decoded: list[str] = []
    for start in range(0, len(words), BATCH):
        part = words[start : start + BATCH]
        rows = [torch.tensor([letters[tag], *(letters[char] for char in word), END]) for word in part]
        inputs = pad_sequence(rows, batch_first=True).to(device)
        keep = inputs != PAD
        memory = network.encode(inputs, keep)
        empty = torch.zeros(len(part), HEADS, 0, HEAD, device=device)
        past, symbol, taken = [(empty, empty)] * DECODER_LAYERS, torch.full((len(part), 1), END, device=device), []
        for _ in range(2 * MAX_LETTERS):
            scores, past = network.step(symbol, past, memory, keep)
            symbol = scores.argmax(-1, keepdim=True)
            taken.append(symbol)
        for row in torch.cat(taken, dim=1).tolist():
            ended = row.index(END) if END in row else len(row)
            decoded.append("".join(symbols[index - 2] for index in row[:ended] if index > END))
    return decoded


def export(weights: Path) -> None:
    """Write the two ONNX graphs: the encoder, and one step of the decoder."""
    saved = torch.load(weights, weights_only=True)
    network = Network(2 + len(letter_ids()), 2 + len(saved["symbols"]))
    network.load_state_dict({name: value.float() for name, value in saved["network"].items()})
    network.eval()
    memory = torch.zeros(DECODER_LAYERS, 2, 1, HEADS, 7, HEAD)
    torch.onnx.export(
        Encode(network),
        (torch.full((1, 7), 9),),
        PACKAGE / "g2p_encoder.onnx",
        input_names=["letters"],
        output_names=["memory"],
        dynamic_axes={"letters": {1: "letters"}, "memory": {4: "letters"}},
        dynamo=False,
        opset_version=17,
    )
    torch.onnx.export(
        Step(network),
        (torch.full((1, 1), END), memory[..., :3, :], memory),
        PACKAGE / "g2p_decoder.onnx",
        input_names=["symbol", "past", "memory"],
        output_names=["scores", "present"],
        dynamic_axes={"past": {4: "past"}, "memory": {4: "letters"}, "present": {4: "present"}},
        dynamo=False,
        opset_version=17,
    )
    metadata = {"letters": json.dumps(letter_ids()), "symbols": json.dumps(saved["symbols"], ensure_ascii=False)}
    for name in ("g2p_encoder.onnx", "g2p_decoder.onnx"):
        quantise_weights(PACKAGE / name, metadata)


def quantise_weights(path: Path, metadata: dict[str, str]) -> None:
    """Store large matrices as int8 with one scale per column; the graph dequantises them."""
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper

    model = onnx.load(path)
    graph, unpacked = model.graph, []
    for tensor in list(graph.initializer):
        matrix = numpy_helper.to_array(tensor)
        if matrix.dtype != np.float32 or matrix.ndim != 2 or matrix.size < 4096:
            continue
        scale = np.maximum(np.abs(matrix).max(axis=0, keepdims=True), 1e-8) / 127
        graph.initializer.remove(tensor)
        graph.initializer.append(
            numpy_helper.from_array(np.round(matrix / scale).astype(np.int8), f"{tensor.name}_bytes")
        )
        graph.initializer.append(numpy_helper.from_array(scale.astype(np.float32), f"{tensor.name}_scale"))
        unpacked += [
            helper.make_node("Cast", [f"{tensor.name}_bytes"], [f"{tensor.name}_cast"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Mul", [f"{tensor.name}_cast", f"{tensor.name}_scale"], [tensor.name]),
        ]
    nodes = [*unpacked, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    helper.set_model_props(model, metadata)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


def measure() -> None:
    from polyvox.text.phonemes.english.g2p import load

    held_out = [example for example in examples() if is_held_out(example.word) and example.tag.endswith("gold")]
    report(held_out, lambda tag, words: [load(tag[:2])(word) for word in words])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "export", "measure"))
    parser.add_argument("--weights", type=Path, default=Path("g2p.pt"))
    parser.add_argument("--epochs", type=int, default=30)
    given = parser.parse_args()
    if given.what == "train":
        train(given.weights, given.epochs)
    elif given.what == "export":
        export(given.weights)
    else:
        measure()


if __name__ == "__main__":
    main()
