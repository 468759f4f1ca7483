cat > job.json <<'END'
{ "checks": ["sam_registration"], "mode": "realtime", "vendors": [
  { "external_id": "V-1", "identifiers": { "uei": "SANDBXACTVE1" } },
  { "external_id": "V-2", "identifiers": { "uei": "SANDBXEXPRD1" } }
] }
END
export KEY="Authorization: Bearer $VENDOR_VERIFICATION_API_KEY" JOBS="$VENDOR_VERIFICATION_BASE_URL/v1/jobs"
JOB_ID=$(curl -sS "$JOBS" -H "$KEY" -H "Content-Type: application/json" -H "Idempotency-Key: vendors-$(date +%F)" \
  -d @job.json | grep -o 'job_[0-9a-z]*')
until curl -sS "$JOBS/$JOB_ID" -H "$KEY" | grep -q completed_at; do sleep 5; done
curl -sS -o results.csv "$JOBS/$JOB_ID/results" -H "$KEY" -H "Accept: text/csv"
