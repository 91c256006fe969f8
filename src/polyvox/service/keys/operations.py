"""Operations: everything a caller can ask of the server, through whichever door, and the scope that each needs."""

from enum import Enum

from polyvox.service.keys.record import Scope


class Operation(Enum):
    """One thing that callers ask for. The scope is None for what any key may do; only `PROBE` needs no key at all."""

    PROBE = None, "See that the server lives, read its documents, load the Studio's page"
    LIST = None, "List models, voices, speakers, and what a model can do"
    READ_VOICES = None, "Read registered voices: one's own with their recordings, and shared ones"
    READ_FITS = None, "Read one's own fits"
    READ_DICTIONARIES = None, "Read one's own dictionaries, and shared ones"
    READ_JOBS = None, "Read one's own jobs, their progress and their files"
    READ_DOWNLOADS = None, "Fetch a file whose link one's own request was given"
    READ_PROVENANCE = None, "Read how speech is marked, the public key, and the signed manifest of an answer"
    READ_USAGE = None, "Read what one's own key has used"
    USE_TOOLS = None, "Hold a session of MCP; each tool has an operation of its own"
    HOLD_SESSION = None, "Hold a Realtime session; speaking and listening in it have operations of their own"
    SPEAK = Scope.SPEAK, "Have a text, a stream of text, a dialogue or a batch spoken"
    CONVERT = Scope.SPEAK, "Have a recording spoken by another voice"
    READ_TEXT = Scope.SPEAK, "See a text's phonemes, its normalised form, or its SSML as inline tags"
    MIX_VOICES = Scope.SPEAK, "Take a mix of built-in voices away as a file"
    SUBMIT_JOBS = Scope.SPEAK, "Have a book or a long text spoken in the background"
    CHANGE_JOBS = Scope.SPEAK, "Pause, resume, correct, cancel and delete one's own jobs"
    CHECK_PROVENANCE = Scope.SPEAK, "Have a file checked for where it comes from"
    LISTEN = Scope.LISTEN, "Have a recording transcribed, or its words translated"
    ISSUE_KEYS = Scope.SPEAK, "Have an ephemeral key made that stands for one's own"
    CHANGE_VOICES = Scope.VOICES, "Register, change and delete one's own voices, and clear what is cached of them"
    FIT_VOICES = Scope.VOICES, "Fit a voice to a recording, and cancel a fit"
    CHANGE_DICTIONARIES = Scope.VOICES, "Write, try and delete one's own dictionaries"
    CHANGE_MODELS = Scope.ADMIN, "Fetch, unload and reload models"
    READ_METRICS = Scope.ADMIN, "Read the metrics"
    READ_DEBUG = Scope.ADMIN, "Read the debug pages"
    READ_ALL_USAGE = Scope.ADMIN, "Read what every key has used"

    def __init__(self, scope: Scope | None, meaning: str) -> None:
        self.scope = scope
        self.meaning = meaning
