"""Notary: marks, signs and watermarks the answers of one server as its settings say."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from polyvox.config import Settings
from polyvox.extras import PROVENANCE
from polyvox.provenance.manifest import AudioLayout, ManifestDraft, SignedManifest
from polyvox.provenance.manifest_store import ManifestStore
from polyvox.provenance.marks import Marks, derived_id
from polyvox.provenance.signing_key import PublicKey, SigningKey
from polyvox.provenance.watermark import Watermarker
from polyvox.provenance.watermarks import open_watermarker
from polyvox.types import Pcm


def provenance_folder(settings: Settings) -> Path:
    """The folder of the key and the manifests."""
    return settings.provenance_folder or settings.data_dir / "provenance"


def stored_manifests(settings: Settings) -> ManifestStore:
    """The manifests that are kept on this machine."""
    return ManifestStore(provenance_folder(settings) / "manifests", settings.provenance_store_bytes)


def known_keys(folder: Path) -> tuple[PublicKey, ...]:
    """The public keys of a folder: that of its signing key, and those of earlier ones that were kept beside it."""
    paths = sorted(folder.glob("public-key*.pem"))
    return tuple(PublicKey.read(path) for path in paths) if PROVENANCE.installed else ()


class Notary:
    """Gives each answer its marks and, with a key, its manifest."""

    def __init__(
        self,
        *,
        marks: bool = True,
        key: SigningKey | None = None,
        keys: tuple[PublicKey, ...] = (),
        store: ManifestStore | None = None,
        watermark: Watermarker | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._marks = marks
        self._key = key
        self.keys = keys
        """The public keys whose signatures are taken for the operator's own."""
        self.watermark = watermark
        """The watermark that goes into samples; None where there is none."""
        self._store = store
        self._clock = clock
        self._drafts: dict[str, ManifestDraft] = {}

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The notary of the settings; `UnavailableError` where they want signatures and there is no key."""
        folder = provenance_folder(settings)
        key = SigningKey.read(folder) if settings.provenance == "signed" else None
        marks = settings.provenance != "off"
        watermark = open_watermarker(settings.watermark, settings.models_dir)
        return cls(marks=marks, key=key, keys=known_keys(folder), store=stored_manifests(settings), watermark=watermark)

    @property
    def marks_answers(self) -> bool:
        """True if answers say that they are synthetic."""
        return self._marks

    @property
    def signs(self) -> bool:
        """True if each answer has a manifest, and an id of its own; else the same request has the same all day."""
        return self._key is not None

    @property
    def public_key(self) -> PublicKey | None:
        return None if self._key is None else self._key.public

    def marks(self, session_id: str, model: str, speech: str | None, created: float | None = None) -> Marks | None:
        """The marks of an answer; None where nothing is marked.

        `speech` identifies what the same request makes again; None of what is new each time. `created` is the time at
        which cached speech was made.
        """
        if not self._marks:
            return None
        made = self._clock() if created is None else created
        if self.signs:
            return Marks.of_second(session_id, model, made)
        return Marks.of_day(session_id if speech is None else derived_id(speech), model, made)

    def draft(self, marks: Marks | None, voice: str, layout: AudioLayout) -> ManifestDraft | None:
        """The manifest of an answer that begins; None where nothing is signed. Whoever asks for one files it."""
        if self._key is None or marks is None:
            return None
        draft = ManifestDraft(marks, voice, layout)
        self._drafts[marks.content_id] = draft
        return draft

    def file(self, draft: ManifestDraft, *, complete: bool) -> None:
        """Sign and keep the manifest of an answer that has ended; blocks."""
        assert self._key is not None
        try:
            if self._store is not None:
                self._store.put(SignedManifest.sign(draft.manifest(complete=complete), self._key))
        finally:
            self._drafts.pop(draft.marks.content_id, None)

    def manifest(self, content_id: str) -> SignedManifest | None:
        """The manifest of an answer, while it is sent and afterwards; blocks."""
        draft = self._drafts.get(content_id)
        if draft is not None and self._key is not None:
            return SignedManifest.sign(draft.manifest(), self._key)
        return None if self._store is None else self._store.get(content_id)


class Seal:
    """Hashes an answer's samples and bytes on the threads that encode it. Without a draft it does nothing."""

    def __init__(self, notary: Notary, draft: ManifestDraft | None) -> None:
        self._notary = notary
        self._draft = draft

    def encode(self, encoder: Callable[[Pcm], bytes | None], pcm: Pcm) -> bytes:
        """Encode samples; the bytes that are ready, none of an encoder that keeps them."""
        data = encoder(pcm) or b""
        if self._draft is not None:
            self._draft.add(pcm, data)
        return data

    def finish(self, finish: Callable[[], bytes]) -> bytes:
        """The bytes that complete the answer, or all of it; with them its manifest is complete."""
        data = finish()
        if self._draft is not None:
            self._draft.add_data(data)
            self._file(complete=True)
        return data

    def close(self, close: Callable[[], None] | None = None) -> None:
        """Free the encoder. An answer that broke off keeps a manifest of what was sent."""
        if close is not None:
            close()
        self._file(complete=False)

    def _file(self, *, complete: bool) -> None:
        draft, self._draft = self._draft, None
        if draft is not None:
            self._notary.file(draft, complete=complete)
