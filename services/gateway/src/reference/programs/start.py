import os

from vendor_verification import Client

client = Client(
    os.environ["VENDOR_VERIFICATION_BASE_URL"],
    os.environ["VENDOR_VERIFICATION_API_KEY"],
)

verification = client.verify(
    {
        "identifiers": {"uei": "SANDBXACTVE1"},
        "checks": ["sam_registration"],
        "mode": "realtime",
    }
)
entity_id, verification_id = verification["entity_id"], verification["id"]
evidence_id = verification["results"][0]["evidence_uri"]
monitor_id = client.create_monitor(
    {"entity_id": entity_id, "checks": ["sam_registration"]}
)["id"]
job_id = client.create_job(
    {
        "checks": ["sam_registration"],
        "mode": "realtime",
        "vendors": [{"identifiers": {"uei": "SANDBXERRR01"}}],
    }
)["id"]
print(verification["overall_result"])
