import { expect, test } from "@jest/globals";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { MONITOR_ID } from "../testing/fake-dispatcher.ts";

const { dashboard, visitor } = dashboardPerTest();
const QUERY = `since=2026-11-19T08%3A00&monitor_id=${MONITOR_ID}&url=https%3A%2F%2Facme.example%2Fhook`;

/** The hidden fields of the confirmation. */
function hiddenFields(text: string): Record<string, string> {
  const found = text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  return Object.fromEntries([...found].map(([, name, value]) => [name!, value!]));
}

test("nothing is counted without a start time, and counting replays nothing", async () => {
  const { text } = await visitor.get("/live/webhooks/replay");
  expect(text).toContain("Count deliveries");
  expect(dashboard.state.calls).toEqual([]);
  dashboard.state.failedCount = 1_204;
  const counted = await visitor.get(`/live/webhooks/replay?${QUERY}`);
  expect(counted.text).toContain("Replay 1,204 failed deliveries?");
  expect(dashboard.callsOf("countFailed")).toHaveLength(1);
  expect(dashboard.callsOf("replayFailed")).toEqual([]);
});

test("confirmed deliveries are replayed once, and their list says how many", async () => {
  dashboard.state.failedCount = 3;
  const { text } = await visitor.get(`/live/webhooks/replay?${QUERY}`);
  const form = hiddenFields(text);
  const { location } = await visitor.post("/live/webhooks/replay", form);
  expect(location).toBe(
    `/live/webhooks/deliveries?from=2026-11-19T08%3A00&monitor_id=${MONITOR_ID}&url=https%3A%2F%2Facme.example%2Fhook&begun=3`,
  );
  await visitor.post("/live/webhooks/replay", form);
  const filter = { since: "2026-11-19T08:00:00Z", monitorId: MONITOR_ID, webhookUrl: "https://acme.example/hook" };
  expect(dashboard.callsOf("replayFailed")).toMatchObject([{ filter, replayId: form.replay_id }]);
});

test("with no failed deliveries there is nothing to confirm", async () => {
  const { text } = await visitor.get(`/live/webhooks/replay?${QUERY}`);
  expect(text).toContain("There is nothing to replay.");
  expect(text).not.toContain("replay_id");
});

test("a malformed time is refused with the reason", async () => {
  const { status, text } = await visitor.get("/live/webhooks/replay?since=yesterday");
  expect(status).toBe(400);
  expect(text).toContain("Enter a date and a time");
});

test.each<Record<string, string>>([{ since: "" }, { since: "x" }, { replay_id: "" }, { monitor_id: "x" }])(
  "a form changed by hand to %j replays nothing",
  async (changes) => {
    dashboard.state.failedCount = 1;
    const { text } = await visitor.get(`/live/webhooks/replay?${QUERY}`);
    const { status } = await visitor.post("/live/webhooks/replay", { ...hiddenFields(text), ...changes });
    expect(status).toBe(400);
    expect(dashboard.callsOf("replayFailed")).toEqual([]);
  },
);
