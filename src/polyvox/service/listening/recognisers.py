"""The recognisers of a server: which are installed, which one a request gets, and what it cannot do of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import structlog

from polyvox.bundles.validate import Bundle, open_bundle
from polyvox.config import Settings
from polyvox.container_image import pull_hint
from polyvox.errors import BundleError, InvalidRequestError, NotServedError, UnknownModelError
from polyvox.service.listening.language_router import LanguageRouter, NamedRecogniser
from polyvox.service.voices.transcriber import ASR_BUNDLE, MULTILINGUAL_BUNDLE, Lazy, shared_recogniser
from polyvox.suggestions import did_you_mean
from polyvox.voices.recognition.languages import LANGUAGES
from polyvox.voices.recognition.recogniser import DetectingRecogniser, Recogniser, RecognitionTask
from polyvox.voices.recognition.transcribe import ENGLISH, Moonshine
from polyvox.voices.recognition.whisper import Whisper

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

ALIASES = (
    "whisper-1",
    "gpt-4o-transcribe",
    "gpt-4o-mini-transcribe",
    "gpt-4o-mini-transcribe-2025-12-15",
    "gpt-transcribe",
    "gpt-live-transcribe",
    "gpt-realtime-whisper",
    "scribe_v1",
    "scribe_v2",
)
"""Names of other services' models, which stand for whichever is installed and fits."""


@dataclass(frozen=True, slots=True)
class ListeningModel:
    """A recogniser before it is loaded: its bundle's name, its languages, and what of a task it can do.

    `origin` is the name of its weights where they were published: owner and model.
    """

    name: str
    title: str
    origin: str
    languages: frozenset[str]
    load: Callable[[Bundle], Recogniser]
    detects: bool = False
    translates: bool = False
    prompts: bool = False
    samples: bool = False

    def refusals(self, task: RecognitionTask) -> Iterator[tuple[str, str]]:
        """The fields of a task that it cannot do, and why."""
        if task.language is not None and task.language not in self.languages:
            yield "language", f"does not know the language {task.language!r}"
        if task.translate and not self.translates:
            yield "model", "cannot translate"

    def serves_alike(self, task: RecognitionTask) -> bool:
        """Return whether it does all of a task whose language turns out to be one of its own."""
        known = replace(task, language=min(self.languages))
        return not any(self.refusals(known)) and not self.warnings(known)

    def warnings(self, task: RecognitionTask) -> list[str]:
        """Sentences on what it does otherwise than it is asked to."""
        found = []
        if task.language is None and not self.detects:
            found.append(
                f"{self.name} takes every recording for English; send 'language', or install a model that detects it."
            )
        if task.prompt and not self.prompts:
            found.append(f"{self.name} takes no prompt; it was ignored.")
        if task.temperature and not self.samples:
            found.append(f"{self.name} always takes the likeliest words; the temperature was ignored.")
        return found


MODELS: tuple[ListeningModel, ...] = (
    ListeningModel(ASR_BUNDLE, "Moonshine base", "UsefulSensors/moonshine-base", frozenset({ENGLISH}), Moonshine),
    ListeningModel(
        MULTILINGUAL_BUNDLE,
        "Whisper base",
        "openai/whisper-base",
        frozenset(LANGUAGES),
        Whisper,
        detects=True,
        translates=True,
        prompts=True,
        samples=True,
    ),
)
"""The quickest first."""


@dataclass(frozen=True, slots=True)
class ChosenRecogniser:
    """The model that a request gets, and sentences on what it does otherwise than asked.

    Where its language is to be detected, `others` hear the languages that they know.
    """

    model: ListeningModel
    warnings: tuple[str, ...]
    others: tuple[ListeningModel, ...] = ()


@dataclass(slots=True)
class Recognisers:
    """Chooses recognisers, and loads each on its first use. Its methods block and are thread-safe."""

    settings: Settings
    models: tuple[ListeningModel, ...] = MODELS
    _loaded: dict[str, Lazy[Recogniser]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        folder = self.settings.models_dir
        for model in self.models:
            self._loaded[model.name] = Lazy(partial(shared_recogniser, model.name, folder, model.load))

    def installed(self) -> list[ListeningModel]:
        """The models that are there; one that is pulled meanwhile needs no restart."""
        return [model for model in self.models if self._is_installed(model)]

    def choose(self, name: str | None, task: RecognitionTask) -> ChosenRecogniser:
        """The model of this name, or for an alias and None the quickest that can do all of the task."""
        named = {model.name: model for model in self.models}
        if name in named:
            return self._only(named[name], task)
        if name is not None and name not in ALIASES:
            known = [*named, *ALIASES]
            advice = did_you_mean(name, known, f"known are {', '.join(known)}.")
            raise UnknownModelError(f"There is no model {name[:80]!r} that transcribes; {advice}", field="model")
        able = [model for model in self.models if not any(model.refusals(task))]
        ready = [model for model in able if self._is_installed(model)]
        if not ready:
            raise self._missing(able, task)
        chosen = min(ready, key=lambda model: len(model.warnings(task)))
        others = [model for model in ready if model is not chosen and not model.detects] if chosen.detects else []
        return ChosenRecogniser(
            chosen,
            tuple(chosen.warnings(task)),
            tuple(model for model in others if task.language is None and model.serves_alike(task)),
        )

    def recogniser(self, chosen: ChosenRecogniser) -> Recogniser:
        """The recogniser of a request, loaded."""
        recogniser = self.load(chosen.model)
        if not chosen.others:
            return recogniser
        named = [(model, NamedRecogniser(model.name, self.load(model))) for model in chosen.others]
        return LanguageRouter(
            cast(DetectingRecogniser, recogniser), {code: each for model, each in named for code in model.languages}
        )

    def load(self, model: ListeningModel) -> Recogniser:
        """The recogniser, loaded once."""
        try:
            return self._loaded[model.name].get()
        except BundleError as error:
            raise _not_installed(model, error) from error

    def is_loaded(self, model: ListeningModel) -> bool:
        """Return whether it has been used, and is in memory."""
        return self._loaded[model.name].loaded

    def _only(self, model: ListeningModel, task: RecognitionTask) -> ChosenRecogniser:
        for field_name, reason in model.refusals(task):
            raise InvalidRequestError(
                f"The model {model.name} {reason}; name another, or 'whisper-1'.", field=field_name
            )
        if not self._is_installed(model):
            raise _not_installed(model)
        return ChosenRecogniser(model, tuple(model.warnings(task)))

    def _missing(self, able: list[ListeningModel], task: RecognitionTask) -> NotServedError:
        """The refusal where no installed model can do a task; it names one that could."""
        wanted = "translate speech" if task.translate else "transcribe speech"
        if task.language is not None:
            wanted += f" in {LANGUAGES[task.language].name.title()}"
        remedy = f"run: {pull_hint(able[-1].name)}" if able else "no model that it knows can."
        return NotServedError(f"To {wanted} this server needs another model; {remedy}")

    def _is_installed(self, model: ListeningModel) -> bool:
        if self.is_loaded(model):
            return True
        try:
            open_bundle(model.name, self.settings.models_dir)
        except BundleError:
            return False
        return True


def _not_installed(model: ListeningModel, reason: BundleError | None = None) -> NotServedError:
    if reason is not None:
        log.warning("recogniser not loaded", model=model.name, reason=reason.message)
    return NotServedError(f"The model {model.name} is not installed; run: {pull_hint(model.name)}")
