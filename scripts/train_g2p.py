"""Train, measure and export the model that reads English words which no dictionary has.

It learns from misaki's dictionaries (Apache-2.0), all four at once: a tag in front of the letters says which variant
and quality the answer is wanted in. One word in thirty-two is held out, together with everything derived from it.

    pip install torch onnx
    python scripts/train_g2p.py train --weights g2p.pt        # some minutes on a GPU
    python scripts/train_g2p.py export --weights g2p.pt       # writes into the package
    python scripts/train_g2p.py measure                       # of what is in the package
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
from importlib import resources
from pathlib import Path

import torch
from g2p_network import DECODER_LAYERS, END, HEAD, HEADS, PAD, Encode, Network, Step
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

PACKAGE = Path(__file__).parents[1] / "src/polyvox/text/phonemes"
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


def examples(folder: Path) -> list[Example]:
    """Every plain word of the dictionaries, in lower case; initials and mixed case are no matter of spelling."""
    found = []
    for tag in TAGS:
        for word, entry in json.loads((folder / f"{tag.replace('-', '_')}.json").read_text(encoding="utf-8")).items():
            phonemes = entry if isinstance(entry, str) else entry["DEFAULT"]
            plain = re.fullmatch(f"[A-Za-z]{{2,{MAX_LETTERS}}}", word) and word in (word.lower(), word.capitalize())
            if phonemes and plain:
                found.append(Example(tag, word.lower(), phonemes))
    return found


def is_held_out(word: str) -> bool:
    """By hash of the word without its ending, so that no inflected form of a test word is learned."""
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
    answers: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for example in tested:
        answers[example.tag][example.word].append(example.phonemes)
    for tag, words in answers.items():
        guesses = dict(zip(words, read(tag, list(words)), strict=True))
        right = sum(guesses[word] in wanted for word, wanted in words.items())
        right_sounds = sum(_bare(guesses[word]) in map(_bare, wanted) for word, wanted in words.items())
        wrong = sum(min(edits(guesses[word], one) for one in wanted) for word, wanted in words.items())
        total = sum(len(wanted[0]) for wanted in words.values())
        print(
            f"{tag}: {len(words)} words, {right / len(words):.1%} right, {right_sounds / len(words):.1%} but for"
            f" stress, phoneme error rate {wrong / total:.2%}",
            flush=True,
        )


def _bare(phonemes: str) -> str:
    return phonemes.replace("ˈ", "").replace("ˌ", "")


class Lesson:
    """The learned examples as padded tensors on the device, cut into batches of about one length."""

    def __init__(self, learned: Sequence[Example], symbols: dict[str, int], device: str) -> None:
        letters = letter_ids()
        asked = [torch.tensor([letters[one.tag], *(letters[char] for char in one.word), END]) for one in learned]
        wanted = [torch.tensor([*(symbols[char] for char in one.phonemes), END]) for one in learned]
        self.lengths = [(len(question), len(answer)) for question, answer in zip(asked, wanted, strict=True)]
        self.asked = pad_sequence(asked, batch_first=True).to(device)
        self.wanted = pad_sequence(wanted, batch_first=True).to(device)
        worth = [GOLD_WEIGHT if one.tag.endswith("gold") else 1.0 for one in learned]
        self.worth = torch.tensor(worth, device=device)

    def batches(self, rng: random.Random) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
        """Questions, answers and the weight of each symbol of the answers; all examples, in a new order."""
        order = sorted(range(len(self.lengths)), key=lambda index: self.lengths[index][0] + 3 * rng.random())
        cut = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        rng.shuffle(cut)
        for picked in cut:
            rows = torch.tensor(picked, device=self.asked.device)
            longest = [max(lengths) for lengths in zip(*(self.lengths[index] for index in picked), strict=True)]
            answers = self.wanted[rows][:, : longest[1]]
            yield self.asked[rows][:, : longest[0]], answers, (answers != PAD) * self.worth[rows][:, None]


def train(folder: Path, weights: Path, epochs: int) -> None:
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    device = "cuda" if torch.cuda.is_available() else "cpu"
    everything = examples(folder)
    symbols = symbol_ids(everything)
    tested = [example for example in everything if is_held_out(example.word)]
    lesson = Lesson([example for example in everything if not is_held_out(example.word)], symbols, device)
    network = Network(2 + len(letter_ids()), 2 + len(symbols)).to(device)
    size = sum(parameter.numel() for parameter in network.parameters())
    print(f"{len(lesson.lengths)} examples, {len(tested)} held out, {size} parameters", flush=True)
    learn(network, lesson, epochs)
    kept = {name: value.half().cpu() for name, value in network.state_dict().items()}
    torch.save({"symbols": list(symbols), "network": kept}, weights)
    report(tested, lambda tag, words: decode(network, list(symbols), tag, words))


def learn(network: Network, lesson: Lesson, epochs: int) -> None:
    """Adam with a cosine schedule; what stays is a running average of the weights."""
    parameters = list(network.parameters())
    averaged = [parameter.detach().clone() for parameter in parameters]
    optimizer = torch.optim.AdamW(parameters, lr=LEARNING_RATE, betas=(0.9, 0.98), weight_decay=0.02)
    total = epochs * math.ceil(len(lesson.lengths) / BATCH)
    rng, step, began = random.Random(0), 0, time.monotonic()
    for epoch in range(1, epochs + 1):
        for questions, answers, weight in lesson.batches(rng):
            losses = functional.cross_entropy(
                network(questions, answers).flatten(0, 1),
                answers.flatten(),
                reduction="none",
                label_smoothing=SMOOTHING,
            )
            loss = (losses.view_as(answers) * weight).sum() / weight.sum()
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
    """The most likely phonemes of each word, one symbol after the other."""
    network.eval()
    letters, device = letter_ids(), network.out.weight.device
    said: list[str] = []
    for start in range(0, len(words), BATCH):
        part = words[start : start + BATCH]
        rows = [torch.tensor([letters[tag], *(letters[char] for char in word), END]) for word in part]
        asked = pad_sequence(rows, batch_first=True).to(device)
        keep = asked != PAD
        memory = network.encode(asked, keep)
        empty = torch.zeros(len(part), HEADS, 0, HEAD, device=device)
        past, symbol, taken = [(empty, empty)] * DECODER_LAYERS, torch.full((len(part), 1), END, device=device), []
        for _ in range(2 * MAX_LETTERS):
            scores, past = network.step(symbol, past, memory, keep)
            symbol = scores.argmax(-1, keepdim=True)
            taken.append(symbol)
        for row in torch.cat(taken, dim=1).tolist():
            ended = row.index(END) if END in row else len(row)
            said.append("".join(symbols[index - 2] for index in row[:ended] if index > END))
    return said


def export(weights: Path) -> None:
    """Write the two graphs: letters to what the decoder looks at, and one step of the decoder."""
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
        dynamic_axes={"past": {4: "said"}, "memory": {4: "letters"}, "present": {4: "saying"}},
        dynamo=False,
        opset_version=17,
    )
    described = {"letters": json.dumps(letter_ids()), "symbols": json.dumps(saved["symbols"], ensure_ascii=False)}
    for name in ("g2p_encoder.onnx", "g2p_decoder.onnx"):
        shrink(PACKAGE / name, described)


def shrink(path: Path, described: dict[str, str]) -> None:
    """Keep large matrices as bytes with one scale per column, which the runtime turns back when it loads them."""
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
    helper.set_model_props(model, described)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


def measure(folder: Path) -> None:
    from polyvox.text.phonemes.g2p import load

    held_out = [example for example in examples(folder) if is_held_out(example.word) and example.tag.endswith("gold")]
    report(held_out, lambda tag, words: [load(tag[:2])(word) for word in words])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "export", "measure"))
    parser.add_argument("--dictionaries", type=Path, help="folder of the dictionaries; misaki's own unless given")
    parser.add_argument("--weights", type=Path, default=Path("g2p.pt"))
    parser.add_argument("--epochs", type=int, default=30)
    given = parser.parse_args()
    folder = given.dictionaries or Path(str(resources.files("misaki").joinpath("data")))
    if given.what == "train":
        train(folder, given.weights, given.epochs)
    elif given.what == "export":
        export(given.weights)
    else:
        measure(folder)


if __name__ == "__main__":
    main()
