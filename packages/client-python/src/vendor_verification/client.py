"""The client."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast
from urllib.parse import quote

from . import models as m
from .transport import Limits, Operation, Query, Response, Transport

if TYPE_CHECKING:
    import urllib3

_T = TypeVar("_T")
_LONGEST_WAIT = 20
_WAIT_MARGIN = 10.0
"""Time beyond its wait that an attempt to read events gets, in seconds."""


class Candidates(TypedDict):
    """Several entities match. Best first."""

    candidates: list[m.Candidate]


class Client:
    """Client of the service. It may be used by several threads.

    Every method can raise ApiError, ApiConnectionError or ApiTimeoutError. Reads and canceling are retried, and so is
    every POST, because it carries an Idempotency-Key; update_monitor and set_external_id only after 429. Answers are
    dicts as the service sent them, also with fields and values that are newer than this client.

    Give `idempotency_key` (1–255 printable ASCII characters) yourself if the effect must also be unique when your process
    is restarted.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        attempt_timeout: float = 30.0,
        timeout: float = 120.0,
        max_attempts: int = 4,
        user_agent: str | None = None,
        on_response: Callable[[Response], None] | None = None,
        pool: urllib3.PoolManager | None = None,
    ) -> None:
        """`attempt_timeout` limits one attempt, `timeout` a call with all attempts and waits, both in seconds.

        `user_agent` is added to the User-Agent, `on_response` is called for each answer, also for those that are
        retried, and `pool` replaces the connections, for example by a `urllib3.ProxyManager`. Raises ValueError.
        """
        self._limits = Limits(attempt_timeout, timeout, max_attempts)
        self._transport = Transport(base_url, api_key, user_agent=user_agent, on_response=on_response, pool=pool)

    def with_limits(
        self, *, attempt_timeout: float | None = None, timeout: float | None = None, max_attempts: int | None = None
    ) -> Client:
        """Returns a client with other limits that shares the connections: `client.with_limits(timeout=5).verify(…)`."""
        own = self._limits
        other = copy.copy(self)
        other._limits = Limits(
            own.attempt_timeout if attempt_timeout is None else attempt_timeout,
            own.timeout if timeout is None else timeout,
            own.max_attempts if max_attempts is None else max_attempts,
        )
        return other

    def lookup(self, body: m.LookupRequest, *, explain: bool | None = None) -> m.Entity | Candidates:
        """Finds an entity by identifiers, name or address; never creates one.

        Returns the entity, or its `candidates` if a fuzzy look-up cannot decide. Errors: entity_not_found,
        ambiguous_match (with `candidates`).
        """
        operation = Operation("POST", "/v1/entities/lookup", query={"explain": explain}, body=body)
        return cast("m.Entity | Candidates", self._transport.call(operation, self._limits))

    def create_entity(self, body: m.CreateEntityRequest, *, idempotency_key: str | None = None) -> m.Entity:
        """Creates an entity of your organization. Errors: entity_exists (with `entity_id`)."""
        return self._post(m.Entity, "/v1/entities", body, idempotency_key)

    def get_entity(self, entity_id: str) -> m.Entity:
        """Returns an entity. Errors: entity_not_found."""
        return self._get(m.Entity, f"/v1/entities/{_segment(entity_id)}")

    def list_entities(
        self, *, external_id: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> m.EntityPage:
        """Returns a page of the entities that your organization created, newest first."""
        return self._get(m.EntityPage, "/v1/entities", {"external_id": external_id, "limit": limit, "cursor": cursor})

    def all_entities(self, *, external_id: str | None = None, limit: int | None = None) -> Iterator[m.Entity]:
        """Iterates over all of them."""
        return self._all(m.Entity, "/v1/entities", "entities", {"external_id": external_id, "limit": limit})

    def list_snapshots(self, entity_id: str, *, limit: int | None = None, cursor: str | None = None) -> m.SnapshotPage:
        """Returns a page of an entity's snapshots, newest first. Errors: entity_not_found."""
        return self._get(m.SnapshotPage, f"/v1/entities/{_segment(entity_id)}/snapshots", {"limit": limit, "cursor": cursor})

    def all_snapshots(self, entity_id: str, *, limit: int | None = None) -> Iterator[m.Snapshot]:
        """Iterates over all of them."""
        return self._all(m.Snapshot, f"/v1/entities/{_segment(entity_id)}/snapshots", "snapshots", {"limit": limit})

    def set_external_id(self, entity_id: str, external_id: str | None) -> m.Entity:
        """Gives any visible entity your own number, or removes it with None. Errors: entity_not_found."""
        path = f"/v1/entities/{_segment(entity_id)}/external_id"
        return self._call(m.Entity, Operation("PUT", path, "if-refused", body={"external_id": external_id}))

    def verify(self, body: m.VerifyRequest, *, idempotency_key: str | None = None) -> m.Verification:
        """Verifies an entity, or the vendor with these identifiers, which is created if nobody has it.

        Errors: entity_not_found, entity_exists (with `entity_id`), ambiguous_match (with `candidates`).
        """
        return self._post(m.Verification, "/v1/verify", body, idempotency_key)

    def create_verification(
        self, body: m.CreateVerificationRequest, *, idempotency_key: str | None = None
    ) -> m.Verification:
        """Verifies an entity. Errors: entity_not_found."""
        return self._post(m.Verification, "/v1/verifications", body, idempotency_key)

    def get_verification(self, verification_id: str) -> m.Verification:
        """Returns a verification. Errors: verification_not_found."""
        return self._get(m.Verification, f"/v1/verifications/{_segment(verification_id)}")

    def get_receipt(self, verification_id: str) -> str:
        """Returns the receipt of a verification: a signed text that `check_receipt` checks without the service.

        Errors: verification_not_found; not_found where the operator has configured no keys.
        """
        path = f"/v1/verifications/{_segment(verification_id)}/receipt"
        return self._call(str, Operation("GET", path, text="application/jwt"))

    def get_receipt_keys(self) -> m.ReceiptKeys:
        """Returns the public keys that receipts are checked with. Keep them beside receipts."""
        return self._get(m.ReceiptKeys, "/.well-known/jwks.json")

    def list_verifications(
        self, *, entity_id: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> m.VerificationPage:
        """Returns a page of verifications, newest first."""
        return self._get(m.VerificationPage, "/v1/verifications", {"entity_id": entity_id, "limit": limit, "cursor": cursor})

    def all_verifications(
        self, *, entity_id: str | None = None, limit: int | None = None
    ) -> Iterator[m.Verification]:
        """Iterates over all of them."""
        return self._all(m.Verification, "/v1/verifications", "verifications", {"entity_id": entity_id, "limit": limit})

    def get_evidence(self, id_or_uri: str) -> m.Evidence:
        """Returns the evidence of a result by its id or by the `evidence_uri`. Errors: evidence_not_found."""
        return self._get(m.Evidence, f"/v1/evidence/{_segment(id_or_uri.rpartition('/')[2])}")

    def list_providers(self) -> list[m.Provider]:
        """Returns the data providers of the key's environment with their state."""
        return self._get(m.Providers, "/v1/providers")["providers"]

    def create_job(self, body: m.CreateJobRequest, *, idempotency_key: str | None = None) -> m.Job:
        """Verifies up to 10,000 vendors in the background. Errors: invalid_request, too_many_rows."""
        return self._post(m.Job, "/v1/jobs", body, idempotency_key)

    def get_job(self, job_id: str) -> m.Job:
        """Returns a job with the numbers of its rows by outcome. Errors: job_not_found."""
        return self._get(m.Job, f"/v1/jobs/{_segment(job_id)}")

    def list_jobs(self, *, limit: int | None = None, cursor: str | None = None) -> m.JobPage:
        """Returns a page of jobs, newest first."""
        return self._get(m.JobPage, "/v1/jobs", {"limit": limit, "cursor": cursor})

    def all_jobs(self, *, limit: int | None = None) -> Iterator[m.Job]:
        """Iterates over all of them."""
        return self._all(m.Job, "/v1/jobs", "jobs", {"limit": limit})

    def list_job_results(
        self, job_id: str, *, outcome: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> m.JobResultPage:
        """Returns a page of the rows of a job that have an outcome, in the order given. Errors: job_not_found."""
        query = {"outcome": outcome, "limit": limit, "cursor": cursor}
        return self._get(m.JobResultPage, f"/v1/jobs/{_segment(job_id)}/results", query)

    def all_job_results(
        self, job_id: str, *, outcome: str | None = None, limit: int | None = None
    ) -> Iterator[m.JobResult]:
        """Iterates over all of them."""
        query = {"outcome": outcome, "limit": limit}
        return self._all(m.JobResult, f"/v1/jobs/{_segment(job_id)}/results", "results", query)

    def get_job_receipt(self, job_id: str) -> str:
        """Returns the receipt of a job: a signed text that `check_receipt` checks without the service.

        Errors: job_not_found; not_found where the operator has configured no keys.
        """
        return self._call(str, Operation("GET", f"/v1/jobs/{_segment(job_id)}/receipt", text="application/jwt"))

    def cancel_job(self, job_id: str) -> m.Job:
        """Cancels a job: what is done stays. Errors: job_not_found, job_finished."""
        return self._call(m.Job, Operation("DELETE", f"/v1/jobs/{_segment(job_id)}"))

    def create_monitor(self, body: m.CreateMonitorRequest, *, idempotency_key: str | None = None) -> m.Monitor:
        """Creates a monitor. Errors: entity_not_found, limit_exceeded."""
        return self._post(m.Monitor, "/v1/monitors", body, idempotency_key)

    def get_monitor(self, monitor_id: str) -> m.Monitor:
        """Returns a monitor of any status. Errors: monitor_not_found."""
        return self._get(m.Monitor, f"/v1/monitors/{_segment(monitor_id)}")

    def list_monitors(
        self,
        *,
        entity_id: str | None = None,
        external_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.MonitorPage:
        """Returns a page of the active monitors, newest first."""
        query = {"entity_id": entity_id, "external_id": external_id, "limit": limit, "cursor": cursor}
        return self._get(m.MonitorPage, "/v1/monitors", query)

    def all_monitors(
        self, *, entity_id: str | None = None, external_id: str | None = None, limit: int | None = None
    ) -> Iterator[m.Monitor]:
        """Iterates over all of them."""
        query = {"entity_id": entity_id, "external_id": external_id, "limit": limit}
        return self._all(m.Monitor, "/v1/monitors", "monitors", query)

    def update_monitor(self, monitor_id: str, body: m.UpdateMonitorRequest) -> m.Monitor:
        """Changes a monitor and keeps its baseline. Errors: monitor_not_found, monitor_canceled."""
        return self._call(m.Monitor, Operation("PATCH", f"/v1/monitors/{_segment(monitor_id)}", "if-refused", body=body))

    def cancel_monitor(self, monitor_id: str) -> m.Monitor:
        """Cancels a monitor; no effect if it is canceled already. Errors: monitor_not_found."""
        return self._call(m.Monitor, Operation("DELETE", f"/v1/monitors/{_segment(monitor_id)}"))

    def list_monitor_runs(
        self, monitor_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> m.MonitorRunPage:
        """Returns a page of a monitor's runs that have ended, newest first. Errors: monitor_not_found."""
        return self._get(m.MonitorRunPage, f"/v1/monitors/{_segment(monitor_id)}/runs", {"limit": limit, "cursor": cursor})

    def all_monitor_runs(self, monitor_id: str, *, limit: int | None = None) -> Iterator[m.MonitorRun]:
        """Iterates over all of them."""
        return self._all(m.MonitorRun, f"/v1/monitors/{_segment(monitor_id)}/runs", "runs", {"limit": limit})

    def list_monitor_events(
        self, monitor_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> m.EventPage:
        """Returns a page of a monitor's events, newest first. Errors: monitor_not_found."""
        return self._get(m.EventPage, f"/v1/monitors/{_segment(monitor_id)}/events", {"limit": limit, "cursor": cursor})

    def all_monitor_events(self, monitor_id: str, *, limit: int | None = None) -> Iterator[m.MonitorEvent]:
        """Iterates over all of them."""
        return self._all(m.MonitorEvent, f"/v1/monitors/{_segment(monitor_id)}/events", "events", {"limit": limit})

    def list_events(self, *, limit: int | None = None, cursor: str | None = None) -> m.EventPage:
        """Returns a page of the events of all monitors, newest first."""
        return self._get(m.EventPage, "/v1/events", {"limit": limit, "cursor": cursor})

    def all_events(self, *, limit: int | None = None) -> Iterator[m.MonitorEvent]:
        """Iterates over all of them."""
        return self._all(m.MonitorEvent, "/v1/events", "events", {"limit": limit})

    def read_events(self, after: str, *, wait: int = 0, limit: int | None = None) -> m.EventPage:
        """Returns the events after a cursor, oldest first, and the cursor of the next page, which is always present.

        `after` is the `next_cursor` of an earlier answer, `start` for the oldest event kept, or `now` for only new
        events. `wait` is how long the service waits for the first event, 0–20 seconds. With `now` and a wait, events are
        missed if the answer does not arrive: read the first cursor without a wait. Errors: cursor_expired.
        """
        longest = max(self._limits.attempt_timeout, wait + _WAIT_MARGIN)
        query: Query = {"after": after, "wait": wait, "limit": limit}
        return self.with_limits(attempt_timeout=longest)._get(m.EventPage, "/v1/events", query)

    def follow_events(self, after: str, *, limit: int = 100) -> Iterator[m.EventPage]:
        """Reads events forward for ever: one page after the other, oldest first, also empty ones.

        Store a page's `next_cursor` after you have handled its events; a later call with it as `after` skips none and
        repeats none. Ends only when the loop is left or a call fails.
        """
        while True:
            # A call that is repeated would begin with a later `now`, so the first one only reads the cursor.
            page = self.read_events(after, wait=0 if after == "now" else _LONGEST_WAIT, limit=limit)
            yield page
            after = cast(str, page["next_cursor"])

    def _call(self, answer: type[_T], operation: Operation) -> _T:
        # The answer is of this type as far as the service keeps to its document: it is not checked.
        return cast(_T, self._transport.call(operation, self._limits))

    def _get(self, answer: type[_T], path: str, query: Query | None = None) -> _T:
        return self._call(answer, Operation("GET", path, query=query))

    def _post(self, answer: type[_T], path: str, body: object, idempotency_key: str | None) -> _T:
        key = idempotency_key if idempotency_key is not None else str(uuid.uuid4())
        return self._call(answer, Operation("POST", path, body=body, idempotency_key=key))

    def _all(self, item: type[_T], path: str, name: str, query: Query) -> Iterator[_T]:
        cursor = None
        while True:
            page = self._get(dict[str, Any], path, {**query, "cursor": cursor})
            yield from cast("list[_T]", page[name])
            cursor = page.get("next_cursor")
            if cursor is None:
                return


def _segment(identifier: str) -> str:
    """Returns an id as one segment of a path."""
    if identifier in ("", ".", ".."):
        raise ValueError(f'"{identifier}" is not an id')
    return quote(identifier, safe="")
