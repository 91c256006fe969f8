"""Seals: the signed manifest of one answer, made while the answer is encoded."""

from collections.abc import Callable

from polyvox.provenance.manifest import ManifestDraft
from polyvox.provenance.notary import Notary
from polyvox.types import Pcm


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
