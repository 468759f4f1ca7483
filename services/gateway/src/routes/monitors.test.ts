import { describe, expect, test } from "@jest/globals";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { startTestGateway } from "../testing/gateway.ts";
import {
  at,
  bodies,
  entityId,
  event,
  monitor,
  monitorId,
  renderedEvent,
  renderedMonitor,
  time,
  verificationId,
} from "../testing/samples.ts";

const gateway = await startTestGateway();

describe("monitors", () => {
  test("POST creates a monitor, daily by default, within the limit of the plan", async () => {
    gateway.monitor.on("createMonitor", () => ({ monitor }));
    const { status, headers, body } = await gateway.post("/v1/monitors", bodies["/v1/monitors"]);
    expect([status, body]).toEqual([201, renderedMonitor]);
    expect(headers.get("location")).toBe(`/v1/monitors/${monitorId}`);
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({
      entityId,
      checks: [CheckType.SAM_REGISTRATION],
      webhookUrl: "https://example.com/hooks",
      frequency: Frequency.DAILY,
      activeLimit: 25,
    });
  });

  test("GET returns the last run and the next", async () => {
    const lastRun = { at, outcome: CheckStatus.ERROR, verificationId, dataAsOf: { registration: at } };
    const shown = { lastRun, nextRunAt: at, consecutiveErrors: 2, staleSince: at };
    gateway.monitor.on("getMonitor", () => ({ monitor: { ...monitor, ...shown } }));
    expect((await gateway.get(`/v1/monitors/${monitorId}`)).body).toEqual({
      ...renderedMonitor,
      last_run: {
        at: time,
        outcome: "error",
        verification_id: verificationId,
        data_as_of: { registration: time },
      },
      next_run_at: time,
      stale_since: time,
      consecutive_errors: 2,
    });
  });

  test("GET lists the runs of a monitor, each with its cause", async () => {
    const names = ["first", "schedule", "file", "expiry", "exclusion", "answer"];
    const runs = names.map((_, index) => ({ at, outcome: CheckStatus.PASS, verificationId, cause: index + 1 }));
    gateway.monitor.on("listRuns", () => ({ runs }));
    const run = { at: time, outcome: "pass", verification_id: verificationId };
    const { status, body } = await gateway.get(`/v1/monitors/${monitorId}/runs`);
    expect([status, body]).toEqual([200, { runs: names.map((cause) => ({ ...run, cause })), next_cursor: null }]);
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({ monitorId });
  });

  test("GET reads the runs of a monitor page by page", async () => {
    const run = { at, outcome: CheckStatus.PASS, verificationId, cause: 1 };
    const next = { createdAt: at, id: `${monitorId}:17` };
    gateway.monitor.on("listRuns", () => ({ runs: [run], next }));
    const { body } = await gateway.get(`/v1/monitors/${monitorId}/runs?limit=1`);
    const { status } = await gateway.get(`/v1/monitors/${monitorId}/runs?limit=1&cursor=${body.next_cursor}`);
    expect([status, gateway.monitor.calls.at(-1)!.request]).toMatchObject([200, { page: { limit: 1, after: next } }]);
  });

  test("GET shows how often scheduled checks confirmed a run, and what data they found", async () => {
    const confirmed = { times: 3, lastAt: at, dataAsOf: { exclusions: at } };
    const run = { at, outcome: CheckStatus.PASS, verificationId, cause: 1, confirmed };
    gateway.monitor.on("listRuns", () => ({ runs: [run] }));
    const { body } = await gateway.get(`/v1/monitors/${monitorId}/runs`);
    expect(body.runs[0].confirmed).toEqual({ times: 3, last_at: time, data_as_of: { exclusions: time } });
  });

  test("PATCH changes only the given fields", async () => {
    gateway.monitor.on("updateMonitor", () => ({ monitor }));
    const send = (body: unknown) => gateway.send("PATCH", `/v1/monitors/${monitorId}`, { key: gateway.key, body });
    expect((await send({ frequency: "hourly" })).body).toEqual(renderedMonitor);
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({ frequency: Frequency.HOURLY });
    expect(gateway.monitor.calls.at(-1)!.request.webhookUrl).toBeUndefined();
    await send({ webhook_url: "https://example.org/" });
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({
      monitorId,
      webhookUrl: "https://example.org/",
      frequency: Frequency.UNSPECIFIED,
    });
    await send({ webhook_url: null });
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({ webhookUrl: "" });
    expect(gateway.monitor.calls.at(-1)!.request.externalId).toBeUndefined();
    await send({ external_id: " M-1 " });
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({ externalId: "M-1" });
    expect(gateway.monitor.calls.at(-1)!.request.webhookUrl).toBeUndefined();
    await send({ external_id: null });
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({ externalId: "" });
    for (const wrong of [{}, { webhook_url: "" }, { external_id: "" }]) expect((await send(wrong)).status).toBe(400);
  });

  test("a monitor without a URL is created and shown without one", async () => {
    gateway.monitor.on("createMonitor", () => ({ monitor: { ...monitor, webhookUrl: "" } }));
    const { webhook_url: _url, ...withoutUrl } = bodies["/v1/monitors"];
    const { status, body } = await gateway.post("/v1/monitors", withoutUrl);
    const { webhook_url: _rendered, ...rendered } = renderedMonitor;
    expect([status, body]).toEqual([201, rendered]);
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({ webhookUrl: "" });
  });

  test("DELETE returns the canceled monitor", async () => {
    gateway.monitor.on("cancelMonitor", () => ({ monitor: { ...monitor, status: "canceled" } }));
    const { status, body } = await gateway.send("DELETE", `/v1/monitors/${monitorId}`, { key: gateway.key });
    expect([status, body.status]).toEqual([200, "canceled"]);
  });

  test("GET lists events of one monitor and of all; an absent value is an empty string", async () => {
    gateway.monitor.on("listEvents", () => ({ events: [event] }));
    expect((await gateway.get(`/v1/monitors/${monitorId}/events`)).body).toEqual({
      events: [renderedEvent],
      next_cursor: null,
    });
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({ monitorId });
    expect((await gateway.get("/v1/events")).body).toEqual({ events: [renderedEvent], next_cursor: null });
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({ monitorId: "" });
  });
});
