// Baseline for deliveries, started as a separate process: a loop that signs with both schemes, POSTs with undici and
// stores nothing. It prints its address. A GET runs the loop for `ms` and answers with the rate.
import { createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { newId } from "@vvs/ids";
import { Agent, request } from "undici";

const { URLS, IN_FLIGHT } = process.env;
const urls = URLS!.split(",");
const key = randomBytes(32);
const secret = `whsec_${key.toString("base64")}`;
const dispatcher = new Agent({ pipelining: 1 });
const ids = { event: newId("evt"), monitor: newId("mon"), entity: newId("ent"), verification: newId("ver") };
let next = 0;

/** Sends the same body and headers as the product. */
async function send(): Promise<void> {
  const sentAt = new Date();
  const body = JSON.stringify({
    event: "monitor.change_detected",
    monitor_id: ids.monitor,
    entity_id: ids.entity,
    changes: [
      {
        field: "sam_registration.registration_status",
        previous: "active",
        current: "expired",
        detected_at: sentAt.toISOString(),
      },
    ],
    verification_id: ids.verification,
    delivered_at: sentAt.toISOString(),
  });
  const timestamp = Math.floor(sentAt.getTime() / 1_000);
  const service = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  const standard = createHmac("sha256", key).update(`${ids.event}.${timestamp}.${body}`).digest("base64");
  const headers = {
    "Content-Type": "application/json",
    "X-Service-Signature": `t=${timestamp},v1=${service}`,
    "webhook-id": ids.event,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${standard}`,
    "Idempotency-Key": ids.event,
    "X-Delivery-Attempt": "1",
  };
  const response = await request(urls[next++ % urls.length]!, { method: "POST", headers, body, dispatcher });
  if (response.statusCode !== 200) throw new Error(`the subscriber answered ${response.statusCode}`);
  await response.body.text();
}

async function runFor(ms: number): Promise<number> {
  const startedAt = performance.now();
  let sent = 0;
  const worker = async () => {
    for (; performance.now() - startedAt < ms; sent++) await send();
  };
  await Promise.all(Array.from({ length: Number(IN_FLIGHT) }, worker));
  return sent / ((performance.now() - startedAt) / 1_000);
}

const server = createServer(async (incoming, response) => {
  response.end(String(await runFor(Number(new URL(incoming.url!, "http://loop").searchParams.get("ms")))));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
