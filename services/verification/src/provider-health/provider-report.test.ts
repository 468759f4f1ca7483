import { expect, test } from "@jest/globals";
import { recordTelemetry } from "@vvs/telemetry/testing";
import type { Provider } from "../providers/provider.ts";
import { closedCircuit, defaultCircuitSettings as settings } from "./circuit.ts";
import type { CallsToday } from "./provider-calls.ts";
import { createReportProviders, createShowProviders } from "./provider-report.ts";
import { healthOf, type ProviderHealth, type ProviderState, unknownProvider } from "./provider-state.ts";

const at = new Date("2026-11-21T09:00:00Z");
const seconds = (number: number) => new Date(at.getTime() + number * 1_000);
const state = (more: Partial<ProviderState>): ProviderState => ({ ...unknownProvider, ...more });
const open = (until: Date, probe?: { id: string; until: Date }) =>
  state({ circuit: { ...closedCircuit, openings: 1, open_until: until, probe } });

const calls = (direct: number, runs = 0) => ({ direct, first: 0, runs, quota: 10 });
const shut = (until: Date, key = "key1") => state({ shut: { [key]: until } });

test.each<[string, ProviderState, CallsToday | undefined, string, number | undefined]>([
  ["never asked", unknownProvider, undefined, "available", undefined],
  ["one fault", state({ circuit: { ...closedCircuit, faults_in_row: 1 } }), undefined, "degraded", undefined],
  ["open", open(seconds(1)), undefined, "unavailable", undefined],
  ["due for a probe", open(at), undefined, "degraded", undefined],
  ["probed", open(at, { id: "p", until: seconds(9) }), undefined, "degraded", undefined],
  ["shut by the provider", shut(seconds(1)), undefined, "unavailable", 0],
  ["no longer shut", shut(at), undefined, "available", undefined],
  ["shut by the provider for another key", shut(seconds(1), "key2"), undefined, "available", undefined],
  ["with a quota, never asked", unknownProvider, calls(0), "available", 5],
  ["with calls left", unknownProvider, calls(4), "available", 1],
  ["with no calls left for direct callers", unknownProvider, calls(5), "unavailable", 0],
  ["with no calls left for runs", unknownProvider, calls(1, 7), "available", 2],
  ["shut by the provider with calls left", shut(seconds(1)), calls(4), "unavailable", 0],
])("%s", (_name, of, today, condition, remaining) => {
  expect(healthOf(of, { settings, key: "key1", calls: today, at })).toMatchObject({
    condition,
    quotaRemaining: remaining,
  });
});

const telemetry = recordTelemetry();

test("each provider is reported once, in the order they are asked, and in gauges", async () => {
  const { observeProviders } = await import("./provider-metrics.ts");
  const provider = (name: string, check: Provider["check"]): Provider => ({ name, check, ask: () => Promise.reject() });
  const health: Readonly<Record<string, ProviderHealth>> = {
    first: { condition: "unavailable", quotaRemaining: 0, calls: calls(5, 2), lastSuccessAt: seconds(-90) },
    second: { condition: "degraded", quotaRemaining: undefined, calls: undefined, lastSuccessAt: undefined },
    sandbox: { condition: "available", quotaRemaining: undefined, calls: undefined, lastSuccessAt: at },
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
  expect(await measured("verification_provider_daily_quota")).toEqual(["live first 10"]);
  const byClass = (await telemetry.metric("verification_provider_calls_today"))!.dataPoints;
  expect(byClass.map(({ attributes, value }) => [attributes.provider, attributes.class, value])).toEqual([
    ["first", "direct", 5],
    ["first", "first", 0],
    ["first", "runs", 2],
  ]);
  expect(await measured("verification_provider_last_success_age")).toEqual(["live first 90", "sandbox sandbox 0"]);
  end();
});

test.each<[string, Provider["isOutdated"], string, boolean]>([
  ["whose data is too old", async () => true, "unavailable", true],
  ["whose data is new enough", async () => false, "available", false],
  ["whose data can't be read", () => Promise.reject(new Error("unavailable")), "available", false],
  ["without data of its own", undefined, "available", false],
])("a provider %s is shown so", async (_name, isOutdated, condition, outdated) => {
  const ask = () => Promise.reject(new Error("not asked"));
  const provider: Provider = { name: "files", check: "sam_registration", ask, ...(isOutdated && { isOutdated }) };
  const health: ProviderHealth = {
    condition: "available",
    quotaRemaining: undefined,
    calls: undefined,
    lastSuccessAt: undefined,
  };
  const report = async () => [{ name: "files", checks: ["sam_registration" as const], ...health }];
  const show = createShowProviders({ live: [provider], sandbox: [] }, report);
  expect(await show("live")).toMatchObject([{ condition, isOutdated: outdated }]);
});
