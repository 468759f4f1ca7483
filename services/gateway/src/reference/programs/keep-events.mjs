import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { ApiError, createClient } from "@vendor-verification/client";

const client = createClient({
  baseUrl: process.env.VENDOR_VERIFICATION_BASE_URL ?? "",
  apiKey: process.env.VENDOR_VERIFICATION_API_KEY ?? "",
});
const read = (file) => (existsSync(file) ? readFileSync(file, "utf8") : "");
const lines = read("events.jsonl").split("\n").filter(Boolean);
const known = new Set(lines.map((line) => JSON.parse(line).id));
let cursor = read("cursor") || "start";

for (;;) {
  try {
    const { events, next_cursor } = await client.readEvents({ after: cursor, wait: 20, limit: 100 });
    for (const event of events.filter(({ id }) => !known.has(id))) {
      appendFileSync("events.jsonl", `${JSON.stringify(event)}\n`);
      known.add(event.id);
    }
    cursor = next_cursor;
    writeFileSync("cursor", cursor);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "cursor_expired")) throw error;
    console.error("Events were deleted before they were read. Going on with the oldest one.");
    cursor = "start";
  }
}
