CURSOR=$(cat cursor 2>/dev/null || echo start)
if curl -sS --fail-with-body -o page.json "$VENDOR_VERIFICATION_BASE_URL/v1/events?after=$CURSOR&wait=20&limit=100" \
  -H "Authorization: Bearer $VENDOR_VERIFICATION_API_KEY"; then
  cat page.json >> pages.jsonl
  echo >> pages.jsonl
  grep -o '"next_cursor":"[^"]*' page.json | cut -d '"' -f 4 > cursor
else
  cat page.json
fi
