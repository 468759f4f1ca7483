import { afterAll, expect, test } from "@jest/globals";
import { recordTelemetry } from "@vvs/telemetry/testing";
import type { Provider } from "../providers/provider.ts";
import { closedCircuit, defaultCircuitSettings as settings } from "./circuit.ts";
import { createReportProviders } from "./provider-report.ts";
import { healthOf, type ProviderHealth, type ProviderState, unknownProvider } from "./provider-state.ts";

const at = new Date("2026-11-21T09:00:00Z");
const seconds = (number: number) => new Date(at.getTime() + number * 1_000);
const state = (more: Partial<ProviderState>): ProviderState => ({ ...unknownProvider, ...more });
const open = (until: Date, probe?: { id: string; until: Date }) =>
  state({ circuit: { ...closedCircuit, openings: 1, open_until: until, probe } });
const today = "2026-11-21";

test.each<[string, ProviderState, number | undefined, string, number | undefined]>([
  ["never asked", unknownProvider, undefined, "available", undefined],
  ["one fault", state({ circuit: { ...closedCircuit, faults_in_row: 1 } }), undefined, "degraded", undefined],
  ["open", open(seconds(1)), undefined, "unavailable", undefined],
  ["due for a probe", open(at), undefined, "degraded", undefined],
  ["probed", open(at, { id: "p", until: seconds(9) }), undefined, "degraded", undefined],
  ["shut by the provider", state({ shut_until: seconds(1) }), undefined, "unavailable", 0],
  ["no longer shut", state({ shut_until: at }), undefined, "available", undefined],
  ["with a quota, never asked", unknownProvider, 10, "available", 10],
  ["with calls left", state({ calls: { day: today, count: 4 } }), 10, "available", 6],
  ["with no calls left", state({ calls: { day: today, count: 10 } }), 10, "unavailable", 0],
  ["with a smaller quota since", state({ calls: { day: today, count: 12 } }), 10, "unavailable", 0],
  ["with calls of yesterday", state({ calls: { day: "2026-11-20", count: 10 } }), 10, "available", 10],
  [
    "shut by the provider with calls left",
    state({ shut_until: seconds(1), calls: { day: today, count: 4 } }),
    10,
    "unavailable",
    0,
  ],
])("%s", (_name, of, quota, condition, remaining) => {
  expect(healthOf(of, { settings, quota, at })).toMatchObject({ condition, quotaRemaining: remaining });
});

const telemetry = recordTelemetry();
afterAll(() => telemetry.shutdown());

test("each provider is reported once, in the order they are asked, and in gauges", async () => {
  const { observeProviders } = await import("../metrics.ts");
  const provider = (name: string, check: Provider["check"]): Provider => ({ name, check, ask: () => Promise.reject() });
  const health: Readonly<Record<string, ProviderHealth>> = {
    first: { condition: "unavailable", quotaRemaining: 0, lastSuccessAt: seconds(-90) },
    second: { condition: "degraded", quotaRemaining: undefined, lastSuccessAt: undefined },
    sandbox: { condition: "available", quotaRemaining: undefined, lastSuccessAt: at },
  };
  const breaker = { health: async (name: string) => health[name]! };
  const report = createReportProviders(
    {
      live: [provider("first", "sam_registration"), provider("second", "tin_match")],
      sandbox: [provider("sandbox", "sam_registration"), provider("sandbox", "tin_match")],
    },
    { live: breaker, sandbox: breaker },
  );
  expect((await report("live")).map(({ name }) => name)).toEqual(["first", "second"]);
  expect(await report("sandbox")).toEqual([
    { name: "sandbox", checks: ["sam_registration", "tin_match"], ...health.sandbox },
  ]);
  const end = observeProviders(report, () => at);
  const measured = async (name: string) => {
    const points = (await telemetry.metric(name))!.dataPoints;
    return points.map(({ attributes, value }) => `${attributes.environment} ${attributes.provider} ${value as number}`);
  };
  expect(await measured("verification_provider_state")).toEqual(["live first 2", "live second 1", "sandbox sandbox 0"]);
  expect(await measured("verification_provider_quota_remaining")).toEqual(["live first 0"]);
  expect(await measured("verification_provider_last_success_age")).toEqual(["live first 90", "sandbox sandbox 0"]);
  end();
});
