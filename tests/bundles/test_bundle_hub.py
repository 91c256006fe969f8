from pathlib import Path

import pytest

from helpers.loopback_hub import PREFIX, LoopbackHub
from helpers.sample_bundle import FILES, HUB_PATHS, CountingProgress, as_digest, sample_manifest
from polyvox.bundles.cache import DownloadCache
from polyvox.bundles.hub import fetch_from_hub
from polyvox.bundles.manifest import Digest, HubSource
from polyvox.bundles.sources import FetchContext, RequestedFile, SourceUnavailableError
from polyvox.errors import InvalidRequestError

NAME = "voices/one.bin"
CONTENT = FILES[NAME]
DIGEST = as_digest(CONTENT)


@pytest.fixture
def cache(tmp_path: Path) -> DownloadCache:
    return DownloadCache(tmp_path / "cache")


@pytest.fixture
def progress() -> CountingProgress:
    return CountingProgress()


def fetch(cache: DownloadCache, progress: CountingProgress, hub_url: str, digests: tuple[Digest, ...] = (DIGEST,)):
    source = sample_manifest().sources[0]
    assert isinstance(source, HubSource)
    wanted = (RequestedFile(NAME, HUB_PATHS[NAME], digests),)
    fetch_from_hub(source, wanted, FetchContext(cache, Path("unused"), progress, hub_url))
    return cache.find(digests)


def test_a_file_is_fetched_from_its_commit(cache, progress, hub: LoopbackHub):
    path = fetch(cache, progress, hub.url)
    assert path is not None
    assert path.read_bytes() == CONTENT
    assert hub.behaviour.requests == [(PREFIX + HUB_PATHS[NAME], None)]
    assert progress.done == [len(CONTENT)]


def test_a_mirror_may_live_under_a_path(cache, progress, hub: LoopbackHub):
    fetch(cache, progress, f"{hub.url}/mirror/")
    assert hub.behaviour.requests == [(f"/mirror{PREFIX}{HUB_PATHS[NAME]}", None)]


def test_what_an_earlier_attempt_kept_is_not_fetched_again(cache, progress, hub: LoopbackHub):
    cache.part(DIGEST).write_bytes(CONTENT[:100_000])
    assert fetch(cache, progress, hub.url) is not None
    assert hub.behaviour.requests == [(PREFIX + HUB_PATHS[NAME], "bytes=100000-")]
    assert progress.done == [len(CONTENT)]


def test_a_hub_that_ignores_ranges_is_read_from_the_start(cache, progress, hub: LoopbackHub):
    hub.behaviour.knows_ranges = False
    cache.part(DIGEST).write_bytes(CONTENT[:100_000])
    assert fetch(cache, progress, hub.url) is not None
    assert progress.done == [len(CONTENT)]


def test_a_connection_that_breaks_is_taken_up_where_it_broke(cache, progress, hub: LoopbackHub):
    hub.behaviour.cut_after = [120_000, 90_000]
    path = fetch(cache, progress, hub.url)
    assert path is not None
    ranges = [asked for _, asked in hub.behaviour.requests]
    assert ranges == [None, "bytes=120000-", "bytes=210000-"]
    assert progress.done == [len(CONTENT)]


def test_a_connection_that_keeps_breaking_is_given_up_but_its_bytes_are_kept(cache, progress, hub: LoopbackHub):
    hub.behaviour.cut_after = [1000] * 10
    with pytest.raises(SourceUnavailableError, match="broke 5 times"):
        fetch(cache, progress, hub.url)
    assert cache.part(DIGEST).read_bytes() == CONTENT[:5000]


def test_a_hub_that_sends_nothing_is_not_asked_twice(cache, progress, hub: LoopbackHub):
    hub.behaviour.cut_after = [0] * 10
    with pytest.raises(SourceUnavailableError, match="no answer"):
        fetch(cache, progress, hub.url)
    assert len(hub.behaviour.requests) == 1


def test_a_kept_part_of_something_else_is_thrown_away(cache, progress, hub: LoopbackHub):
    cache.part(DIGEST).write_bytes(b"x" * 100_000)
    path = fetch(cache, progress, hub.url)
    assert path is not None
    assert path.read_bytes() == CONTENT
    assert [asked for _, asked in hub.behaviour.requests] == ["bytes=100000-", None]


@pytest.mark.parametrize("kept", [len(CONTENT), len(CONTENT) + 5])
def test_a_kept_part_that_is_already_long_enough_is_not_trusted(cache, progress, hub: LoopbackHub, kept):
    cache.part(DIGEST).write_bytes(b"x" * kept)
    assert fetch(cache, progress, hub.url) is not None
    assert [asked for _, asked in hub.behaviour.requests] == [None]


def test_an_answer_for_another_range_is_not_appended(cache, progress, hub: LoopbackHub):
    hub.behaviour.wrong_range_start = 5
    cache.part(DIGEST).write_bytes(CONTENT[:100_000])
    path = fetch(cache, progress, hub.url)
    assert path is not None
    assert path.read_bytes() == CONTENT


def test_a_range_beyond_the_hubs_file_starts_over(cache, progress, hub: LoopbackHub):
    hub.behaviour.files[HUB_PATHS[NAME]] = b"short"
    cache.part(DIGEST).write_bytes(CONTENT[:100_000])
    assert fetch(cache, progress, hub.url) is None
    assert [asked for _, asked in hub.behaviour.requests] == ["bytes=100000-", None]


