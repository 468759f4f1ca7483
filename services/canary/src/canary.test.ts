import { expect, test } from "@jest/globals";
import { signWebhook } from "@vendor-verification/client";
import { recordTelemetry } from "@vvs/telemetry/testing";
import { atEnd, eventually, silentLogger } from "@vvs/testing";
import { type CanaryOptions, startCanary } from "./canary.ts";
import { serveReceiver } from "./receiver.ts";

const { metric } = recordTelemetry();
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const webhookUrl = "http://canary.vendors.svc/";

/** The plan's limit of the simulated API. */
const MOST_ACTIVE = 10;

/** An API with monitors of an earlier process and of other users. After a given number of new monitors it does not answer. */
function playedApi(creations = 1) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const monitors = [
    { id: "mon_old", status: "active", webhook_url: webhookUrl },
    { id: "mon_other", status: "active", webhook_url: "https://example.com/" },
  ];
  const isActive = ({ status }: { status: string }) => status === "active";
  const client = {
    lookup: async () => ({ id: "ent_1" }),
    async createMonitor({ webhook_url }: { webhook_url: string }) {
      if (creations-- === 0) await released;
      if (monitors.filter(isActive).length >= MOST_ACTIVE) throw new Error("limit_exceeded");
      const monitor = { id: `mon_${monitors.length}`, status: "active", webhook_url };
      monitors.unshift(monitor);
      return monitor;
    },
    listMonitors: async () => ({ monitors: monitors.filter(isActive) }),
    async cancelMonitor(id: string) {
      for (const monitor of monitors) if (monitor.id === id) monitor.status = "canceled";
    },
  };
  const active = () => monitors.filter(isActive).map(({ id }) => id);
  return { client: client as unknown as CanaryOptions["client"], active, monitors, release };
}

function start(api: ReturnType<typeof playedApi>, options: Partial<CanaryOptions> = {}) {
  const stop = new AbortController();
  const canary = startCanary({
    ...{ client: api.client, webhookUrl, secrets: [secret], frequency: "monthly", renewMs: 3_600_000 },
    ...{ now: () => new Date(), stopping: stop.signal, logger: silentLogger },
    ...options,
  });
  atEnd(() => {
    api.release();
    stop.abort();
    return canary.close();
  });
  return canary;
}

async function webhook(monitorId: string, detectedAt: Date, signedWith = secret) {
  const changes = [{ field: "a", previous: null, current: null, detected_at: detectedAt.toISOString() }];
  const body = JSON.stringify({ event: "monitor.change_detected", monitor_id: monitorId, changes });
  return {
    body: Buffer.from(body),
    headers: await signWebhook(body, { id: "evt_1", secrets: [signedWith], sentAt: new Date() }),
  };
}

const age = async () => (await metric("canary_last_delivery_age_seconds"))?.dataPoints[0]?.value as number | undefined;

test("only a change of its monitor with a valid signature counts, with the time of its detection", async () => {
  const api = playedApi();
  const canary = start(api);
  const id = await eventually(() => api.active().find((one) => one === "mon_2"));
  const receiver = await serveReceiver({ ...canary, host: "127.0.0.1", port: 0 });
  atEnd(receiver.close);
  const post = async ({ body, headers }: Awaited<ReturnType<typeof webhook>>) =>
    (await fetch(`http://127.0.0.1:${receiver.port}/`, { method: "POST", body, headers: { ...headers } })).status;

  const strange = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
  expect(await post(await webhook(id, new Date(), strange))).toBe(400);
  expect(await post(await webhook("mon_other", new Date()))).toBe(204);
  expect(await post({ body: Buffer.alloc(300_000), headers: (await webhook(id, new Date())).headers })).toBe(400);
  expect(await age()).toBeUndefined();
  expect(await post(await webhook(id, new Date(Date.now() - 700_000)))).toBe(204);
  expect(await age()).toBeGreaterThan(600);
  expect(await post(await webhook(id, new Date()))).toBe(204);
  expect(await post(await webhook(id, new Date(Date.now() - 900_000)))).toBe(204);
  expect(await age()).toBeLessThan(60);
});

test("its monitor replaces those that an earlier process left, and no others", async () => {
  const api = playedApi();
  start(api);
  await eventually(() => api.active().includes("mon_2"));
  expect(api.active()).toEqual(["mon_2", "mon_other"]);
});

test("monitors that are left over can't use up the limit of active ones", async () => {
  const api = playedApi();
  while (api.monitors.length < MOST_ACTIVE)
    api.monitors.push({ id: `mon_left_${api.monitors.length}`, status: "active", webhook_url: webhookUrl });
  start(api);
  await eventually(() => api.active().length === 2);
  expect(api.active()).toEqual([`mon_${MOST_ACTIVE}`, "mon_other"]);
});

test("its monitor is replaced by a new one, and changes of the one before still count", async () => {
  const api = playedApi(2);
  const canary = start(api, { renewMs: 1 });
  await eventually(() => api.active()[0] === "mon_3" && !api.active().includes("mon_2"));
  for (const id of ["mon_3", "mon_2"]) {
    const { body, headers } = await webhook(id, new Date());
    expect(await canary.receive(body, headers)).toBe(true);
  }
  expect(await age()).toBeLessThan(60);
});
