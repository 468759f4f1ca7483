import { expect, test } from "@jest/globals";
import type { Provider } from "../providers/provider.ts";
import { closedCircuit, defaultCircuitSettings as settings } from "./circuit.ts";
import { healthOf } from "./provider-health.ts";
import { createProviderReport } from "./provider-report.ts";
import { type ProviderState, unknownProvider } from "./provider-state.ts";

const at = new Date("2026-11-21T09:00:00Z");
const seconds = (number: number) => new Date(at.getTime() + number * 1_000);
const state = (more: Partial<ProviderState>): ProviderState => ({ ...unknownProvider, ...more });
const open = (until: Date, probe?: { id: string; until: Date }) =>
  state({ circuit: { ...closedCircuit, openings: 1, openUntil: until, probe } });
const today = "2026-11-21";

test.each<[string, ProviderState, number | undefined, string, number | undefined]>([
  ["never asked", unknownProvider, undefined, "available", undefined],
  ["one fault", state({ circuit: { ...closedCircuit, faultsInRow: 1 } }), undefined, "degraded", undefined],
  ["open", open(seconds(1)), undefined, "unavailable", undefined],
  ["due for a probe", open(at), undefined, "degraded", undefined],
  ["probed", open(at, { id: "p", until: seconds(9) }), undefined, "degraded", undefined],
  ["shut by its own word", state({ shutUntil: seconds(1) }), undefined, "unavailable", 0],
  ["no longer shut", state({ shutUntil: at }), undefined, "available", undefined],
  ["with a quota, never asked", unknownProvider, 10, "available", 10],
  ["with calls left", state({ calls: { day: today, count: 4 } }), 10, "available", 6],
  ["with no calls left", state({ calls: { day: today, count: 10 } }), 10, "unavailable", 0],
  ["with a smaller quota since", state({ calls: { day: today, count: 12 } }), 10, "unavailable", 0],
  ["with calls of yesterday", state({ calls: { day: "2026-11-20", count: 10 } }), 10, "available", 10],
  ["shut with calls left", state({ shutUntil: seconds(1), calls: { day: today, count: 4 } }), 10, "unavailable", 0],
])("%s", (_name, of, quota, condition, remaining) => {
  expect(healthOf(of, { settings, quota, at })).toMatchObject({ condition, quotaRemaining: remaining });
});

test("providers are reported once, in the order they are asked, and to gauges as numbers", async () => {
  const provider = (name: string, check: Provider["check"]): Provider => ({ name, check, ask: () => Promise.reject() });
  const health = {
    first: { condition: "unavailable", quotaRemaining: 0, lastSuccessAt: seconds(-90) },
    second: { condition: "degraded", quotaRemaining: undefined, lastSuccessAt: undefined },
    sandbox: { condition: "available", quotaRemaining: undefined, lastSuccessAt: at },
  } as const;
  const breaker = { health: async () => new Map(Object.entries(health)) };
  const report = createProviderReport({
    providers: {
      live: [provider("first", "sam_registration"), provider("second", "tin_match")],
      sandbox: [provider("sandbox", "sam_registration"), provider("sandbox", "tin_match")],
    },
    breakers: { live: breaker, sandbox: breaker },
    now: () => at,
  });
  expect(await report.list("sandbox")).toEqual([
    { name: "sandbox", checks: ["sam_registration", "tin_match"], ...health.sandbox },
  ]);
  const quotaRemaining = undefined;
  expect(await report.observe()).toEqual([
    { environment: "live", provider: "first", state: 2, quotaRemaining: 0, lastSuccessAgeSeconds: 90 },
    { environment: "live", provider: "second", state: 1, quotaRemaining, lastSuccessAgeSeconds: undefined },
    { environment: "sandbox", provider: "sandbox", state: 0, quotaRemaining, lastSuccessAgeSeconds: 0 },
  ]);
});
