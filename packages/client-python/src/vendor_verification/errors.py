"""What a call raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from .models import Candidate, ErrorDetail


class VendorVerificationError(Exception):
    """Base class of every error that a call raises.

    `idempotency_key` is the call's, where it had one. If it is unknown whether the call took effect, repeat the call
    with this key.
    """

    def __init__(self, message: str, idempotency_key: str | None = None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key


class ApiConnectionError(VendorVerificationError):
    """No usable answer arrived: no connection, a connection that broke, or a body that is not JSON."""


class ApiTimeoutError(VendorVerificationError):
    """An attempt, or the call with all its attempts, took too long."""


class ApiError(VendorVerificationError):
    """The service refused the call or could not answer it."""

    status: int
    """HTTP status."""
    code: str
    """Error code; `unknown` if the answer did not come from the service but from something before it."""
    message: str
    request_id: str | None
    """Names the request in the service's logs."""
    doc_url: str | None
    """Where the reference page of the service explains the error."""
    details: list[ErrorDetail]
    """Every problem of an invalid request; empty for other errors."""
    entity_id: str | None
    """With `entity_exists`: the entity that already carries an identifier."""
    candidates: list[Candidate]
    """With `ambiguous_match`: the entities that fit."""
    retry_after: float | None
    """How long the service asks to wait before the next attempt, in seconds."""

    def __init__(
        self,
        status: int,
        headers: Mapping[str, str],
        body: object,
        *,
        retry_after: float | None,
        idempotency_key: str | None,
    ) -> None:
        fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}

        def text(name: str) -> str | None:
            return fields[name] if isinstance(fields.get(name), str) else None

        def items(name: str) -> list[Any]:
            return fields[name] if isinstance(fields.get(name), list) else []

        other_form = f"The server answered {status}, but not in the form of the service. Check the address."
        self.message = text("message") or other_form
        super().__init__(self.message, idempotency_key)
        self.status = status
        self.code = text("error") or "unknown"
        self.request_id = text("request_id") or headers.get("x-request-id")
        self.doc_url = text("doc_url")
        self.details = items("details")
        self.entity_id = text("entity_id")
        self.candidates = items("candidates")
        self.retry_after = retry_after
