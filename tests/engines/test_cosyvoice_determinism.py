"""One recording, its words, one text, one chunk policy: the same chunks to the last bit, whenever and beside whomever.

Bits are compared on one machine. What is written down here, for all machines, is where the chunks end and how loud
they are: that changes when the model's arithmetic or its draws do, and does not with the rounding of a processor.
"""

import asyncio
import hashlib
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace

import numpy as np
import pytest

from helpers.tiny_cosyvoice import SEED, let_speech_end, prompt, tiny_model
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.installation import load_settings
from polyvox.types import Utterance

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
VERSIONS = pytest.mark.parametrize("version", [2, 3])
TRANSCRIPT, TEXT = "a word", "the wall."
POLICY = {"cosyvoice_first_hop": 25, "cosyvoice_hop_growth": 2.0, "cosyvoice_max_hop": 100}
EARLY = {"cosyvoice_first_hop": 5, "cosyvoice_hop_growth": 1.0, "cosyvoice_max_hop": 25}


@dataclass(frozen=True)
class Report:
    """All that a listener could tell one run from another by."""

    samples: int
    ends: tuple[int, ...]
    tokens: tuple[int, ...]
    frames: tuple[int, ...]
    hashes: tuple[str, ...]


def report(chunks):
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    return Report(
        sum(len(chunk.pcm) for chunk in chunks),
        tuple(chunk.end for chunk in chunks),
        tuple(chunk.tokens.end for chunk in chunks),
        tuple(chunk.frames.end for chunk in chunks),
        tuple(hashlib.sha256(chunk.pcm.tobytes()).hexdigest() for chunk in chunks),
    )


@asynccontextmanager
async def running(folder, version, policy):
    """An engine with this policy, and what makes an utterance in the one voice."""
    engine = CosyVoiceEngine(load_settings(**{f"cosyvoice{version}_dir": folder}, **policy), version)
    await engine.start()
    try:
        voice = await engine.prepare(prompt(TRANSCRIPT))
        yield engine, Utterance(TEXT, "", seed=SEED, prepared=voice)
    finally:
        await engine.close()


async def heard(engine, utterance):
    async with aclosing(engine.speak(utterance)) as chunks:
        return report([chunk async for chunk in chunks])


@pytest.mark.parametrize(("version", "beside"), [(2, 2), (3, 3)])
async def test_twice_beside_others_and_after_a_new_start(tmp_path, version, beside):
    folder = let_speech_end(tiny_model(tmp_path / "model", version))
    longer = "the wall and all the word and a wall."
    async with running(folder, version, POLICY) as (engine, short):
        wanted = replace(short, text=longer)
        alone = await heard(engine, wanted)
        assert len(alone.ends) > 1
        others = [replace(wanted, text="er.", seed=place) for place in range(beside)]
        other_alone = await heard(engine, others[0])
        together = await asyncio.gather(*(heard(engine, each) for each in (*others[:2], wanted, *others[2:])))
        assert together[2] == alone
        assert together[0] == other_alone
        assert await heard(engine, wanted) == alone
    assert len({each.hashes for each in together}) == beside + 1
    async with running(folder, version, POLICY) as (engine, short):
        assert await heard(engine, replace(short, text=longer)) == alone


RECORDED = {
    2: {
        "policy": ((26_880, 74_880, 96_000), (-14.470, -14.217, -15.163)),
        "early": ((2_880, 26_880), (-16.548, -13.718)),
    },
    3: {
        "policy": ((26_880, 34_560), (-16.367, -13.877)),
        "early": ((2_880, 26_880), (-12.439, -17.210)),
    },
}
"""Where chunks end, in samples, and how loud each is, in decibels; of an early start, the first two."""


def loudness(chunk):
    return 10 * np.log10(np.square(chunk.pcm, dtype=np.float64).mean())


@pytest.mark.usefixtures("all_steps")
@VERSIONS
async def test_chunks_end_where_they_ended_and_are_as_loud_as_they_were(tmp_path, version):
    folder = tiny_model(tmp_path / "model", version)
    for name, policy in (("policy", POLICY), ("early", EARLY)):
        ends, levels = RECORDED[version][name]
        async with running(folder, version, policy) as (engine, wanted), aclosing(engine.speak(wanted)) as spoken:
            chunks = [await anext(spoken) for _ in ends]
            assert name == "early" or await anext(spoken, None) is None
        assert {chunk.policy.first for chunk in chunks} == {policy["cosyvoice_first_hop"]}
        assert tuple(chunk.end for chunk in chunks) == ends
        assert [loudness(chunk) for chunk in chunks] == pytest.approx(levels, abs=0.1)
        assert report(chunks).samples == ends[-1]
        assert name == "early" or ends[-1] == 960 * chunks[-1].tokens.end == 480 * chunks[-1].frames.end
