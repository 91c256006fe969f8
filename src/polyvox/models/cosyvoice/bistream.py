"""Text that arrives while it is spoken: how its ids are interleaved with speech tokens."""

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple, Self

from polyvox.models.cosyvoice.speech_vocabulary import SpeechVocabulary


class Kind(Enum):
    """What the ids of a segment are."""

    START = auto()
    TASK = auto()
    TEXT = auto()
    SPEECH = auto()


class Segment(NamedTuple):
    """Input of one kind; the marks have no ids of their own."""

    kind: Kind
    ids: tuple[int, ...] = ()


Feed = tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Bistream:
    """One sequence between its text and its speech.

    While `feed` is not empty, the model is to be fed with it and the token chosen next handed to `accept`: `forced`
    where that is not None, otherwise drawn from scores without the `suppressed` ids. An empty `feed` waits for `push`,
    or is the end once `done`. Five ids of text go before fifteen tokens of speech; then the fill token asks for more.
    """

    vocabulary: SpeechVocabulary
    gathered: Feed
    text: tuple[int, ...]
    prompt_speech: tuple[int, ...]
    fill_at: int
    text_per_turn: int
    speech_per_turn: int
    original: bool
    """Repeats two faults of the original at the end of the text: when it comes after a fill token, the last speech
    token, already fed, is fed again; when it comes before the prompt's speech was fed, the rest of that is lost."""
    feed: Feed = ()
    produced: int = 0
    """Tokens of speech and fill tokens."""
    spoken: int = 0
    """Tokens of speech."""
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
        """A sequence whose prompt is interleaved like the rest; `opening` is text that goes before everything."""
        text_per_turn, speech_per_turn = turn
        return cls(
            vocabulary=vocabulary,
            gathered=(Segment(Kind.START), Segment(Kind.TEXT, opening)),
            text=prompt_text,
            prompt_speech=prompt_speech,
            fill_at=speech_per_turn - len(prompt_speech) % speech_per_turn,
            text_per_turn=text_per_turn,
            speech_per_turn=speech_per_turn,
            original=original,
        )

    @property
    def forced(self) -> int | None:
        """The fill token, when the turn is over and more text is due."""
        return self.vocabulary.fill if not self.final and self.produced == self.fill_at else None

    @property
    def suppressed(self) -> tuple[slice, ...]:
        """Ids that must not be drawn now: the sequence cannot end before its text does."""
        if self.final:
            return ()
        if self.original:
            return (self.vocabulary.suppressed(original=True),)
        return slice(self.vocabulary.speech, self.vocabulary.fill), slice(self.vocabulary.fill + 1, None)

    def push(self, text: tuple[int, ...], *, last: bool = False) -> Self:
        """More text has come; after the `last` of it the sequence may end."""
        return replace(self, text=self.text + text, closed=self.closed or last)._settled()

    def accept(self, token: int) -> Self:
        """The model's answer to `feed`."""
        count = self.produced + 1
        if token < self.vocabulary.speech:
            feed = (Segment(Kind.SPEECH, (token,)),)
            return replace(self, feed=feed, produced=count, spoken=self.spoken + 1, last=token)
        if self.final:
            return replace(self, feed=(), produced=count, done=True)
        if token != self.vocabulary.fill:
            raise ValueError(f"Token {token} ends the sequence while text is still to come.")
        return replace(self, feed=(), produced=count, fill_at=count + self.speech_per_turn)._settled()

    def _settled(self) -> Self:
        """Whatever the text at hand allows to be fed."""
        if self.feed or self.final:
            return self
        state = self._with_prompt()
        if not state.prompt_speech:
            spoken = any(segment.kind is Kind.SPEECH for segment in state.gathered)
            if spoken:
                return replace(state, feed=state.gathered, gathered=())
            if len(state.text) >= state.text_per_turn:
                turn, rest = state.text[: state.text_per_turn], state.text[state.text_per_turn :]
                return replace(state, feed=(*state.gathered, Segment(Kind.TEXT, turn)), gathered=(), text=rest)
        return state._ended() if state.closed else state

    def _with_prompt(self) -> Self:
        state = self
        while state.prompt_speech and len(state.text) >= state.text_per_turn:
            state = replace(
                state,
                gathered=(
                    *state.gathered,
                    Segment(Kind.TEXT, state.text[: state.text_per_turn]),
                    Segment(Kind.SPEECH, state.prompt_speech[: state.speech_per_turn]),
                ),
                text=state.text[state.text_per_turn :],
                prompt_speech=state.prompt_speech[state.speech_per_turn :],
            )
        return state

    def _ended(self) -> Self:
        feed = (*self.gathered, Segment(Kind.TEXT, self.text), Segment(Kind.TASK))
        if not self.original:
            feed = (*feed, Segment(Kind.SPEECH, self.prompt_speech))
        elif self.last is not None:
            feed = (Segment(Kind.SPEECH, (self.last,)), *feed)
        return replace(self, feed=feed, gathered=(), text=(), prompt_speech=(), final=True)
