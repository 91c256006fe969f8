"""The scheduler: a sequence's tokens do not depend on its batch, and its slot comes back."""

import asyncio
import threading
from contextlib import asynccontextmanager

import pytest
import torch

from helpers.fixed_shapes import Fixed
from helpers.tables import each_row
from helpers.tiny_lm import TEXT_IDS, tiny_config, tiny_lm
from polyvox.errors import EngineError, InvalidRequestError, UnavailableError
from polyvox.models.qwen.model import QwenState
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.kv_cache import slot_bytes, slots_within
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams

pytestmark = pytest.mark.anyio

END = tiny_lm().end
GREEDY = SamplingParams(temperature=0.0)


@asynccontextmanager
async def runtime(model=None, replay=None, **sizes):
    """A runtime that must have all its slots back in the end, with the reports of its steps."""
    executor, reports = DeviceExecutor("test-lm", 1), []
    chosen = LmSchedulerConfig(**{"slots": 16, "capacity": 256, "prefill_rows": 32, **sizes})
    lm = LmScheduler(model or tiny_lm(), chosen, executor=executor, observer=reports.append, replay=replay)
    try:
        yield lm, reports
        assert (lm.running, lm.waiting) == (0, 0)
    finally:
        await lm.close()
        await asyncio.to_thread(executor.close)


def ids(length, seed=0):
    return tuple(torch.randint(TEXT_IDS, (length,), generator=torch.Generator().manual_seed(seed)).tolist())


def limits(most=40, least=0):
    return GenerationLimits(max_tokens=most, min_tokens=least, stop_tokens=frozenset({END}))


async def spoken(lm, prompt, sampling=GREEDY, until=None):
    async with lm.generate(prompt, sampling, until or limits()) as stream:
        return [token async for token in stream]


def by_hand(rows, most):
    """Greedy decoding with the model alone."""
    model, state, tokens = tiny_lm(), QwenState(), []
    for _ in range(most):
        hidden, state = model.backbone(rows, state)
        token = model.logits(hidden[0, -1]).argmax()
        if token == END:
            break
        tokens.append(token.item())
        rows = model.embed_tokens(token)[None, None]
    return tokens


SIXTEEN = [
    (
        ids(3 + 7 * place % 60, seed=place),
        [
            SamplingParams(seed=place, temperature=0.8, repetition_penalty=1.15),
            GREEDY,
            SamplingParams(seed=place, top_k=5),
            SamplingParams(seed=place, top_p=0.7, temperature=1.3),
            SamplingParams(seed=place, top_k=25, top_p=0.8, repeat_window=10),
        ][place % 5],
        limits(most=30 + place, least=place),
    )
    for place in range(16)
]


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
async def alone(anyio_backend):
    """The tokens of all sixteen, each without others."""
    async with runtime() as (lm, reports):
        tokens = [await spoken(lm, Prompt(prompt), rule, until) for prompt, rule, until in SIXTEEN]
        assert max(report.generated_tokens for report in reports) == 1
    return tokens


@pytest.mark.long
async def test_sixteen_sequences_are_the_same_alone_and_together(alone):
    async with runtime() as (lm, reports):
        together = await asyncio.gather(*(spoken(lm, Prompt(prompt), rule, until) for prompt, rule, until in SIXTEEN))
    assert max(report.generated_tokens for report in reports) == 16
    assert together == alone
    assert sum(map(len, alone)) > 400


@pytest.mark.long
async def test_sixteen_sequences_through_five_slots_are_the_same_again(alone):
    async with runtime(slots=5, prefill_rows=8) as (lm, reports):
        crowded = await asyncio.gather(*(spoken(lm, Prompt(prompt), rule, until) for prompt, rule, until in SIXTEEN))
    assert crowded == alone
    assert max(report.running for report in reports) == 5
    assert max(report.waiting for report in reports) == 11


@pytest.mark.long
async def test_steps_of_fixed_shape_draw_the_same_tokens(alone):
    replay = Fixed()
    async with runtime(replay=replay, slots=11, capacity=300) as (lm, _):
        together = await asyncio.gather(*(spoken(lm, Prompt(prompt), rule, until) for prompt, rule, until in SIXTEEN))
    assert together == alone
    assert {key[1] for key in replay.shapes} <= {1, 2, 4, 8, 11}
    assert {key[2] for key in replay.shapes if key[0] == "decode"} <= {256, 300}
    assert {key[2:4] for key in replay.shapes if key[0] == "prefill"} <= {(32, 300)}


