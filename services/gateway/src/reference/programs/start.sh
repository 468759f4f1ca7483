post() {
  curl -sS "$VENDOR_VERIFICATION_BASE_URL$1" -H "Authorization: Bearer $VENDOR_VERIFICATION_API_KEY" \
    -H "Content-Type: application/json" -d "$2"
}
ENTITY_ID=$(post /v1/entities/lookup '{"identifiers":{"uei":"SANDBXACTVE1"}}' | grep -o 'ent_[0-9a-z]*' | head -n 1)
VERIFICATION=$(post /v1/verify '{"entity_id":"'"$ENTITY_ID"'","checks":["sam_registration"],"mode":"realtime"}')
VERIFICATION_ID=$(echo "$VERIFICATION" | grep -o 'ver_[0-9a-z]*' | head -n 1)
EVIDENCE_ID=$(echo "$VERIFICATION" | grep -o 'evd_[0-9a-z]*' | head -n 1)
MONITOR_ID=$(post /v1/monitors '{"entity_id":"'"$ENTITY_ID"'","checks":["sam_registration"]}' | grep -o 'mon_[0-9a-z]*' | head -n 1)
JOB_ID=$(post /v1/jobs '{"checks":["sam_registration"],"mode":"realtime","vendors":[{"identifiers":{"uei":"SANDBXERRR01"}}]}' | grep -o 'job_[0-9a-z]*' | head -n 1)
echo "$VERIFICATION"
