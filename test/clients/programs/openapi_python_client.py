"""The calls with the client of openapi-python-client."""
import json
import os
import time

import vvs
from vvs.api.create import create_entity, list_entities
from vvs.api.look_up import get_entity, lookup_entity
from vvs.api.monitor import create_monitor, list_events
from vvs.api.verify import get_evidence, get_verification, verify
from vvs.api.verify_many import create_job, get_job, get_job_receipt, list_job_results
from vvs.models import (
    CheckType, CreateEntityRequest, CreateJobRequest, CreateJobRequestMode, CreateMonitorRequest, Identifier, IdentifierType,
    JobVendor, LookupRequest, LookupRequestMode, MonitorChangeDetected, VerifyRequest, VerifyRequestMode,
)


def client_at(url):
    return vvs.AuthenticatedClient(base_url=url, token=os.environ["API_KEY"])


api = client_at(os.environ["BASE_URL"])
uei = [Identifier(type_=IdentifierType.UEI, value="SANDBXACTVE1")]
checks = [CheckType.SAM_REGISTRATION]

vendor = lookup_entity.sync(client=api, body=LookupRequest(identifiers=uei))
fuzzy = lookup_entity.sync(client=api, body=LookupRequest(legal_name="Sandbox Activ Vendor", mode=LookupRequestMode.FUZZY))
read = get_entity.sync(vendor.id, client=api)
created = create_entity.sync(client=api, body=CreateEntityRequest(legal_name=os.environ["NEW_NAME"]), idempotency_key=os.environ["IDEMPOTENCY_KEY"])
page = list_entities.sync(client=api, limit=1)
verified = verify.sync(client=api, body=VerifyRequest(identifiers=uei, checks=checks, mode=VerifyRequestMode.CACHED))
again = get_verification.sync(verified.id, client=api)
evidence = get_evidence.sync(verified.results[0].evidence_uri.rsplit("/", 1)[1], client=api)
monitor = create_monitor.sync(client=api, body=CreateMonitorRequest(entity_id=vendor.id, checks=checks, webhook_url=os.environ["WEBHOOK_URL"]))
events = list_events.sync(client=api, after="start")
vendors = [JobVendor(external_id=uei, identifiers=[Identifier(type_=IdentifierType.UEI, value=uei)]) for uei in ("SANDBXACTVE1", "SANDBXEXPRD1")]
job = create_job.sync(client=api, body=CreateJobRequest(checks=checks, mode=CreateJobRequestMode.REALTIME, vendors=vendors))
while not job.completed_at:
    time.sleep(0.1)
    job = get_job.sync(job.id, client=api)
results = list_job_results.sync(job.id, client=api).results
receipt = get_job_receipt.sync_detailed(job.id, client=api).content.decode()
missing = get_entity.sync("ent_00000000000000000000000000", client=api)

webhook = MonitorChangeDetected.from_dict(json.loads(os.environ["WEBHOOK"]))
tomorrow = client_at(os.environ["TOMORROW_URL"])
later = get_entity.sync(vendor.id, client=tomorrow)
unknown = create_entity.sync(client=tomorrow, body=CreateEntityRequest(legal_name="A"))

print(json.dumps({
    "vendor": vendor.legal_name, "fuzzy": bool(fuzzy.id or fuzzy.candidates), "read": read.id == vendor.id,
    "created": created.legal_name, "listed": page.entities[0].id == created.id, "verified": verified.overall_result,
    "again": again.id == verified.id, "evidence": evidence.check_type, "monitor": monitor.status,
    "events": events.next_cursor is not None, "missing": missing.error, "webhook": webhook.changes[0].current,
    "job": [[result.external_id, result.decision] for result in results], "receipt": len(receipt.split(".")),
    "status": later.sam_gov.registration_status, "unknown": unknown.error,
}))