@pytest.mark.long
async def test_what_was_warmed_is_not_captured_again():
    replay = Fixed()
    rule = SamplingParams(seed=3, temperature=0.8)
    async with runtime(replay=replay, slots=5, capacity=600) as (lm, reports):
        await lm.warm(rule, GREEDY)
        assert replay.recorded == 4 * 3 + 4 * 2
        assert not reports
        first = await spoken(lm, Prompt(ids(9)), rule)
        await asyncio.gather(
            *(spoken(lm, Prompt(ids(250, seed)), rule, GenerationLimits(max_tokens=20)) for seed in range(8))
        )
        assert replay.recorded == 20
    async with runtime() as (lm, _):
        await lm.warm(rule)
        assert await spoken(lm, Prompt(ids(9)), rule) == first


@pytest.mark.long
async def test_a_sequence_that_waits_between_others_is_not_disturbed_by_their_fixed_shapes():
    first, second = ids(6), ids(4, seed=1)
    async with runtime(replay=Fixed()) as (lm, _), lm.open(GREEDY) as early, lm.open(GREEDY) as waiting:
        told = [token async for token in waiting.extend(Prompt(first), limits(most=5))]
        async with lm.open(GREEDY) as late:
            for sequence in (early, late):
                [token async for token in sequence.extend(Prompt(ids(30, seed=7)), GenerationLimits(max_tokens=50))]
        more = [token async for token in waiting.extend(Prompt(second), limits(most=12))]
    async with runtime() as (lm, _), lm.open(GREEDY) as sequence:
        assert told == [token async for token in sequence.extend(Prompt(first), limits(most=5))]
        assert more == [token async for token in sequence.extend(Prompt(second), limits(most=12))]


@pytest.mark.long
async def test_tokens_are_those_of_the_model_by_itself():
    async with runtime() as (lm, _):
        for seed in range(4):
            prompt = ids(20, seed)
            rows = tiny_lm().embed_ids(torch.tensor([prompt]))
            assert await spoken(lm, Prompt(prompt)) == by_hand(rows, 40)


async def test_embeddings_serve_as_well_as_ids():
    prompt = ids(50)
    rows = tiny_lm().embed_ids(torch.tensor(prompt))
    async with runtime(prefill_rows=7) as (lm, _):
        assert await spoken(lm, Prompt(embeds=rows)) == await spoken(lm, Prompt(prompt))


async def test_a_sequence_ends_at_an_end_or_at_its_greatest_length():
    async with runtime() as (lm, _):
        whole = await spoken(lm, Prompt(ids(9)))
        assert len(whole) == 40
        short = await spoken(lm, Prompt(ids(9)), until=limits(most=7))
        assert short == whole[:7]
        stop = GenerationLimits(max_tokens=40, stop_tokens=frozenset({whole[5]}))
        assert await spoken(lm, Prompt(ids(9)), until=stop) == whole[: whole.index(whole[5])]


@pytest.mark.long
async def test_the_same_seed_says_the_same_and_another_something_else():
    async with runtime() as (lm, _):
        first, again, other = [
            await spoken(lm, Prompt(ids(9)), SamplingParams(seed=seed, temperature=1.5)) for seed in (1, 1, 2)
        ]
        chance = [await spoken(lm, Prompt(ids(9)), SamplingParams(temperature=1.5)) for _ in range(2)]
    assert first == again != other
    assert chance[0] != chance[1]


async def test_long_prompts_are_prefilled_in_chunks_while_others_go_on_decoding():
    async with (
        runtime(prefill_rows=8, capacity=400) as (lm, reports),
        lm.generate(Prompt(ids(5)), GREEDY, GenerationLimits(max_tokens=300)) as speaking,
    ):
        await speaking.read(3)
        reports.clear()
        await spoken(lm, Prompt(ids(100, seed=1)), until=limits(most=1))
    reading = [report for report in reports if report.prompt_tokens]
    assert [report.prompt_tokens for report in reading] == [8] * 12 + [4]
    assert all(report.generated_tokens >= 1 for report in reading)


async def test_short_prompts_share_a_step_and_do_not_wait_behind_a_long_one():
    async with runtime(prefill_rows=24) as (lm, reports):
        lengths = {"long": 200, "short": 6, "other": 5}
        order = []

        async def first_token(name):
            async with lm.generate(Prompt(ids(lengths[name])), GREEDY, limits()) as stream:
                await stream.read()
                order.append(name)

        await asyncio.gather(*map(first_token, lengths))
    assert order == ["short", "other", "long"]
    assert reports[0].prompt_tokens == 24
    assert max(report.prompt_tokens for report in reports) <= 24


