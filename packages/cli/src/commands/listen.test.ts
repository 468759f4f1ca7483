import { expect, test } from "@jest/globals";
import { verifyWebhook } from "@vendor-verification/client";
import { playServer } from "../../../../test/outside/played-server.ts";
import { answer, type Handler, startApi } from "../testing/fake-api.ts";
import { runProgram } from "../testing/run-program.ts";

const eventOf = (id: string) => ({
  id,
  event: "monitor.change_detected",
  monitor_id: "mon_1",
  entity_id: "ent_1",
  changes: [
    {
      field: "sam_registration.registration_status",
      previous: "active",
      current: "",
      detected_at: "2026-11-21T09:30:00.000Z",
    },
  ],
  verification_id: "ver_1",
  detected_at: "2026-11-21T09:30:00.000Z",
});

/** A service that has an old event, then returns two new ones together, and then none. */
const serviceWithEvents: Handler = ({ path }, response) => {
  const { searchParams } = new URL(path, "http://api.example");
  const after = searchParams.get("after");
  if (after === "start") return answer(response, 200, { events: [eventOf("evt_old")], next_cursor: "old" });
  if (after === "now" && !searchParams.has("wait")) return answer(response, 200, { events: [], next_cursor: "end" });
  if (after === "end") {
    return answer(response, 200, { events: [eventOf("evt_1"), eventOf("evt_2")], next_cursor: "later" });
  }
};

test("new events arrive signed with the printed secret, in order, and the answers are shown", async () => {
  const verified: unknown[] = [];
  const stopping = new AbortController();
  let secret = "";
  await using api = await startApi(serviceWithEvents);
  await using receiver = await startReceiver(async (body, headers) => {
    const { id, payload } = await verifyWebhook(body, headers, secret);
    verified.push(id);
    expect(payload).toEqual({
      event: "monitor.change_detected",
      monitor_id: "mon_1",
      entity_id: "ent_1",
      changes: [
        {
          field: "sam_registration.registration_status",
          previous: "active",
          current: null,
          detected_at: "2026-11-21T09:30:00.000Z",
        },
      ],
      verification_id: "ver_1",
      delivered_at: expect.any(String),
    });
    expect([headers["idempotency-key"], headers["x-delivery-attempt"]]).toEqual([id, "1"]);
    return id === "evt_1" ? 204 : 500;
  });
  const { code, stdout } = await runProgram(["listen", "--forward-to", receiver.url, "--json"], {
    env: api.env,
    signal: stopping.signal,
    onPrint(printed) {
      const lines = printed.trim().split("\n");
      secret = JSON.parse(lines[0]!).secret;
      if (lines.length === 3) stopping.abort();
    },
  });
  expect([code, verified]).toEqual([0, ["evt_1", "evt_2"]]);
  const [, first, second] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect([first, second]).toMatchObject([
    { event_id: "evt_1", status: 204 },
    { event_id: "evt_2", status: 500 },
  ]);
});

test("a receiver that does not run is shown, and listening goes on", async () => {
  const receiver = await startReceiver(async () => 200);
  await receiver[Symbol.asyncDispose]();
  const stopping = new AbortController();
  await using api = await startApi(serviceWithEvents);
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const { code, stdout } = await runProgram(["listen", "--forward-to", receiver.url, "--secret", secret], {
    env: api.env,
    signal: stopping.signal,
    onPrint: (printed) => printed.includes("evt_2") && stopping.abort(),
  });
  expect(code).toBe(0);
  expect(stdout).toContain(`Signing secret: ${secret}`);
  expect(stdout).toMatch(/evt_1 {2}no answer \(ECONNREFUSED\).*registration_status active → –/);
});

/** Starts a server that answers a webhook with a status. */
async function startReceiver(answerTo: (body: string, headers: Record<string, string>) => Promise<number>) {
  const { url, close } = await playServer(async ({ body, headers }, response) => {
    const status = await answerTo(body, headers as Record<string, string>).catch(() => 400);
    response.writeHead(status).end();
  });
  return { url: `${url}/hook`, [Symbol.asyncDispose]: close };
}
