from __future__ import annotations

import base64
import json
import os
import unittest
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any
from unittest.mock import patch

from standardwebhooks import Webhook

from vendor_verification import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    Client,
    Response,
    WebhookVerificationError,
    verify_webhook,
)
from vendor_verification.retry import may_repeat, read_retry_after, retry_wait

from .scripted_server import answer_json, answer_text, dropped, scripted, silent, truncated

MON = "/v1/monitors/mon_1"
OPERATIONS: list[tuple[str, Callable[[Client], object]]] = [
    ("POST /v1/entities/lookup", lambda c: c.lookup({"legal_name": "A"})),
    ("POST /v1/entities/lookup?explain=true", lambda c: c.lookup({"legal_name": "A"}, explain=True)),
    ("POST /v1/entities", lambda c: c.create_entity({"legal_name": "A"})),
    ("GET /v1/entities/ent_1", lambda c: c.get_entity("ent_1")),
    ("GET /v1/entities?external_id=V+1&limit=2", lambda c: c.list_entities(limit=2, external_id="V 1")),
    ("GET /v1/entities/ent_1/snapshots?cursor=c", lambda c: c.list_snapshots("ent_1", cursor="c")),
    ("PUT /v1/entities/ent_1/external_id", lambda c: c.set_external_id("ent_1", None)),
    ("POST /v1/verify", lambda c: c.verify({"entity_id": "ent_1", "checks": ["tin_match"], "mode": "cached"})),
    (
        "POST /v1/verifications",
        lambda c: c.create_verification({"entity_id": "ent_1", "checks": ["tin_match"], "mode": "cached"}),
    ),
    ("GET /v1/verifications/ver_1", lambda c: c.get_verification("ver_1")),
    ("GET /v1/verifications/ver_1/receipt", lambda c: c.get_receipt("ver_1")),
    ("GET /.well-known/jwks.json", lambda c: c.get_receipt_keys()),
    ("GET /v1/verifications?entity_id=ent_1", lambda c: c.list_verifications(entity_id="ent_1")),
    ("GET /v1/evidence/evd_1", lambda c: c.get_evidence("evd_1")),
    ("GET /v1/evidence/evd_2", lambda c: c.get_evidence("https://api.example.com/v1/evidence/evd_2")),
    ("GET /v1/providers", lambda c: c.list_providers()),
    (
        "POST /v1/jobs",
        lambda c: c.create_job({"checks": ["tin_match"], "mode": "cached", "vendors": [{"legal_name": "A"}]}),
    ),
    ("GET /v1/jobs/job_1", lambda c: c.get_job("job_1")),
    ("GET /v1/jobs?limit=1", lambda c: c.list_jobs(limit=1)),
    ("GET /v1/jobs/job_1/results?outcome=fail", lambda c: c.list_job_results("job_1", outcome="fail")),
    ("GET /v1/jobs/job_1/receipt", lambda c: c.get_job_receipt("job_1")),
    ("DELETE /v1/jobs/job_1", lambda c: c.cancel_job("job_1")),
    ("POST /v1/monitors", lambda c: c.create_monitor({"entity_id": "ent_1", "checks": ["tin_match"]})),
    (f"GET {MON}", lambda c: c.get_monitor("mon_1")),
    ("GET /v1/monitors?entity_id=ent_1&limit=1", lambda c: c.list_monitors(limit=1, entity_id="ent_1")),
    (f"PATCH {MON}", lambda c: c.update_monitor("mon_1", {"webhook_url": None})),
    (f"DELETE {MON}", lambda c: c.cancel_monitor("mon_1")),
    (f"GET {MON}/runs", lambda c: c.list_monitor_runs("mon_1")),
    (f"GET {MON}/events", lambda c: c.list_monitor_events("mon_1")),
    ("GET /v1/events", lambda c: c.list_events()),
    ("GET /v1/events?after=start&wait=20&limit=5", lambda c: c.read_events("start", wait=20, limit=5)),
]