async def first_tokens(lm, lengths):
    """Each prompt's tokens, asked for at once."""
    return await asyncio.gather(*(spoken(lm, Prompt(ids(length)), until=limits(most=3)) for length in lengths))


@each_row("replayed", [False, True])
async def test_prompts_of_unequal_lengths_are_read_whole_in_one_step(replayed):
    lengths = (6, 9, 11, 7)
    async with runtime() as (lm, _):
        alone = [(await first_tokens(lm, [length]))[0] for length in lengths]
    async with runtime(prefill_rows=64, replay=Fixed() if replayed else None) as (lm, reports):
        assert await first_tokens(lm, lengths) == alone
    assert [report.prompt_tokens for report in reports if report.prompt_tokens] == [sum(lengths)]


@each_row(("replayed", "read"), [(False, [12, 34]), (True, [38, 8])])
async def test_a_prompt_pads_those_before_it_to_twice_their_length_at_most(replayed, read):
    async with runtime() as (lm, _):
        alone = [(await first_tokens(lm, [length]))[0] for length in (6, 40)]
    async with runtime(prefill_rows=64, replay=Fixed() if replayed else None) as (lm, reports):
        assert await first_tokens(lm, (6, 40)) == alone
    assert [report.prompt_tokens for report in reports if report.prompt_tokens] == read


@pytest.mark.long
async def test_a_prompt_that_shares_a_prefix_with_an_earlier_one_is_prefilled_behind_it():
    voice = ids(60)
    prompts = [Prompt(voice + ids(6, seed), shared=60) for seed in range(3)]
    async with runtime() as (lm, _):
        expected = [await spoken(lm, prompt) for prompt in prompts]
    async with runtime(prefix_bytes=10**6) as (lm, reports):
        first = await spoken(lm, prompts[0])
        assert sum(report.prompt_tokens for report in reports) == 66
        reports.clear()
        later = [await spoken(lm, prompt) for prompt in prompts]
        assert sum(report.prompt_tokens for report in reports) == 3 * 6
        reports.clear()
        stranger = Prompt(ids(60, seed=9) + ids(6), shared=60)
        await spoken(lm, stranger)
        assert sum(report.prompt_tokens for report in reports) == 66
    assert [first, *later[1:]] == expected
    assert later[0] == expected[0]


async def test_no_prefix_is_cached_where_there_is_no_room_for_it():
    prompt = Prompt(ids(30), shared=29)
    async with runtime(prefix_bytes=100) as (lm, reports):
        for _ in range(2):
            await spoken(lm, prompt)
    assert sum(report.prompt_tokens for report in reports) == 60


ONE_TOKEN_AND_SEVERAL_A_STEP = pytest.mark.parametrize(
    "replay", [None, Fixed()], ids=["one token a step", "several tokens a step"]
)


@ONE_TOKEN_AND_SEVERAL_A_STEP
async def test_a_sequence_can_be_extended_by_more_input(replay):
    first, second = ids(6), ids(4, seed=1)
    async with runtime(replay=replay) as (lm, _), lm.open(GREEDY) as sequence:
        told = [token async for token in sequence.extend(Prompt(first), limits(most=5))]
        more = [token async for token in sequence.extend(Prompt(second), limits(most=12))]
    model = tiny_lm()
    spoken_so_far = [model.embed_ids(torch.tensor(first)), model.embed_tokens(torch.tensor(told))]
    rows = torch.cat((*spoken_so_far, model.embed_ids(torch.tensor(second))))[None]
    assert told == by_hand(model.embed_ids(torch.tensor([first])), 5)
    assert more == by_hand(rows, 12)


@pytest.mark.long
@ONE_TOKEN_AND_SEVERAL_A_STEP
async def test_a_stop_token_is_not_part_of_the_sequence_that_is_extended(replay):
    first, second = ids(6), ids(4, seed=1)
    async with runtime(replay=replay) as (lm, _):
        told = await spoken(lm, Prompt(first))
        end = told[4]
        kept = told[: told.index(end)]
        async with lm.open(GREEDY) as sequence:
            stop = GenerationLimits(max_tokens=40, stop_tokens=frozenset({end}))
            assert [token async for token in sequence.extend(Prompt(first), stop)] == kept
            more = [token async for token in sequence.extend(Prompt(second), limits(most=12))]
    model = tiny_lm()
    rows = torch.cat((model.embed_ids(torch.tensor(first)), model.embed_tokens(torch.tensor(kept, dtype=torch.long))))
    assert more == by_hand(torch.cat((rows, model.embed_ids(torch.tensor(second))))[None], 12)


