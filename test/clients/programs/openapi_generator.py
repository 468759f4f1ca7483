"""The calls with the Python client of openapi-generator."""
import json
import os
import time

import vvs


def client_at(url):
    return vvs.ApiClient(vvs.Configuration(host=url, access_token=os.environ["API_KEY"]))


def code_of(call):
    try:
        call()
    except vvs.ApiException as error:
        return error.data.error
    raise AssertionError("no error")


api = client_at(os.environ["BASE_URL"])
look_up, create, verify, monitors = vvs.LookUpApi(api), vvs.CreateApi(api), vvs.VerifyApi(api), vvs.MonitorApi(api)
jobs = vvs.VerifyManyApi(api)
uei = [vvs.Identifier(type="uei", value="SANDBXACTVE1")]
checks = [vvs.CheckType.SAM_REGISTRATION]

vendor = look_up.lookup_entity(vvs.LookupRequest(identifiers=uei))
fuzzy = look_up.lookup_entity(vvs.LookupRequest(legal_name="Sandbox Activ Vendor", mode="fuzzy"))
read = look_up.get_entity(vendor.id)
created = create.create_entity(vvs.CreateEntityRequest(legal_name=os.environ["NEW_NAME"]), idempotency_key=os.environ["IDEMPOTENCY_KEY"])
page = create.list_entities(limit=1)
verified = verify.verify(vvs.VerifyRequest(identifiers=uei, checks=checks, mode="cached"))
again = verify.get_verification(verified.id)
evidence = verify.get_evidence(verified.results[0].evidence_uri.rsplit("/", 1)[1])
monitor = monitors.create_monitor(vvs.CreateMonitorRequest(entity_id=vendor.id, checks=checks, webhook_url=os.environ["WEBHOOK_URL"]))
events = monitors.list_events(after="start")
vendors = [vvs.JobVendor(external_id=uei, identifiers=[vvs.Identifier(type="uei", value=uei)]) for uei in ("SANDBXACTVE1", "SANDBXEXPRD1")]
job = jobs.create_job(vvs.CreateJobRequest(checks=checks, mode="realtime", vendors=vendors))
while not job.completed_at:
    time.sleep(0.1)
    job = jobs.get_job(job.id)
results = jobs.list_job_results(job.id).results
# The client itself reads only JSON and text/….
receipt = jobs.get_job_receipt_without_preload_content(job.id).data.decode()
missing = code_of(lambda: look_up.get_entity("ent_00000000000000000000000000"))

webhook = vvs.MonitorChangeDetected.from_json(os.environ["WEBHOOK"])
tomorrow = client_at(os.environ["TOMORROW_URL"])
later = vvs.LookUpApi(tomorrow).get_entity(vendor.id)
unknown = code_of(lambda: vvs.CreateApi(tomorrow).create_entity(vvs.CreateEntityRequest(legal_name="A")))

print(json.dumps({
    "vendor": vendor.legal_name, "fuzzy": bool(fuzzy.id or fuzzy.candidates), "read": read.id == vendor.id,
    "created": created.legal_name, "listed": page.entities[0].id == created.id, "verified": verified.overall_result,
    "again": again.id == verified.id, "evidence": evidence.check_type, "monitor": monitor.status,
    "events": events.next_cursor is not None, "missing": missing, "webhook": webhook.changes[0].current,
    "job": [[result.external_id, result.decision] for result in results], "receipt": len(receipt.split(".")),
    "status": later.sam_gov.registration_status, "unknown": unknown,
}))
