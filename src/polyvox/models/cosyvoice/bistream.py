"""Bidirectional streaming: how the ids of arriving text are interleaved with speech tokens."""

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple, Self

from polyvox.models.cosyvoice.speech_vocabulary import SpeechVocabulary


class InputKind(Enum):
    """Kind of the ids of an input segment."""

    START = auto()
    TASK = auto()
    TEXT = auto()
    SPEECH = auto()


class InputSegment(NamedTuple):
    """Language model input of one kind; the start and task tokens have no ids of their own."""

    kind: InputKind
    ids: tuple[int, ...] = ()


Feed = tuple[InputSegment, ...]


@dataclass(frozen=True, slots=True)
class Bistream:
    """State of one interleaved sequence.

    While `feed` is not empty, the caller runs the model on it and hands the next token to `accept`: `forced` where that
    is not None, otherwise sampled without the `suppressed` ids. An empty `feed` waits for `push`, or is the end once
    `done`. Five text ids precede fifteen speech tokens; then the fill token asks for more text.
    """

    vocabulary: SpeechVocabulary
    gathered: Feed
    text: tuple[int, ...]
    prompt_speech: tuple[int, ...]
    fill_at: int
    text_per_turn: int
    speech_per_turn: int
    original: bool
    """Reproduces two faults of the original at the end of the text: after a fill token the last speech token is fed
    twice, and prompt speech that was not fed by then is lost."""
    feed: Feed = ()
    produced: int = 0
    """Speech tokens and fill tokens."""
    spoken: int = 0
    """Speech tokens."""
    last: int | None = None
    closed: bool = False
    final: bool = False
    done: bool = False

    @classmethod
    def start(
        cls,
        vocabulary: SpeechVocabulary,
        prompt_text: tuple[int, ...],
        prompt_speech: tuple[int, ...],
        *,
        opening: tuple[int, ...] = (),
        turn: tuple[int, int] = (5, 15),
        original: bool = False,
    ) -> Self:
        """Start a sequence whose prompt is interleaved like the rest; `opening` is text that precedes everything."""
        text_per_turn, speech_per_turn = turn
        return cls(
            vocabulary=vocabulary,
            gathered=(InputSegment(InputKind.START), InputSegment(InputKind.TEXT, opening)),
            text=prompt_text,
            prompt_speech=prompt_speech,
            fill_at=speech_per_turn - len(prompt_speech) % speech_per_turn,
            text_per_turn=text_per_turn,
            speech_per_turn=speech_per_turn,
            original=original,
        )

    @property
    def forced(self) -> int | None:
        """The fill token, where the turn is over and more text is due."""
        return self.vocabulary.fill if not self.final and self.produced == self.fill_at else None

    @property
    def suppressed(self) -> tuple[slice, ...]:
        """Ids that must not be sampled now: the sequence cannot end before its text does."""
        if self.final:
            return ()
        if self.original:
            return (self.vocabulary.suppressed(original=True),)
        return slice(self.vocabulary.speech, self.vocabulary.fill), slice(self.vocabulary.fill + 1, None)

    def push(self, text: tuple[int, ...], *, last: bool = False) -> Self:
        """Add text; after the `last` of it the sequence may end."""
        return replace(self, text=self.text + text, closed=self.closed or last)._advanced()

    def accept(self, token: int) -> Self:
        """Add the token that the model sampled after `feed`."""
        count = self.produced + 1
        if token < self.vocabulary.speech:
            feed = (InputSegment(InputKind.SPEECH, (token,)),)
            return replace(self, feed=feed, produced=count, spoken=self.spoken + 1, last=token)
        if self.final:
            return replace(self, feed=(), produced=count, done=True)
        if token != self.vocabulary.fill:
            raise ValueError(f"Token {token} ends the sequence while text is still to come.")
        return replace(self, feed=(), produced=count, fill_at=count + self.speech_per_turn)._advanced()

    def _advanced(self) -> Self:
        """Move to `feed` what the text so far allows."""
        if self.feed or self.final:
            return self
        state = self._with_prompt_interleaved()
        if not state.prompt_speech:
            spoken = any(segment.kind is InputKind.SPEECH for segment in state.gathered)
            if spoken:
                return replace(state, feed=state.gathered, gathered=())
            if len(state.text) >= state.text_per_turn:
                turn, rest = state.text[: state.text_per_turn], state.text[state.text_per_turn :]
                return replace(
                    state, feed=(*state.gathered, InputSegment(InputKind.TEXT, turn)), gathered=(), text=rest
                )
        return state._finished() if state.closed else state

    def _with_prompt_interleaved(self) -> Self:
        state = self
        while state.prompt_speech and len(state.text) >= state.text_per_turn:
            state = replace(
                state,
                gathered=(
                    *state.gathered,
                    InputSegment(InputKind.TEXT, state.text[: state.text_per_turn]),
                    InputSegment(InputKind.SPEECH, state.prompt_speech[: state.speech_per_turn]),
                ),
                text=state.text[state.text_per_turn :],
                prompt_speech=state.prompt_speech[state.speech_per_turn :],
            )
        return state

    def _finished(self) -> Self:
        feed = (*self.gathered, InputSegment(InputKind.TEXT, self.text), InputSegment(InputKind.TASK))
        if not self.original:
            feed = (*feed, InputSegment(InputKind.SPEECH, self.prompt_speech))
        elif self.last is not None:
            feed = (InputSegment(InputKind.SPEECH, (self.last,)), *feed)
        return replace(self, feed=feed, gathered=(), text=(), prompt_speech=(), final=True)