async def test_the_random_numbers_of_a_sequence_do_not_move_while_others_of_its_batch_go_on():
    rule, first, second = SamplingParams(seed=4, repetition_penalty=1.3), ids(6), ids(4, seed=1)

    async def told(lm):
        async with lm.open(rule) as sequence:
            return [
                [token async for token in sequence.extend(Prompt(prompt), GenerationLimits(max_tokens=3))]
                for prompt in (first, second)
            ]

    async with runtime() as (lm, _):
        alone = await told(lm)
    async with runtime(replay=Fixed(), decode_steps=8) as (lm, reports):
        assert (await asyncio.gather(told(lm), spoken(lm, Prompt(ids(5)), until=GenerationLimits(max_tokens=60))))[
            0
        ] == alone
    assert max(report.generated_tokens for report in reports) >= 8


async def test_a_step_decodes_about_what_the_first_reader_waits_for_and_single_tokens_while_prompts_wait():
    async with (
        runtime(replay=Fixed(), decode_steps=8, prefill_rows=8) as (lm, reports),
        lm.generate(Prompt(ids(5)), GREEDY, GenerationLimits(max_tokens=200)) as stream,
    ):
        await stream.read(6)
        assert [report.generated_tokens for report in reports][:2] == [1, 5]
        async with lm.generate(Prompt(ids(40)), GREEDY, GenerationLimits(max_tokens=1)) as long:
            await asyncio.gather(stream.read(30), long.read())
    reading = [report.generated_tokens for report in reports if report.prompt_tokens]
    assert len(reading) == 6
    assert max(reading) <= 2


async def test_a_held_sequence_waits_for_its_reader_while_it_is_alone():
    async with runtime(replay=Fixed(), max_unread=8) as (lm, reports):

        def generated():
            return sum(report.generated_tokens for report in reports)

        endless = GenerationLimits(max_tokens=60)
        async with lm.generate(Prompt(ids(5)), GREEDY, endless) as stream:
            stream.hold()
            tokens = await stream.read(6) + await stream.read(3)
            for _ in range(50):
                await asyncio.sleep(0.001)
            assert len(tokens) == generated() == 9
            async with lm.generate(Prompt(ids(4, seed=1)), GREEDY, endless) as other:
                await other.read(8)
                assert stream.unread
            stream.release()
            while token := await stream.read():
                tokens += token
    assert len(tokens) == 60
    async with runtime(replay=Fixed()) as (lm, _):
        assert tokens == await spoken(lm, Prompt(ids(5)), until=endless)


async def test_a_sequence_that_is_left_takes_no_part_in_the_next_step():
    async with (
        runtime(capacity=2_000) as (lm, reports),
        lm.generate(Prompt(ids(5)), GREEDY, GenerationLimits(max_tokens=1_000)) as stays,
    ):
        await stays.read(2)
        async with lm.generate(Prompt(ids(7)), GREEDY, GenerationLimits(max_tokens=1_000)) as leaves:
            await leaves.read(5)
            assert lm.running == 2
        assert lm.running == 1
        reports.clear()
        await stays.read(10)
    # The first report may be of the step that was under way, the last one is of the slot that became free.
    assert {report.generated_tokens for report in reports[1:-1]} == {1}


async def test_a_reader_that_is_cancelled_frees_its_slot():
    async with runtime(slots=1, capacity=2_000) as (lm, _):
        task = asyncio.create_task(spoken(lm, Prompt(ids(5)), until=GenerationLimits(max_tokens=1_900)))
        await asyncio.sleep(0.02)
        assert lm.running == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert lm.running == 0
        assert len(await spoken(lm, Prompt(ids(5)), until=GenerationLimits(max_tokens=3))) == 3


async def test_slots_are_assigned_first_come_first_served_and_a_cancelled_caller_leaves_the_queue():
    order = []
    async with runtime(slots=1) as (lm, _):

        async def waiting(name):
            async with lm.open(GREEDY):
                order.append(name)
                await asyncio.sleep(0)

        async with lm.open(GREEDY):
            tasks = [asyncio.create_task(waiting(name)) for name in "abcd"]
            await asyncio.sleep(0)
            assert lm.waiting == 4
            tasks[1].cancel()
            await asyncio.sleep(0)
            assert lm.waiting == 3
        await asyncio.gather(*tasks, return_exceptions=True)
    assert order == ["a", "c", "d"]


