CURSOR=$(cat cursor 2>/dev/null || echo start)
PAGE=$(curl -sS "$VENDOR_VERIFICATION_BASE_URL/v1/events?after=$CURSOR&wait=20&limit=100" \
  -H "Authorization: Bearer $VENDOR_VERIFICATION_API_KEY")
echo "$PAGE" >> pages.jsonl
echo "$PAGE" | grep -o '"next_cursor":"[^"]*' | cut -d '"' -f 4 > cursor