def client_of(url: str, **options: Any) -> Client:
    return Client(f"{url}/", "svc_test_key", **options)


def without_pauses() -> Any:
    """Retries follow at once."""
    return patch("vendor_verification.transport.time.sleep")


class Operations(unittest.TestCase):
    def test_each_method_makes_its_call(self) -> None:
        for line, run in OPERATIONS:
            with self.subTest(line), scripted(answer_json(200, {"providers": []})) as server:
                run(client_of(server.url))
                self.assertEqual(server.lines, [line])

    def test_every_operation_of_the_openapi_document_has_a_method_and_every_method_an_operation(self) -> None:
        with open(os.environ["OPENAPI_DOCUMENT"], encoding="utf8") as file:
            paths = json.load(file)["paths"]
        documented = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
        places = {"ent_1": "{id}", "ver_1": "{id}", "mon_1": "{id}", "job_1": "{id}", "evd_1": "{id}", "evd_2": "{id}"}
        called = set()
        for line, _ in OPERATIONS:
            path = line.partition("?")[0]
            called.add("/".join(places.get(step, step) for step in path.split("/")))
        self.assertEqual(called | {"GET /v1/health", "GET /v1/openapi.json"}, documented)

    def test_an_id_stays_in_its_place_of_the_path(self) -> None:
        with scripted(answer_json(404, {})) as server:
            with self.assertRaises(ApiError):
                client_of(server.url).get_entity("a/b?c")
            self.assertEqual(server.lines, ["GET /v1/entities/a%2Fb%3Fc"])
            for identifier in ("", ".", ".."):
                self.assertRaises(ValueError, client_of(server.url).get_entity, identifier)

    def test_unusable_options_are_refused(self) -> None:
        for url in ("api.example.com", "ftp://a", "https://user@a", "https://a?b", "https://a#b"):
            self.assertRaises(ValueError, Client, url, "svc_test_key")
        self.assertRaises(ValueError, Client, "https://api.example.com", "")

    def test_what_is_newer_than_the_client_stays_in_the_answer(self) -> None:
        answer = {"id": "ver_1", "overall_result": "postponed", "results": [], "new": {"a": [None]}}
        with scripted(answer_json(200, answer)) as server:
            self.assertEqual(client_of(server.url).get_verification("ver_1"), answer)


class Lists(unittest.TestCase):
    def test_an_iteration_reads_the_pages_one_after_the_other_and_keeps_the_filter(self) -> None:
        one = answer_json(200, {"verifications": [{"id": "ver_2"}], "next_cursor": "c 1"})
        two = answer_json(200, {"verifications": [{"id": "ver_1"}], "next_cursor": None})
        with scripted(one, dropped, two) as server, without_pauses():
            found = client_of(server.url).all_verifications(entity_id="ent_1", limit=1)
            self.assertEqual([verification["id"] for verification in found], ["ver_2", "ver_1"])
            first = "GET /v1/verifications?entity_id=ent_1&limit=1"
            self.assertEqual(server.lines, [first, f"{first}&cursor=c+1", f"{first}&cursor=c+1"])

    def test_following_events_goes_on_after_the_cursor_of_the_page_before(self) -> None:
        def page(cursor: str, *ids: str) -> Any:
            return answer_json(200, {"events": [{"id": id} for id in ids], "next_cursor": cursor})

        with scripted(dropped, page("c1"), dropped, page("c2", "evt_1")) as server, without_pauses():
            for events in client_of(server.url).follow_events("now", limit=5):
                if events["events"]:
                    break
            now, later = "GET /v1/events?after=now&wait=0&limit=5", "GET /v1/events?after=c1&wait=20&limit=5"
            self.assertEqual(server.lines, [now, now, later, later])