async def test_a_slot_handed_to_a_caller_that_is_cancelled_at_that_moment_is_not_lost():
    async with runtime(slots=1) as (lm, _):
        async with lm.open(GREEDY):
            task = asyncio.create_task(spoken(lm, Prompt(ids(5))))
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(await spoken(lm, Prompt(ids(5)), until=GenerationLimits(max_tokens=2))) == 2


@pytest.mark.long
async def test_a_reader_that_falls_behind_stops_its_own_sequence_only():
    async with runtime(max_unread=5, capacity=400) as (lm, reports):
        async with lm.generate(Prompt(ids(5)), GREEDY, GenerationLimits(max_tokens=200)) as slow:
            brisk = await spoken(lm, Prompt(ids(6)), until=GenerationLimits(max_tokens=100))
            assert len(brisk) == 100
            assert slow.unread == 5
            steps = len(reports)
            await asyncio.sleep(0.02)
            assert len(reports) == steps
            caught_up = [*await slow.read(), *await slow.read(3), *await slow.read(50)]
        assert len(caught_up) >= 58
        assert caught_up == await spoken(lm, Prompt(ids(5)), until=GenerationLimits(max_tokens=len(caught_up)))


async def test_what_cannot_fit_is_refused_before_it_takes_a_slot():
    async with runtime(capacity=50) as (lm, reports):
        with pytest.raises(InvalidRequestError, match="holds 50 in all") as refusal:
            await spoken(lm, Prompt(ids(20)), until=limits(most=31))
        assert refusal.value.field == "max_tokens"
        with pytest.raises(InvalidRequestError, match="At least one token"):
            await spoken(lm, Prompt(ids(20)), until=limits(most=0))
        with pytest.raises(ValueError, match="at least one position"):
            await spoken(lm, Prompt())
        assert not reports
        assert len(await spoken(lm, Prompt(ids(20)), until=GenerationLimits(max_tokens=30))) == 30
        assert [(report.running, report.prompt_tokens, report.generated_tokens) for report in reports[-2:]] == [
            (1, 0, 1),
            (0, 0, 0),
        ]


async def test_a_sequence_fills_its_slot_to_the_last_position_beside_full_neighbours():
    async with runtime(capacity=50, slots=3) as (lm, _):
        alone = await spoken(lm, Prompt(ids(20)), until=GenerationLimits(max_tokens=30))
        together = await asyncio.gather(
            *(spoken(lm, Prompt(ids(20)), until=GenerationLimits(max_tokens=30)) for _ in range(3))
        )
    assert together == [alone] * 3


class Breaking:
    """The tiny model, which fails while `broken` is set."""

    def __init__(self):
        self.broken = threading.Event()
        self.backbone, self.vocabulary = tiny_lm().backbone, tiny_lm().vocabulary
        self.embed_ids, self.embed_tokens = tiny_lm().embed_ids, tiny_lm().embed_tokens

    def logits(self, hidden):
        if self.broken.is_set():
            raise RuntimeError("out of memory")
        return tiny_lm().logits(hidden)


@pytest.mark.long
async def test_a_failing_step_fails_its_sequences_and_the_next_one_works():
    model = Breaking()
    async with runtime(model) as (lm, _):
        async with lm.generate(Prompt(ids(5)), GREEDY, GenerationLimits(max_tokens=200)) as stream:
            await stream.read(2)
            model.broken.set()
            with pytest.raises(EngineError, match="server's log"):
                [token async for token in stream]
        model.broken.clear()
        assert lm.running == 0
        assert len(await spoken(lm, Prompt(ids(5)), until=GenerationLimits(max_tokens=40))) == 40


ODD = TEXT_IDS - 1
EVEN = (5, 19, 4, 8, 23)


class Odd:
    """A network whose embedding of one id fails, or is not a number."""

    def __init__(self, *, fails):
        self._fails = fails
        self.backbone, self.vocabulary = tiny_lm().backbone, tiny_lm().vocabulary
        self.embed_tokens, self.logits = tiny_lm().embed_tokens, tiny_lm().logits

    def embed_ids(self, ids):
        odd = ids == ODD
        if self._fails and odd.any():
            raise RuntimeError("out of memory")
        return tiny_lm().embed_ids(ids).masked_fill(odd[..., None], float("nan"))


