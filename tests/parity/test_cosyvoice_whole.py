"""From text to the length of every chunk: the original's recorded runs, on the draws that the original took.

Its samples were not recorded, but how long its speech was depends on every token before the last.
"""

import itertools
import json

import numpy as np
import pytest
import torch

from helpers.cosyvoice_golden import (
    FOLDER,
    OriginalDraws,
    causal_hift,
    causal_hift_noise,
    flow,
    lm,
    lm_prompt,
    manifest,
)
from helpers.tables import each_row
from polyvox.engines.cosyvoice.decoder.hops import Hops
from polyvox.models.cosyvoice.flow import FlowPrompt
from polyvox.models.cosyvoice.lm import SpeechPrompt, length_limits
from polyvox.models.cosyvoice.noise import flow_noise
from polyvox.models.cosyvoice.silence import SilentRun
from polyvox.types import ChunkPolicy

pytestmark = pytest.mark.long

RUNS = json.loads((FOLDER / "frontend" / "cosyvoice_text.json").read_text())["e2e"]
HEARD = dict(np.load(FOLDER / "frontend" / "cosyvoice_features.npz"))
SEED = 4321
SAMPLES_PER_TOKEN = 960
TOKENS_PER_BLOCK, AHEAD = 25, 3


def row(ids):
    return torch.tensor([ids], dtype=torch.long)


def spoken(version, prompt, seed):
    """The tokens that the flow is given; in version 3 long silences are cut short."""
    draws = OriginalDraws(seed)
    limits = length_limits(prompt.text.shape[1], lm(version).config.speech, original=True)
    run, kept = SilentRun(), []
    for token in lm(version).generate(prompt, lambda scores, step: draws(scores), limits):
        run = run.after(token)
        kept += [] if version == 3 and run.too_long else [token]
    return kept


def tokens_of(case):
    version, mode = int(case[0]), case.split(".")[1]
    (text,), (transcript,) = RUNS[case]["text_ids"], RUNS[case]["prompt_text_ids"]
    speech = HEARD[f"tokens{version}"].tolist() if mode == "zero_shot" else []
    return spoken(version, SpeechPrompt(row(text), row(transcript or []), row(speech)), SEED)


@each_row("case", [case for case in RUNS if case.split(".")[1] != "vc"])
@torch.no_grad()
def test_in_every_mode_speech_is_as_long_as_the_originals(case):
    assert SAMPLES_PER_TOKEN * len(tokens_of(case)) == sum(RUNS[case]["chunks"])


@each_row("version", [2, 3])
@torch.no_grad()
def test_the_recorded_loop_speaks_as_long(version):
    recorded = manifest(version)["loop"]["e2e"]
    tokens = spoken(version, lm_prompt(version), recorded["seed"])
    assert len(tokens) == recorded["n_tokens"]
    assert SAMPLES_PER_TOKEN * len(tokens) == recorded["samples"]


def cuts(hops, count):
    """How many tokens are known when each chunk is made."""
    while hops.needed <= count:
        yield hops.needed
        hops = hops.after()
    yield count


@each_row("case", ["3.zero_shot.stream", "3.cross_lingual.stream"])
@torch.no_grad()
def test_streamed_chunks_are_as_long_as_the_originals(case):
    tokens, heard = row(tokens_of(case)), row(HEARD["tokens3"].tolist())
    mel, embedding = torch.from_numpy(HEARD["mel3"]).T[None], torch.from_numpy(HEARD["speaker3"])[None]
    flowing = flow(3).start(FlowPrompt(heard, mel, embedding), flow_noise())
    speaking, lengths = causal_hift().start(causal_hift_noise()), []
    hops = Hops(ChunkPolicy(25, 2.0, 100), heard.shape[1], TOKENS_PER_BLOCK, AHEAD)
    ends = list(cuts(hops, tokens.shape[1]))
    for begin, end in itertools.pairwise((0, *ends)):
        frames, flowing = flow(3).step(tokens[:, begin:end], flowing, final=end == ends[-1])
        samples, speaking = causal_hift().step(frames, speaking, final=end == ends[-1])
        lengths.append(samples.shape[1])
    assert lengths == RUNS[case]["chunks"]