class Retries(unittest.TestCase):
    def test_a_post_keeps_its_idempotency_key_over_its_attempts(self) -> None:
        answers = [answer_json(503, {"error": "service_unavailable"}), dropped, truncated, answer_json(201, {"id": "1"})]
        with scripted(*answers) as server, without_pauses():
            client = client_of(server.url)
            self.assertEqual(client.create_entity({"legal_name": "A"}), {"id": "1"})
            keys = {seen.headers["idempotency-key"] for seen in server.requests}
            self.assertEqual((len(server.requests), len(keys)), (4, 1))
            client.create_entity({"legal_name": "A"}, idempotency_key="order-1")
            self.assertEqual(server.requests[-1].headers["idempotency-key"], "order-1")

    def test_a_change_is_repeated_only_after_429(self) -> None:
        limited = answer_json(429, {"error": "rate_limited"}, retry_after="2")
        with scripted(limited, answer_json(500, {"error": "internal_error"})) as server:
            with without_pauses() as sleep, patch("vendor_verification.transport.random.random", return_value=0.5):
                with self.assertRaises(ApiError) as raised:
                    client_of(server.url).update_monitor("mon_1", {"frequency": "daily"})
            self.assertEqual((len(server.requests), raised.exception.status), (2, 500))
            sleep.assert_called_once_with(2.125)

    def test_attempts_end_with_their_number_and_with_the_time_of_the_call(self) -> None:
        unavailable = answer_json(503, {"error": "service_unavailable"}, retry_after="60")
        with scripted(unavailable) as server, without_pauses():
            self.assertRaises(ApiError, client_of(server.url, timeout=1000.0).list_events)
            self.assertEqual(len(server.requests), 4)
            self.assertRaises(ApiError, client_of(server.url).with_limits(timeout=5).list_events)
            self.assertEqual(len(server.requests), 5)

    def test_which_failures_are_repeated(self) -> None:
        for status in (None, 408, 429, 500, 502, 503, 504):
            self.assertTrue(may_repeat("always", status, None))
            self.assertEqual(may_repeat("if-refused", status, None), status == 429)
        self.assertTrue(may_repeat("always", 409, "idempotency_conflict"))
        for status, code in ((400, "invalid_request"), (409, "entity_exists"), (422, "idempotency_mismatch")):
            self.assertFalse(may_repeat("always", status, code))

    def test_how_long_to_wait(self) -> None:
        self.assertEqual([retry_wait(failures, None, lambda: 1.0) for failures in (1, 2, 6, 7)], [0.25, 0.5, 8.0, 8.0])
        self.assertEqual(retry_wait(1, 3.0, lambda: 0.0), 3.0)
        now = datetime(2026, 11, 21, 9, 30, tzinfo=timezone.utc)
        values = ("7", "Sat, 21 Nov 2026 09:30:10 GMT", "Sat, 21 Nov 2026 09:00:00 GMT", "soon", "-1", None)
        self.assertEqual([read_retry_after(value, now) for value in values], [7.0, 10.0, 0.0, None, None, None])


