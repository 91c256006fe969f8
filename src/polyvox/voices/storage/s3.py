"""Recordings as objects in a bucket of Amazon S3, or of anything that speaks its API."""

import io
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import structlog
import urllib3
from minio import Minio
from minio.credentials.providers import ChainedProvider, EnvAWSProvider, IamAwsProvider, Provider, StaticProvider
from minio.error import MinioException, S3Error

from polyvox.errors import InvalidRequestError, UnavailableError
from polyvox.voices.storage.breaker import Breaker, UnreachableError

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

DEFAULT_REGION = "us-east-1"
_ADDRESS = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(?P<prefix>[A-Za-z0-9_./-]{0,200}))?")
_KEY = re.compile(r"[0-9a-f]{32}")
_CHECK_SECONDS = 30.0
"""Time for which a bucket that was reached counts as there: each look at it is a request that is paid for."""
_REFUSED = ("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken")
_NO_BUCKET = "The bucket of the setting voice_objects does not exist; its operator must make it."
_ROLE_SECONDS = 2.0
"""Time limit of the service that tells a machine or a pod the key of its role."""
_PART_BYTES = 5 * 1_048_576
"""The smallest part of an upload in parts."""
_AWS = "https://s3.amazonaws.com"


@dataclass(frozen=True, slots=True)
class S3Address:
    """Address of a bucket, with its keys. What is empty is taken from AWS's own environment variables."""

    url: str
    endpoint: str = ""
    region: str = ""
    access_key: str = ""
    secret_key: str = ""


class S3Objects:
    """The objects under one prefix of one bucket; the contract is `ObjectStore`."""

    def __init__(self, address: S3Address, timeout: float) -> None:
        found = _ADDRESS.fullmatch(address.url)
        if found is None or ".." in address.url:
            raise InvalidRequestError(
                "The setting voice_objects must be s3://bucket or s3://bucket/prefix.", field="voice_objects"
            )
        self._bucket = found["bucket"]
        prefix = (found["prefix"] or "").strip("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self._breaker = Breaker()
        self._pool = urllib3.PoolManager(
            maxsize=8,
            timeout=urllib3.Timeout(connect=timeout, read=timeout),
            retries=urllib3.Retry(total=1, backoff_factor=0.1, status_forcelist=(500, 502, 503, 504)),
        )
        self._client = _client(address, self._pool)
        self._lock = threading.Lock()
        self._reached = -_CHECK_SECONDS

    def check(self) -> None:
        with self._lock:
            if time.monotonic() - self._reached < _CHECK_SECONDS:
                return
        with self._requests():
            if not self._client.bucket_exists(self._bucket):
                raise UnavailableError(_NO_BUCKET)
        self._note(reached=True)

    def put(self, key: str, data: bytes) -> None:
        name = self._name(key)
        whole = max(_PART_BYTES, len(data))  # in one request, of which a crash leaves nothing half
        with self._requests():
            self._client.put_object(
                self._bucket, name, io.BytesIO(data), len(data), content_type="audio/wav", part_size=whole
            )

    def get(self, key: str, max_bytes: int) -> bytes | None:
        name = self._name(key)
        with self._requests():
            try:
                response = self._client.get_object(self._bucket, name)
            except S3Error as error:
                if error.code == "NoSuchKey":
                    return None
                raise
            try:
                data = response.read(max_bytes + 1)
            finally:
                response.close()
                response.release_conn()
        return data if len(data) <= max_bytes else None

    def delete(self, key: str) -> None:
        name = self._name(key)
        with self._requests():
            self._client.remove_object(self._bucket, name)

    def close(self) -> None:
        self._pool.clear()

    def _name(self, key: str) -> str:
        if not _KEY.fullmatch(key):
            raise ValueError("an object's key is 32 hexadecimal digits")
        return f"{self._prefix}{key}.wav"

    def _note(self, *, reached: bool) -> None:
        with self._lock:
            self._reached = time.monotonic() if reached else -_CHECK_SECONDS

    @contextmanager
    def _requests(self) -> Iterator[None]:
        """Turn the client's errors into ours; the log has the cause."""
        with self._breaker.call():
            try:
                yield
            except (MinioException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
                self._note(reached=False)
                log.error("voice objects failed", reason=str(error)[:500], kind=type(error).__name__)
                raise _unavailable(error) from error


def _unavailable(error: Exception) -> UnavailableError:
    code = error.code if isinstance(error, S3Error) else ""
    # The client says by a ValueError that it has found no key at all.
    if code in _REFUSED or isinstance(error, ValueError):
        return UnavailableError(
            "The store of recordings refuses this server's key; its operator must check the voice_objects settings."
        )
    if code == "NoSuchBucket":
        return UnavailableError(_NO_BUCKET)
    return UnreachableError("The store of recordings cannot be reached; try again in a moment.")


def _client(address: S3Address, pool: urllib3.PoolManager) -> Minio:
    environment = os.environ
    endpoint = address.endpoint or environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL") or _AWS
    region = address.region or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or DEFAULT_REGION
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/") or parts.username:
        raise InvalidRequestError(
            "The setting voice_objects_endpoint must be http://host:port or https://host.",
            field="voice_objects_endpoint",
        )
    return Minio(
        parts.netloc,
        credentials=_credentials(address),
        secure=parts.scheme == "https",
        region=region,
        http_client=pool,
    )


def _credentials(address: S3Address) -> Provider:
    """The settings' key; else that of the environment; else that of the machine's or the pod's role."""
    if bool(address.access_key) != bool(address.secret_key):
        raise InvalidRequestError(
            "Give voice_objects_access_key and voice_objects_secret_key together, or neither.",
            field="voice_objects_secret_key",
        )
    if address.access_key:
        return StaticProvider(address.access_key, address.secret_key)
    impatient = urllib3.PoolManager(timeout=_ROLE_SECONDS, retries=False)  # most machines have no such service
    return ChainedProvider([EnvAWSProvider(), IamAwsProvider(http_client=impatient)])