@pytest.mark.parametrize("content", [b"short", b"x" * len(CONTENT), CONTENT[:-1], b"<html>sign in</html>"])
def test_another_content_never_enters_the_cache(cache, progress, hub: LoopbackHub, content):
    hub.behaviour.files[HUB_PATHS[NAME]] = content
    assert fetch(cache, progress, hub.url) is None
    assert not cache.part(DIGEST).exists()


def test_a_file_that_is_too_large_is_not_read_to_its_end(cache, progress, hub: LoopbackHub):
    hub.behaviour.files[HUB_PATHS[NAME]] = CONTENT + b"x" * 20_000_000
    assert fetch(cache, progress, hub.url) is None
    assert progress.done[0] <= len(CONTENT)


def test_a_hash_that_the_hub_names_ahead_saves_the_download(cache, progress, hub: LoopbackHub):
    hub.behaviour.linked_etag = f'"{"0" * 64}"'
    assert fetch(cache, progress, hub.url) is None
    assert progress.done == [0]


def test_the_right_hash_named_ahead_is_no_obstacle(cache, progress, hub: LoopbackHub):
    hub.behaviour.linked_etag = f'"{DIGEST.sha256}"'
    assert fetch(cache, progress, hub.url) is not None


def test_any_of_several_accepted_contents_will_do(cache, progress, hub: LoopbackHub):
    other = CONTENT + b"\n"
    hub.behaviour.files[HUB_PATHS[NAME]] = other
    path = fetch(cache, progress, hub.url, digests=(DIGEST, as_digest(other)))
    assert path is not None
    assert path.read_bytes() == other


def test_a_file_the_hub_does_not_have_is_left_to_the_next_source(cache, progress, hub: LoopbackHub):
    hub.behaviour.files.clear()
    assert fetch(cache, progress, hub.url) is None


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_a_hub_that_refuses_is_unavailable(cache, progress, hub: LoopbackHub, status):
    hub.behaviour.status = status
    with pytest.raises(SourceUnavailableError, match=f"answers {status}"):
        fetch(cache, progress, hub.url)
    assert len(hub.behaviour.requests) == 1


def test_a_hub_that_is_not_there_is_unavailable(cache, progress, hub: LoopbackHub):
    hub.close()
    with pytest.raises(SourceUnavailableError, match="no answer"):
        fetch(cache, progress, hub.url)


def test_a_redirect_on_this_machine_is_followed_with_the_range(cache, progress, hub: LoopbackHub):
    hub.behaviour.redirect_to = f"{hub.url}/moved"
    cache.part(DIGEST).write_bytes(CONTENT[:10])
    assert fetch(cache, progress, hub.url) is not None
    assert hub.behaviour.requests[1] == (f"/moved{PREFIX}{HUB_PATHS[NAME]}", "bytes=10-")


def test_a_relative_redirect_is_followed(cache, progress, hub: LoopbackHub):
    hub.behaviour.redirect_to = "/moved"
    assert fetch(cache, progress, hub.url) is not None


@pytest.mark.parametrize("target", ["http://192.0.2.1", "http://example.invalid", "ftp://127.0.0.1", "file:///etc"])
def test_a_redirect_to_an_unsafe_place_is_not_followed(cache, progress, hub: LoopbackHub, target):
    hub.behaviour.redirect_to = target
    with pytest.raises(SourceUnavailableError, match="not safe to follow"):
        fetch(cache, progress, hub.url)


def test_a_redirect_to_nonsense_is_not_followed(cache, progress, hub: LoopbackHub):
    hub.behaviour.redirect_to = "http://[::bad"
    with pytest.raises(SourceUnavailableError, match="Invalid URL"):
        fetch(cache, progress, hub.url)


def test_redirects_do_not_go_on_for_ever(cache, progress, hub: LoopbackHub):
    hub.behaviour.redirect_to = "/again"
    with pytest.raises(SourceUnavailableError, match="redirects"):
        fetch(cache, progress, hub.url)


@pytest.mark.parametrize(
    "address", ["http://example.com", "ftp://127.0.0.1", "example.com", "", "https://", "http://\x00"]
)
def test_only_a_safe_hub_address_is_accepted(cache, progress, address):
    with pytest.raises(InvalidRequestError) as caught:
        fetch(cache, progress, address)
    assert caught.value.field == "hub_url"


def test_the_users_token_is_shown_to_the_hub_and_to_nobody_else(cache, progress, hub: LoopbackHub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    other = LoopbackHub()
    try:
        hub.behaviour.redirect_to = f"{other.url}/moved"
        assert fetch(cache, progress, hub.url) is not None
        assert (hub.behaviour.tokens, other.behaviour.tokens) == (["Bearer hf_secret"], [None])
    finally:
        other.close()


def test_a_model_with_terms_says_what_to_do(cache, progress, hub: LoopbackHub, monkeypatch):
    monkeypatch.delenv("HF_TOKEN", raising=False)
    hub.behaviour.status = 401
    with pytest.raises(SourceUnavailableError, match="set HF_TOKEN"):
        fetch(cache, progress, hub.url)
    assert hub.behaviour.tokens == [None]
