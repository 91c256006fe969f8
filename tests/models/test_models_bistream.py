from hypothesis import given
from hypothesis import strategies as st

from polyvox.models.cosyvoice.bistream import Bistream, InputKind, InputSegment
from polyvox.models.cosyvoice.speech_vocabulary import vocabulary_v2, vocabulary_v3

V2 = vocabulary_v2(300)


def ids(feed, kind):
    return [each for segment in feed if segment.kind is kind for each in segment.ids]


def start(text=(), speech=(), **options):
    return Bistream.start(V2, tuple(text), tuple(speech), **options)


def spoken_until_text_is_due(plan):
    """Speak token 7 until the plan asks for text or ends its final part, and collect all that was fed."""
    fed = []
    while plan.feed:
        fed += plan.feed
        plan = plan.accept(7 if plan.forced is None else plan.forced)
    return plan, fed


def test_speech_starts_after_five_ids_of_text():
    plan = start().push((1, 2, 3, 4))
    assert plan.feed == ()
    assert ids(plan.push((5,)).feed, InputKind.TEXT) == [1, 2, 3, 4, 5]


def test_fifteen_tokens_are_spoken_for_each_five_ids():
    plan, fed = spoken_until_text_is_due(start().push(tuple(range(12))))
    assert ids(fed, InputKind.TEXT) == list(range(10))
    assert ids(fed, InputKind.SPEECH) == [7] * 30
    assert not plan.done


def test_the_prompts_last_turn_is_completed_before_more_text_is_asked_for():
    plan, fed = spoken_until_text_is_due(start(range(5), range(13)).push(()))
    assert ids(fed, InputKind.SPEECH) == [*range(13), 7, 7]
    assert plan.feed == ()


def test_the_end_of_text_after_a_fill_token_feeds_only_what_is_left():
    paused, _ = spoken_until_text_is_due(start().push(tuple(range(7))))
    assert paused.push((), last=True).feed == (
        InputSegment(InputKind.TEXT, (5, 6)),
        InputSegment(InputKind.TASK),
        InputSegment(InputKind.SPEECH),
    )


def test_the_original_feeds_the_last_token_twice():
    paused, _ = spoken_until_text_is_due(start(original=True).push(tuple(range(7))))
    assert ids(paused.push((), last=True).feed, InputKind.SPEECH) == [7]


def test_a_text_too_short_for_the_prompts_speech_still_carries_all_of_it():
    feed = start((1, 2), range(40)).push((3,), last=True).feed
    assert [segment.kind for segment in feed] == [
        InputKind.START,
        InputKind.TEXT,
        InputKind.TEXT,
        InputKind.TASK,
        InputKind.SPEECH,
    ]
    assert ids(feed, InputKind.SPEECH) == list(range(40))


def test_the_sequence_cannot_end_while_text_is_due_but_may_ask_for_more():
    open_plan = start().push(tuple(range(5)))
    hidden = {each for ids in open_plan.suppressed for each in range(V2.rows)[ids]}
    assert hidden == {V2.eos, V2.eos + 1}
    assert open_plan.push((), last=True).feed == open_plan.feed
    final, _ = spoken_until_text_is_due(open_plan)
    final = final.push((), last=True)
    assert final.suppressed == ()
    assert final.accept(V2.eos).done


@given(st.lists(st.lists(st.integers(0, 99), max_size=9), max_size=8), st.integers(0, 40), st.booleans())
def test_every_id_is_fed_once_and_in_order_however_it_arrives(pieces, prompt, opening):
    plan = Bistream.start(vocabulary_v3(300), (), tuple(range(100, 100 + prompt)), opening=(1, 2) if opening else ())
    fed = []
    for piece in pieces:
        plan, more = spoken_until_text_is_due(plan.push(tuple(piece)))
        fed += more
    plan = plan.push((), last=True)
    fed += plan.feed
    assert plan.final
    assert ids(fed, InputKind.TEXT) == [1, 2] * opening + [each for piece in pieces for each in piece]
    assert [token for token in ids(fed, InputKind.SPEECH) if token >= 100] == list(range(100, 100 + prompt))
