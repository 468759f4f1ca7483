"""Calls the running product. Prints the monitor that it made, or verifies what the monitor sent and cancels it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import cast

from vendor_verification import ApiError, Client, check_receipt, models, verify_webhook

CHECKS: list[models.CheckType] = ["sam_registration"]


def entities(client: Client) -> models.Entity:
    request: models.CreateEntityRequest = {"legal_name": "Acme Tools LLC", "identifiers": {"cage": "1ABC2"}}
    made = [client.create_entity(request, idempotency_key="order-1") for _ in range(2)]
    assert made[0]["id"] == made[1]["id"]
    entity = client.get_entity(made[0]["id"])
    assert client.lookup({"identifiers": {"cage": "1abc2"}}) == entity
    client.create_entity({"legal_name": "Other LLC"})
    assert [one["id"] for one in client.all_entities(limit=1)][1:] == [entity["id"]]
    assert [one["version"] for one in client.all_snapshots(entity["id"])] == [1]
    client.set_external_id(entity["id"], "V 7")
    assert [one["id"] for one in client.list_entities(external_id="V 7")["entities"]] == [entity["id"]]
    return entity


def verifications(client: Client, entity: models.Entity) -> None:
    made = client.verify({"entity_id": entity["id"], "checks": CHECKS, "mode": "realtime"})
    again = client.create_verification({"entity_id": entity["id"], "checks": CHECKS, "mode": "cached"})
    assert again["overall_result"] == made["overall_result"]
    assert client.get_verification(made["id"]) == made
    receipt = check_receipt(client.get_receipt(made["id"]), client.get_receipt_keys())
    assert (receipt["verification"], receipt["environment"]) == (made, "sandbox")
    evidence = client.get_evidence(receipt["evidence"][0]["id"])
    assert receipt["evidence"][0]["sha256"] == evidence["sha256"]
    listed = client.all_verifications(entity_id=entity["id"], limit=1)
    assert [one["id"] for one in listed] == [again["id"], made["id"]]
    assert client.get_evidence(made["results"][0]["evidence_uri"])["verification_id"] == made["id"]
    assert "sandbox_primary" in [one["name"] for one in client.list_providers()]


def monitors(client: Client, webhook_url: str) -> str:
    found = cast(models.Entity, client.lookup({"identifiers": {"uei": "SANDBXCHNGE1"}}))
    monitor = client.create_monitor(
        {"entity_id": found["id"], "checks": CHECKS, "frequency": "hourly", "webhook_url": webhook_url}
    )
    assert client.get_monitor(monitor["id"])["status"] == "active"
    for page in client.follow_events("start"):
        if page["events"]:
            event = page["events"][0]
            break
    assert event["monitor_id"] == monitor["id"]
    assert event["id"] in [one["id"] for one in client.all_monitor_events(monitor["id"])]
    assert event["id"] in [one["id"] for one in client.all_events(limit=1)]
    assert len(client.list_events(limit=1)["events"]) == 1
    assert len(list(client.all_monitor_runs(monitor["id"], limit=1))) >= 2
    assert client.update_monitor(monitor["id"], {"frequency": "weekly"})["frequency"] == "weekly"
    assert [one["id"] for one in client.all_monitors(entity_id=found["id"])] == [monitor["id"]]
    return monitor["id"]


def refused(run: Callable[[], object]) -> ApiError:
    try:
        run()
    except ApiError as error:
        return error
    raise AssertionError("it was not refused")


def refusals(client: Client) -> None:
    request = {"entity_id": "ent_1", "checks": [], "mode": "later"}
    invalid = refused(lambda: client.verify(cast(models.VerifyRequest, request)))
    assert invalid.code == "invalid_request" and invalid.request_id and invalid.doc_url
    assert sorted(problem["path"] for problem in invalid.details) == ["checks", "mode"]
    unknown = refused(lambda: client.get_entity("ent_unknown"))
    assert (unknown.status, unknown.code) == (404, "entity_not_found")
    stranger = refused(lambda: Client(os.environ["VENDOR_VERIFICATION_BASE_URL"], "svc_test_no").list_events())
    assert (stranger.status, stranger.code) == (401, "unauthorized")


def main() -> None:
    client = Client(os.environ["VENDOR_VERIFICATION_BASE_URL"], os.environ["VENDOR_VERIFICATION_API_KEY"])
    if sys.argv[1:] == ["webhook"]:
        received = json.loads(os.environ["RECEIVED"])
        verified = verify_webhook(received["body"], received["headers"], received["secret"])
        assert client.cancel_monitor(verified.payload["monitor_id"])["status"] == "canceled"
        print(verified.id)
    else:
        verifications(client, entities(client))
        refusals(client)
        print(monitors(client, os.environ["WEBHOOK_URL"]))


if __name__ == "__main__":
    main()
