"""Signed manifests: altered ones are refused, streams are verified while they play, keys stay private."""

import json
import os
import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.audio_signals import voice
from polyvox.audio.encode import AudioFormat, encode
from polyvox.audio.pcm import to_pcm16
from polyvox.errors import ConflictError, UnavailableError
from polyvox.provenance.block_hashes import BlockHasher, match_blocks
from polyvox.provenance.manifest import AudioLayout, ManifestDraft, SignedManifest
from polyvox.provenance.manifest_store import ManifestStore
from polyvox.provenance.marks import Marks
from polyvox.provenance.notary import Notary, known_keys
from polyvox.provenance.signing_key import KEY_NAME, PUBLIC_NAME, PublicKey, SigningKey
from polyvox.provenance.verification import Exhibit, Verdict, Verifier

MARKS = Marks.of_second("ab" * 16, "wren", 1_795_003_200.0)
RATE = 24_000
PCM = voice(RATE, 3.3)
WAV = encode(PCM, AudioFormat.WAV, RATE, MARKS.tags)


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    return SigningKey.create(tmp_path_factory.mktemp("keys") / "provenance")


def draft_of(pcm, data):
    draft = ManifestDraft(MARKS, "af_heart", AudioLayout("wav", RATE, 1))
    for part in np.array_split(pcm, 7):
        draft.add(part, b"")
    draft.add_data(data)
    return draft


@pytest.fixture(scope="module")
def signed(key):
    return SignedManifest.sign(draft_of(PCM, WAV).manifest(complete=True), key)


def verdict(key, signed, data, samples=None):
    verifier = Verifier(lambda _: signed, (key.public,))
    return verifier.verify(Exhibit(data, MARKS.tags, samples, "not decoded")).findings[1]


def test_a_key_is_for_its_owner_alone_and_is_never_replaced(tmp_path):
    folder = tmp_path / "provenance"
    made = SigningKey.create(folder)
    assert stat.S_IMODE((folder / KEY_NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert SigningKey.read(folder).public.id == PublicKey.read(folder / PUBLIC_NAME).id == made.public.id
    with pytest.raises(ConflictError, match="exists"):
        SigningKey.create(folder)


def test_a_server_that_signs_needs_a_key_and_says_how_to_make_one(tmp_path):
    with pytest.raises(UnavailableError, match="polyvox provenance init"):
        SigningKey.read(tmp_path)
    (tmp_path / KEY_NAME).write_text("no key")
    with pytest.raises(UnavailableError, match="PEM"):
        SigningKey.read(tmp_path)


def test_earlier_public_keys_beside_the_key_are_known(tmp_path):
    new, old = SigningKey.create(tmp_path / "new"), SigningKey.create(tmp_path / "old")
    (tmp_path / "new" / "public-key-2025.pem").write_bytes(old.public.pem)
    assert {key.id for key in known_keys(tmp_path / "new")} == {new.public.id, old.public.id}


def test_a_manifest_holds_no_text_and_its_signature_survives_json(key, signed):
    document = signed.model_dump_json().encode()
    assert set(json.loads(document)["manifest"]) == {
        *("version", "id", "source", "software", "model", "voice", "made", "format"),
        *("sample_rate", "channels", "complete", "data", "pcm"),
    }
    assert SignedManifest.parse(document).is_signed_by(key.public)


def test_a_manifest_altered_by_one_bit_anywhere_is_refused(key, signed):
    document = signed.model_dump_json().encode()
    for position in range(len(document)):
        altered = bytearray(document)
        altered[position] ^= 1 << (position % 8)
        found = SignedManifest.parse(bytes(altered))
        assert found is None or found == signed or not found.is_signed_by(key.public), position


@given(st.binary(max_size=300))
def test_no_document_of_a_stranger_is_a_fault(document):
    assert SignedManifest.parse(document) is None


@given(st.lists(st.binary(max_size=50), max_size=30), st.integers(1, 40))
def test_hashes_of_blocks_do_not_depend_on_how_a_stream_is_cut(parts, block):
    pieces, whole = BlockHasher(block), BlockHasher(block)
    for part in parts:
        pieces.add(part)
    whole.add(b"".join(parts))
    assert (pieces.all, pieces.size) == (whole.all, sum(map(len, parts)))
    assert match_blocks(b"".join(parts), block, whole.all).is_whole


def test_a_stream_is_verified_block_by_block_while_it_plays(key):
    notary = Notary(key=key, keys=(key.public,))
    draft = notary.draft(MARKS, "af_heart", AudioLayout("pcm", RATE, 1))
    heard, seen = b"", []
    for part in np.array_split(PCM, 33):
        data = to_pcm16(part)
        draft.add(part, data)
        heard += data
        now = notary.manifest(MARKS.content_id)
        assert now.is_signed_by(key.public)
        assert not now.manifest.complete
        match = now.manifest.data.match(heard)
        assert match.matched == match.signed == len(heard) // now.manifest.data.block_bytes
        seen.append(match.matched)
    assert seen == sorted(seen)
    assert seen[-1] == 9
    forged = bytearray(heard)
    forged[5 * 16_384] ^= 1
    assert now.manifest.data.match(bytes(forged)).matched == 5


def test_the_file_that_was_signed_is_found_and_every_other_is_told_apart(key, signed):
    whole = verdict(key, signed, WAV)
    assert (whole.verdict, whole.confidence) == (Verdict.FOUND, 1.0)
    assert whole.details["voice"] == "af_heart"
    rewritten = encode(PCM, AudioFormat.WAV, RATE)
    assert verdict(key, signed, rewritten, (PCM, RATE)).verdict is Verdict.FOUND
    cut = verdict(key, signed, WAV[:100_000], (PCM[:49_000], RATE))
    assert cut.verdict is Verdict.PARTIAL
    assert 0 < cut.confidence < 1
    assert verdict(key, signed, encode(PCM, AudioFormat.MP3, RATE), (-PCM, RATE)).verdict is Verdict.INVALID
    assert verdict(key, None, WAV).verdict is Verdict.NOT_FOUND


def test_a_manifest_of_an_unknown_key_counts_for_nothing(signed, tmp_path):
    other = SigningKey.create(tmp_path)
    found = verdict(other, signed, WAV)
    assert found.verdict is Verdict.INVALID
    assert "not known here" in found.says


def test_a_store_keeps_manifests_privately_and_the_oldest_make_room(key, tmp_path):
    store = ManifestStore(tmp_path / "manifests", 6_000)
    ids = [f"{number:032x}" for number in range(10)]
    for number, content_id in enumerate(ids):
        manifest = draft_of(PCM, WAV).manifest(complete=True).model_copy(update={"id": content_id})
        store.put(SignedManifest.sign(manifest, key))
        assert store.get(content_id).manifest.id == content_id
        path = tmp_path / "manifests" / content_id[:2] / f"{content_id}.json"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        os.utime(path, (number, number))
    kept = [content_id for content_id in ids if store.get(content_id) is not None]
    assert kept == ids[-len(kept) :]
    assert 0 < len(kept) < len(ids)


@given(st.text(max_size=60))
def test_no_id_reaches_a_path_that_is_none(name):
    assert ManifestStore(None, 1).get(name) is None


def test_a_full_disk_costs_the_manifest_and_not_the_answer(key, signed, tmp_path):
    (tmp_path / "file").write_text("")
    ManifestStore(tmp_path / "file", 1 << 20).put(signed)
