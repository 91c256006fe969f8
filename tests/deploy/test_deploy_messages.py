"""Messages between the doors and the replicas."""

import pickle

from helpers.tables import each_row
from polyvox.deploy.messages import DeferredVoice, ErrorMessage
from polyvox.errors import STATUS, EngineError, OverloadedError, PolyvoxError, TextError


@each_row("kind", STATUS)
def test_every_error_keeps_its_class(kind):
    if issubclass(kind, OverloadedError):
        raised = kind("Later.", retry_after=7.5)
    else:
        raised = kind("This will not do.", field="input")
    arrived = pickle.loads(pickle.dumps(ErrorMessage.of(raised))).error()
    assert type(arrived) is kind
    assert (arrived.message, arrived.field) == (raised.message, raised.field)
    assert getattr(arrived, "retry_after", None) == getattr(raised, "retry_after", None)


def test_a_subclass_that_only_the_engine_has_arrives_as_its_nearest_listed_class():
    class StrangeTextError(TextError):
        pass

    assert type(ErrorMessage.of(StrangeTextError("Strange.")).error()) is TextError


def test_an_unknown_error_class_becomes_an_engine_error():
    error = ErrorMessage("NewKindOfError", "Something new.").error()
    assert type(error) is EngineError
    assert isinstance(error, PolyvoxError)


def test_the_digest_of_a_voice_from_codes_depends_on_codes_and_transcript():
    one = DeferredVoice.of_codes("speechlm", [1, 2, 3], "Hello.")
    assert one.digest == DeferredVoice.of_codes("speechlm", (1, 2, 3), "Hello.").digest
    others = [([1, 2], "3Hello."), ([1, 23], "Hello."), ([1, 2, 3], "Hello")]
    assert all(DeferredVoice.of_codes("speechlm", codes, words).digest != one.digest for codes, words in others)
