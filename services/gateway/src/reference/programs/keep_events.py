import json
import os
import sys
from pathlib import Path

from vendor_verification import ApiError, Client

client = Client(
    os.environ["VENDOR_VERIFICATION_BASE_URL"],
    os.environ["VENDOR_VERIFICATION_API_KEY"],
)
copy, stored_cursor = Path("events.jsonl"), Path("cursor")
copy.touch()
known = {json.loads(line)["id"] for line in copy.read_text().splitlines()}
cursor = stored_cursor.read_text() if stored_cursor.exists() else "start"

while True:
    try:
        page = client.read_events(cursor, wait=20, limit=100)
    except ApiError as error:
        if error.code != "cursor_expired":
            raise
        print("Events were deleted before they were read. Going on with the oldest one.", file=sys.stderr)
        cursor = "start"
        continue
    with copy.open("a") as file:
        for event in page["events"]:
            if event["id"] not in known:
                file.write(json.dumps(event) + "\n")
                known.add(event["id"])
    cursor = page["next_cursor"] or cursor
    stored_cursor.write_text(cursor)