class Errors(unittest.TestCase):
    def test_a_refusal_has_all_that_the_service_says(self) -> None:
        body = {
            "error": "code_of_tomorrow",
            "message": "No.",
            "request_id": "req_1",
            "doc_url": "https://api.example.com/docs#a",
            "details": [{"path": "mode", "message": "is missing"}],
            "entity_id": "ent_1",
            "candidates": [{"id": "ent_2"}],
        }
        with scripted(answer_json(409, body, retry_after="3")) as server:
            with self.assertRaises(ApiError) as raised:
                client_of(server.url).create_entity({"legal_name": "A"}, idempotency_key="k")
        error = raised.exception
        self.assertEqual((error.status, error.code, str(error)), (409, "code_of_tomorrow", "No."))
        self.assertEqual((error.request_id, error.doc_url), ("req_1", body["doc_url"]))
        self.assertEqual((error.details, error.candidates), (body["details"], body["candidates"]))
        self.assertEqual((error.entity_id, error.retry_after, error.idempotency_key), ("ent_1", 3.0, "k"))

    def test_an_answer_that_is_not_the_services_is_an_error_too(self) -> None:
        for text in ("<html>", "[1]", '{"error":{"code":1},"details":"a"}'):
            with self.subTest(text), scripted(answer_text(404, text, x_request_id="req_2")) as server:
                with self.assertRaises(ApiError) as raised:
                    client_of(server.url).list_events()
                error = raised.exception
                self.assertEqual((error.code, error.details, error.request_id), ("unknown", [], "req_2"))
        with scripted(answer_text(200, "<html>")) as server, without_pauses():
            self.assertRaises(ApiConnectionError, client_of(server.url).list_events)
        with scripted(answer_text(302, "", location="/elsewhere")) as server:
            self.assertRaises(ApiError, client_of(server.url).list_events)
            self.assertEqual(len(server.requests), 1)

    def test_without_an_answer_in_time_the_call_ends(self) -> None:
        with scripted(silent) as server:
            client = client_of(server.url, attempt_timeout=0.05, max_attempts=1)
            self.assertRaises(ApiTimeoutError, client.list_events)
        self.assertRaises(ApiConnectionError, client_of("http://127.0.0.1:1", max_attempts=1).list_events)

    def test_each_answer_is_reported(self) -> None:
        seen: list[Response] = []
        with scripted(answer_json(503, {}), answer_json(200, {}, x_ratelimit_remaining="9")) as server, without_pauses():
            client_of(server.url, on_response=seen.append, user_agent="acme/1").list_events(limit=1)
            self.assertRegex(server.requests[0].headers["user-agent"], r"^acme/1 vendor-verification-python/\d")
            self.assertEqual(server.requests[0].headers["authorization"], "Bearer svc_test_key")
        self.assertEqual([(one.status, one.attempt) for one in seen], [(503, 1), (200, 2)])
        self.assertEqual({one.path for one in seen}, {"/v1/events?limit=1"})
        self.assertEqual(seen[1].headers["X-RateLimit-Remaining"], "9")


class Webhooks(unittest.TestCase):
    secrets = [f"whsec_{base64.b64encode(bytes([number]) * 32).decode()}" for number in (1, 2)]
    body = b'{"event":"monitor.change_detected","new":1}'

    def headers(self, secret: str, at: datetime | None = None) -> dict[str, str]:
        at = at or datetime.now(timezone.utc)
        signature = Webhook(secret).sign("evt_1", at, self.body.decode())
        timestamp = str(int(at.timestamp()))
        return {"Webhook-Id": "evt_1", "webhook-timestamp": timestamp, "webhook-signature": signature}

    def test_a_webhook_signed_with_one_of_the_secrets_is_accepted(self) -> None:
        for secret in self.secrets:
            verified = verify_webhook(self.body, self.headers(secret), self.secrets)
            self.assertEqual((verified.id, verified.payload), ("evt_1", json.loads(self.body)))

    def test_all_others_are_refused(self) -> None:
        genuine = self.headers(self.secrets[0])
        old = self.headers(self.secrets[0], datetime(2026, 1, 1, tzinfo=timezone.utc))
        refused: list[tuple[bytes, dict[str, str]]] = [
            (b"{}", genuine),
            (b"\xff", genuine),
            (self.body, {}),
            (self.body, old),
            (self.body, {**genuine, "Webhook-Id": "evt_2"}),
            (self.body, {**genuine, "webhook-timestamp": "nan"}),
            *[(self.body, {**genuine, "webhook-signature": text}) for text in ("", "v1", "v1,a,b", "v1,é", "v1,AAA")],
        ]
        for body, headers in refused:
            with self.subTest(headers), self.assertRaises(WebhookVerificationError):
                verify_webhook(body, headers, self.secrets[0])
        self.assertRaises(ValueError, verify_webhook, self.body, genuine, [])


if __name__ == "__main__":
    unittest.main()
