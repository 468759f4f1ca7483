"""Makes all calls: authenticates, retries what is safe to retry, and keeps to the limits."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3

from .errors import ApiConnectionError, ApiError, ApiTimeoutError, VendorVerificationError
from .retry import Repeatable, may_repeat, read_retry_after, retry_wait
from .version import VERSION

Query = Mapping[str, "str | int | bool | None"]


@dataclass(frozen=True)
class Limits:
    attempt_timeout: float = 30.0
    """Maximum duration of one attempt, in seconds."""
    timeout: float = 120.0
    """Maximum duration of a call, all attempts and waits included, in seconds."""
    max_attempts: int = 4
    """Maximum number of attempts of a call; 1 turns retries off."""


@dataclass(frozen=True)
class Response:
    """An answer as it arrived, for logs and metrics."""

    method: str
    path: str
    """Path with its query."""
    status: int
    headers: Mapping[str, str]
    """Names in any case."""
    attempt: int
    """1 for the first attempt of a call."""


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    repeatable: Repeatable = "always"
    query: Query | None = None
    body: object | None = None
    text: str | None = None
    """Media type of an answer that is a text; JSON where absent."""
    idempotency_key: str | None = None

    @property
    def target(self) -> str:
        """Path with its query."""
        given = {name: _text(value) for name, value in (self.query or {}).items() if value is not None}
        return self.path + (f"?{urlencode(given)}" if given else "")


class Transport:
    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        user_agent: str | None,
        on_response: Callable[[Response], None] | None,
        pool: urllib3.PoolManager | None,
    ) -> None:
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname or url.username or url.query or url.fragment:
            raise ValueError("base_url must be an http or https URL without user name, query and fragment")
        if not api_key:
            raise ValueError("api_key is missing")
        self._base_url = base_url.rstrip("/")
        self._headers = {
            "accept": "application/json",
            "authorization": f"Bearer {api_key}",
            "user-agent": " ".join(filter(None, [user_agent, f"vendor-verification-python/{VERSION}"])),
        }
        self._on_response = on_response
        self._pool = pool or urllib3.PoolManager(maxsize=10)

    def call(self, operation: Operation, limits: Limits) -> Any:
        """Returns the body of the answer, JSON parsed. Raises VendorVerificationError."""
        ends_at = time.monotonic() + limits.timeout
        attempt = 1
        while True:
            timeout = max(0.001, min(limits.attempt_timeout, ends_at - time.monotonic()))
            try:
                return self._attempt(operation, attempt, timeout)
            except VendorVerificationError as error:
                status = code = retry_after = None
                if isinstance(error, ApiError):
                    status, code, retry_after = error.status, error.code, error.retry_after
                if attempt >= limits.max_attempts or not may_repeat(operation.repeatable, status, code):
                    raise
                wait = retry_wait(attempt, retry_after, random.random)
                if time.monotonic() + wait >= ends_at:
                    raise
            time.sleep(wait)
            attempt += 1

    def _attempt(self, operation: Operation, number: int, timeout: float) -> Any:
        key = operation.idempotency_key
        headers = dict(self._headers)
        if operation.text is not None:
            headers["accept"] = f"{operation.text}, {headers['accept']}"
        if key is not None:
            headers["idempotency-key"] = key
        content = None
        if operation.body is not None:
            headers["content-type"] = "application/json"
            content = json.dumps(operation.body).encode()
        try:
            status, answered, data = self._exchange(operation, headers, content, timeout)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            # urllib3 counts a refused connection as a timeout.
            timeouts = (urllib3.exceptions.TimeoutError, TimeoutError)
            if isinstance(error, timeouts) and not isinstance(error, urllib3.exceptions.NewConnectionError):
                raise ApiTimeoutError(f"No answer from {self._base_url} within {timeout:g} s.", key) from error
            raise ApiConnectionError(f"No answer from {self._base_url}: {error}", key) from error
        if self._on_response:
            self._on_response(Response(operation.method, operation.target, status, answered, number))
        if operation.text is not None and 200 <= status < 300:
            return data.decode(errors="replace")
        try:
            body = json.loads(data)
            is_json = True
        except ValueError:
            body, is_json = None, False
        if not 200 <= status < 300:
            retry_after = read_retry_after(answered.get("retry-after"), datetime.now(timezone.utc))
            raise ApiError(status, answered, body, retry_after=retry_after, idempotency_key=key)
        if not is_json:
            raise ApiConnectionError(f"The answer from {self._base_url} is not JSON.", key)
        return body

    def _exchange(
        self, operation: Operation, headers: Mapping[str, str], content: bytes | None, timeout: float
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Sends a request and reads its answer. Raises TimeoutError when the body is not there in time."""
        ends_at = time.monotonic() + timeout
        response = self._pool.request(
            operation.method,
            self._base_url + operation.target,
            body=content,
            headers=headers,
            timeout=urllib3.Timeout(total=timeout),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        chunks = []
        try:
            for chunk in response.stream(65_536):
                chunks.append(chunk)
                # The pool limits each read. A body that comes in drops would have no limit.
                if time.monotonic() > ends_at:
                    raise TimeoutError
        except BaseException:
            response.close()
            raise
        finally:
            response.release_conn()
        return response.status, response.headers, b"".join(chunks)


def _text(value: str | int | bool | None) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