@pytest.mark.long
@ONE_TOKEN_AND_SEVERAL_A_STEP
async def test_a_prompt_that_fails_ends_alone_and_the_others_go_on(replay):
    until = GenerationLimits(max_tokens=30)
    async with runtime() as (lm, _):
        alone = await spoken(lm, Prompt(EVEN), until=until)
    async with runtime(Odd(fails=True), replay=replay, slots=2) as (lm, _):
        async with lm.generate(Prompt(EVEN), GREEDY, until) as stream:
            tokens = await stream.read(2)
            with pytest.raises(EngineError, match="server's log"):
                await spoken(lm, Prompt((ODD,)))
            assert tokens + [token async for token in stream] == alone
        assert await spoken(lm, Prompt(EVEN), until=until) == alone


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
async def test_a_slot_is_emptied_behind_a_sequence_whose_values_are_not_finite():
    until = GenerationLimits(max_tokens=12)
    async with runtime() as (lm, _):
        alone = await spoken(lm, Prompt(EVEN), until=until)
    async with runtime(Odd(fails=False), replay=Fixed(), slots=1) as (lm, _):
        with pytest.raises(EngineError, match="not finite"):
            await spoken(lm, Prompt((*3 * EVEN, ODD)))
        assert await spoken(lm, Prompt(EVEN), until=until) == alone


@pytest.mark.long
async def test_a_slot_changes_hands_and_a_sequence_goes_on_while_steps_are_launched_ahead():
    until = GenerationLimits(max_tokens=20)
    prompts = [Prompt(ids(5, seed)) for seed in range(4)]

    async def twice(lm):
        async with lm.open(GREEDY) as sequence:
            return [[token async for token in sequence.extend(prompt, until)] for prompt in prompts[:2]]

    async def left(lm):
        async with lm.generate(prompts[2], GREEDY, until) as stream:
            await stream.read(3)
        return await spoken(lm, prompts[3], until=until)

    async with runtime() as (lm, _):
        alone = [await twice(lm), await left(lm), await spoken(lm, prompts[0], until=until)]
    async with runtime(replay=Fixed(), slots=3) as (lm, _):
        together = await asyncio.gather(twice(lm), left(lm), spoken(lm, prompts[0], until=until))
    assert together == alone


async def test_closing_fails_running_and_waiting_sequences():
    async with runtime(slots=1, capacity=2_000) as (lm, _):
        speaking, waiting = [
            asyncio.create_task(spoken(lm, Prompt(ids(5)), until=GenerationLimits(max_tokens=1_900))) for _ in range(2)
        ]
        await asyncio.sleep(0.02)
        await lm.close()
        for task in (speaking, waiting):
            with pytest.raises(UnavailableError, match="shutting down"):
                await task
        with pytest.raises(UnavailableError):
            await spoken(lm, Prompt(ids(5)))


def test_the_memory_budget_decides_how_many_slots_there_are():
    config = tiny_config().backbone
    each = slot_bytes(config, 100, torch.float32)
    assert each == 2 * 2 * 2 * 8 * 100 * 4
    assert slots_within(10 * each, config, 100, torch.float32) == 9
    assert slots_within(10 * each, config, 100, torch.bfloat16) == 19
    with pytest.raises(InvalidRequestError, match="allow more"):
        slots_within(2 * each - 1, config, 100, torch.float32)


@pytest.mark.long
async def test_memory_is_the_same_after_a_thousand_tokens_of_many_sequences():
    async with runtime(prefix_bytes=20_000) as (lm, _):
        held = lm._runner._cache.nbytes
        for turn in range(6):
            prompts = [Prompt(ids(30, seed=100 * turn + place), shared=20) for place in range(20)]
            await asyncio.gather(*(spoken(lm, prompt, until=limits(most=10)) for prompt in prompts))
        assert lm._runner._cache.nbytes == held
        assert 0 < lm._prefixes.nbytes <= 20_000
        assert not any((lm._open, lm._starts, lm._limits, lm._prefilling, lm._decoding))


@pytest.mark.long
async def test_prompts_that_start_together_are_not_padded_to_twice_their_number():
    replay = Fixed()
    async with runtime(replay=replay, slots=16, prefill_rows=90) as (lm, _):
        told = await asyncio.gather(*(spoken(lm, Prompt(ids(9, seed))) for seed in range(16)))
    assert {key[1] for key in replay.shapes if key[0] == "prefill"} == {8}, "two batches of eight, not ten and six"
    async with runtime() as (lm, _):
        assert told == [await spoken(lm, Prompt(ids(9, seed))) for seed in range(16)]
