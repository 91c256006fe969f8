"""A language model on a server with OpenAI's completions API, such as vLLM."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import structlog

from polyvox.errors import DeadlineError, EngineError, InvalidRequestError, PolyvoxError, UnavailableError
from polyvox.runtime.speech_token_parser import SpeechTokenParser
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams, TokenStream

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_MAX_LINE_BYTES = 1 << 20
_MAX_QUOTED_CHARS = 200
_REFUSED_KEY = (401, 403)
_KEY_MESSAGE = "The language model server refused the key; set speechlm_api_key to the one it takes."
_RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class RemoteLmConfig:
    """Address, model and timeouts of the server.

    Until the first token there are `retries` attempts after the first one, all of them within `first_token_seconds`;
    from then on the answer must not pause for `stall_seconds`. The connection is not read while the stream's reader is
    `max_unread` tokens behind. With `first_code`, the id of the codec's first token, the server is asked for ids; else
    tokens are parsed from its text.
    """

    url: str
    model: str
    api_key: str = ""
    codes: int = 65_536
    first_code: int | None = None
    first_token_seconds: float = 30.0
    stall_seconds: float = 10.0
    retries: int = 2
    retry_seconds: float = 0.1
    max_unread: int = 512
    connections: int = 256
    probe_seconds: float = 5.0
    """Seconds between two questions to a server that is watched, and for the answer to one."""


class _AttemptError(Exception):
    """An attempt that failed before its first token and may be made again; `reason` completes a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class RemoteLm:
    """Generates tokens on a server. Leaving a sequence closes its connection, at which vLLM aborts the request."""

    def __init__(self, config: RemoteLmConfig, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._config = config
        self._watch: asyncio.Task[None] | None = None
        self.obstacle = ""
        """The reason why the server gives no tokens now, as far as it was watched."""
        headers = {"Authorization": f"Bearer {config.api_key}"} if config.api_key else {}
        self._client = httpx.AsyncClient(
            base_url=config.url,
            headers=headers,
            timeout=None,  # noqa: S113 - every wait below has its own
            limits=httpx.Limits(max_connections=config.connections),
            transport=transport,
            trust_env=False,
        )

    @asynccontextmanager
    async def generate(
        self, prompt: Prompt, sampling: SamplingParams, limits: GenerationLimits
    ) -> AsyncIterator[TokenStream]:
        """The tokens behind a prompt, while the block lasts; leaving it closes the connection."""
        if limits.max_tokens < 1:
            raise InvalidRequestError("At least one token must be allowed.", field="max_tokens")
        stream = TokenStream()
        task = asyncio.create_task(self._pump(self._body(prompt, sampling, limits), limits, stream))
        try:
            yield stream
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def watch(self) -> None:
        """Ask the server whether it answers, now and from now on."""
        await self.probe()
        self._watch = asyncio.create_task(self._probe_forever())

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait([self._watch])
        await self._client.aclose()

    async def _probe_forever(self) -> None:
        while True:
            await asyncio.sleep(self._config.probe_seconds)
            await self.probe()

    async def probe(self) -> None:
        """Ask the server once; any answer is a sign of life but a refusal of the key and a failure of its own."""
        before, reason = self.obstacle, ""
        try:
            async with asyncio.timeout(self._config.probe_seconds):
                async with self._client.stream("GET", "/v1/models") as response:
                    if response.status_code in _REFUSED_KEY:
                        reason = _KEY_MESSAGE
                    elif response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
                        reason = self._message(f"answers {response.status_code}")
        except (httpx.HTTPError, TimeoutError) as error:
            reason = self._message(f"cannot be reached ({type(error).__name__})")
        self.obstacle = reason
        if reason != before:
            log.warning("language model server", state=reason or "it answers again")

    def _body(self, prompt: Prompt, sampling: SamplingParams, limits: GenerationLimits) -> dict[str, Any]:
        """The JSON request; parameters that have their usual value are left out."""
        if not prompt.text and not prompt.ids:
            raise ValueError("A prompt for a server needs text or ids.")
        unusual = {
            "top_k": (sampling.top_k, 0),
            "top_p": (sampling.top_p, 1.0),
            "seed": (sampling.seed, None),
            "min_tokens": (limits.min_tokens, 0),
            "return_token_ids": (self._config.first_code is not None, False),
        }
        return {
            "model": self._config.model,
            "prompt": prompt.text or list(prompt.ids),
            "max_tokens": limits.max_tokens,
            "temperature": sampling.temperature,
            "repetition_penalty": sampling.repetition_penalty,
            "stream": True,
            **{name: value for name, (value, usual) in unusual.items() if value != usual},
        }

    async def _pump(self, body: dict[str, Any], limits: GenerationLimits, stream: TokenStream) -> None:
        """Copy the answer into the stream, and end the stream as the answer ends."""
        try:
            await self._answer(body, limits, stream)
        except PolyvoxError as error:
            stream.finish(error)
        except asyncio.CancelledError:
            stream.finish(UnavailableError("The sequence was left."))
            raise
        except Exception:
            log.exception("language model server: defect while reading its answer")
            stream.finish(EngineError("The language model's answer could not be read; the server's log has the cause."))
        else:
            stream.finish()

    async def _answer(self, body: dict[str, Any], limits: GenerationLimits, stream: TokenStream) -> None:
        count = 0
        async with aclosing(self._batches(body)) as batches:
            async for tokens in batches:
                tokens = tokens[: limits.max_tokens - count]
                count += len(tokens)
                stream.push(tokens)
                if count >= limits.max_tokens:
                    return
                await stream.wait_while_ahead(self._config.max_unread)

    async def _batches(self, body: dict[str, Any]) -> AsyncGenerator[list[int], None]:
        """Token batches as they arrive: retries until the first, then to the end, each wait with its timeout."""
        opened = await self._opened(body)
        async with aclosing(opened.batches):
            yield opened.first
            while True:
                try:
                    async with asyncio.timeout(self._config.stall_seconds):
                        tokens = await anext(opened.batches, None)
                except TimeoutError:
                    raise DeadlineError(self._message(f"sent nothing for {self._config.stall_seconds:g} s")) from None
                except _AttemptError as error:
                    raise EngineError(self._message(f"{error.reason} in the middle of its answer")) from error
                if tokens is None:
                    return
                yield tokens

    async def _opened(self, body: dict[str, Any]) -> "_Opened":
        """An answer whose first tokens have arrived."""
        seconds = self._config.first_token_seconds
        reason = "did not answer"
        try:
            async with asyncio.timeout(seconds):
                for attempt in range(self._config.retries + 1):
                    if attempt:
                        log.warning("language model server: trying again", reason=reason, attempt=attempt)
                        await asyncio.sleep(self._config.retry_seconds * 2 ** (attempt - 1))
                    batches = self._tokens(body)
                    try:
                        return _Opened(await anext(batches, []), batches)
                    except _AttemptError as error:
                        reason = error.reason
                    except BaseException:
                        await batches.aclose()
                        raise
        except TimeoutError:
            raise DeadlineError(self._message(f"{reason} and gave no token within {seconds:g} s")) from None
        raise UnavailableError(self._message(reason), retry=True)

    async def _tokens(self, body: dict[str, Any]) -> AsyncGenerator[list[int], None]:
        """The tokens of one attempt, none of the batches empty."""
        reader = _Answer(self._config.codes, self._config.first_code)
        try:
            async with self._client.stream("POST", "/v1/completions", json=body) as response:
                if response.status_code != httpx.codes.OK:
                    raise await _refusal(response)
                async for line in _lines(response):
                    if tokens := reader.tokens(line):
                        yield tokens
                    if reader.over:
                        return
        except httpx.HTTPError as error:
            raise _AttemptError(f"could not be reached or broke off ({type(error).__name__})") from error
        raise _AttemptError("broke off")

    def _message(self, what: str) -> str:
        return f"The language model server {what}; see to it or try again later."


@dataclass(frozen=True, slots=True)
class _Opened:
    first: list[int]
    batches: AsyncGenerator[list[int], None]


class _Answer:
    """The events of one answer, line by line."""

    def __init__(self, codes: int, first_code: int | None) -> None:
        self._parser = SpeechTokenParser(codes)
        self._codes = codes
        self._first_code = first_code
        self.over = False

    def tokens(self, line: str) -> list[int]:
        """The tokens of one line."""
        kind, _, data = line.partition(":")
        if kind != "data":
            return []
        if data.strip() == "[DONE]":
            self.over = True
            return []
        return self._of_event(_parsed(data))

    def _of_event(self, event: dict[str, Any]) -> list[int]:
        if "error" in event:
            raise EngineError(f"The language model server reports a failure: {_quoted(event['error'])}.")
        choices = event.get("choices")
        if not choices:
            return []
        choice = choices[0]
        tokens = (
            self._of_ids(choice) if self._first_code is not None else self._parser.push(str(choice.get("text", "")))
        )
        self.over = self.over or self._parser.ended or choice.get("finish_reason") is not None
        return tokens

    def _of_ids(self, choice: dict[str, Any]) -> list[int]:
        ids = choice.get("token_ids")
        if not isinstance(ids, list):
            raise EngineError(
                "The language model server sent no token ids; use a server that supports return_token_ids."
            )
        codes = [token - (self._first_code or 0) for token in ids]
        for index, code in enumerate(codes):
            if not 0 <= code < self._codes:
                self.over = True
                return codes[:index]
        return codes


async def _lines(response: httpx.Response) -> AsyncIterator[str]:
    """Whole lines of a byte stream; EngineError where a line has no end."""
    rest = b""
    async for data in response.aiter_bytes():
        *lines, rest = (rest + data).split(b"\n")
        if len(rest) > _MAX_LINE_BYTES:
            raise EngineError("The language model server sends a line without end.")
        for line in lines:
            yield line.decode(errors="replace").rstrip("\r")


async def _refusal(response: httpx.Response) -> Exception:
    """The error of a refused request: `_AttemptError` where a retry may help, else the one for the caller."""
    status = response.status_code
    if status in _RETRIED_STATUSES:
        return _AttemptError(f"answered {status}")
    text = ""
    async for part in response.aiter_text():
        text += part
        if len(text) > _MAX_QUOTED_CHARS:
            break
    if status in _REFUSED_KEY:
        return UnavailableError(_KEY_MESSAGE)
    if status == httpx.codes.BAD_REQUEST:
        return InvalidRequestError(f"The language model server refused the request: {_quoted(text)}.")
    return UnavailableError(f"The language model server answered {status}: {_quoted(text)}.")


def _parsed(data: str) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except ValueError as error:
        raise EngineError("The language model server sent an event that is no JSON.") from error
    if not isinstance(event, dict):
        raise EngineError("The language model server sent an event that is no object.")
    return event


def _quoted(answer: object) -> str:
    """The server's own words, short enough for a sentence."""
    if isinstance(answer, dict):
        answer = answer.get("message", answer)
    return " ".join(str(answer).split())[:_MAX_QUOTED_CHARS].rstrip(".")
