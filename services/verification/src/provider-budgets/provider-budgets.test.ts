import { beforeEach, describe, expect, test } from "@jest/globals";
import { silentLogger as logger, testMongo } from "@vvs/testing";
import type { Db } from "mongodb";
import type { CallClass } from "../providers/call-class.ts";
import { unlimited } from "../testing/service.ts";
import { organizationCallsOf } from "./budget-store.ts";
import { createProviderBudgets, type ProviderBudgets } from "./provider-budgets.ts";

const mongo = await testMongo();
const SPENT = "budget_spent";

let db: Db;
let time: Date;
/** The budget that account answers; undefined: account has not answered yet. */
let budget: { perMinute: number; perDay: number } | undefined;
beforeEach(() => {
  db = mongo.newDb();
  time = new Date("2026-11-21T23:58:30Z");
  budget = { perMinute: 1_000, perDay: 10 };
});

const replica = ({ of = db, most }: { of?: Db; most?: number } = {}) =>
  createProviderBudgets({
    db: of,
    settings: { get: async () => budget && { ...unlimited, providerBudgets: new Map([["p", budget]]) } },
    maxPerDay: () => most,
    now: () => time,
    logger,
    storeMs: 60_000,
  });

const tenantOf = (organizationId: string) => ({ organizationId, environment: "live" as const });

interface Spending {
  readonly by?: string;
  readonly callClass?: CallClass;
  readonly provider?: string;
}

/** Charges attempts at the same time, alternately on the replicas; returns how many were allowed. */
async function spend(replicas: ProviderBudgets | readonly ProviderBudgets[], times: number, options: Spending = {}) {
  const { by = "org_1", callClass = "direct", provider = "p" } = options;
  const all = [replicas].flat();
  const charged = await Promise.allSettled(
    Array.from({ length: times }, (_, index) => all[index % all.length]!.charge(tenantOf(by), provider, callClass)),
  );
  for (const each of charged)
    if (each.status === "rejected") expect(each.reason).toMatchObject({ reason: SPENT, isFault: false });
  return charged.filter(({ status }) => status === "fulfilled").length;
}

/** Returns the stored counts, `direct/monitors`, by organization, provider and day. */
async function stored() {
  const found = await organizationCallsOf(db).find().toArray();
  return Object.fromEntries(found.map(({ _id, direct, monitors }) => [_id, `${direct}/${monitors}`]));
}

test("two replicas that charge at the same time never exceed the day's budget together, from its first call on", async () => {
  const replicas = [replica(), replica()];
  expect(await spend(replicas, 30)).toBe(5);
  expect(await spend(replicas, 30, { callClass: "first" })).toBe(5);
  expect(await stored()).toEqual({ "org_1:p:2026-11-21": "5/5" });
});

test("an organization spends only its own budget, at one provider", async () => {
  const one = replica();
  expect(await spend(one, 30)).toBe(5);
  expect(await spend(one, 1)).toBe(0);
  expect(await spend(one, 1, { by: "org_2" })).toBe(1);
  expect(await stored()).toEqual({ "org_1:p:2026-11-21": "5/0", "org_2:p:2026-11-21": "1/0" });
});

test("a burst of direct calls leaves the monitors their reserve, and monitors leave direct calls theirs", async () => {
  const one = replica();
  expect(await spend(one, 30)).toBe(5);
  expect(await spend(one, 30, { callClass: "runs" })).toBe(5);
  expect(await spend(one, 30, { by: "org_2", callClass: "first" })).toBe(7);
  expect(await spend(one, 30, { by: "org_2" })).toBe(3);
});

test("direct calls have a budget per minute; monitors' runs have none", async () => {
  budget = { perMinute: 3, perDay: 1_000 };
  const replicas = [replica(), replica()];
  expect(await spend(replicas, 20)).toBe(3);
  expect(await spend(replicas, 20, { callClass: "runs" })).toBe(20);
  time = new Date("2026-11-21T23:58:59.999Z");
  expect(await spend(replicas, 20)).toBe(0);
  time = new Date("2026-11-21T23:59:00Z");
  expect(await spend(replicas, 20)).toBe(3);
});

test("the next UTC day has a budget of its own", async () => {
  const one = replica();
  expect(await spend(one, 30)).toBe(5);
  time = new Date("2026-11-22T00:00:00Z");
  expect(await spend(one, 30)).toBe(5);
  expect(await stored()).toEqual({ "org_1:p:2026-11-21": "5/0", "org_1:p:2026-11-22": "5/0" });
});

test("another plan's budget applies to what was spent before it", async () => {
  const one = replica();
  expect(await spend(one, 30)).toBe(5);
  budget = { perMinute: 1_000, perDay: 20 };
  expect(await spend(one, 30)).toBe(5);
});

test("no organization gets more than its share of the provider's quota", async () => {
  const one = replica({ most: 4 });
  expect(await spend(one, 30)).toBe(2);
});

test("without settings, without a budget at the provider and in the sandbox nothing is refused or counted", async () => {
  const one = replica();
  expect(await spend(one, 30, { provider: "files" })).toBe(30);
  budget = { perMinute: 1, perDay: 1 };
  const sandbox = { organizationId: "org_1", environment: "sandbox" as const };
  for (let calls = 0; calls < 3; calls++) await one.charge(sandbox, "p", "direct");
  budget = undefined;
  expect(await spend(one, 30)).toBe(30);
  expect(await stored()).toEqual({});
});

test("while the database is unavailable, calls are allowed and not counted", async () => {
  const broken = { collection: () => ({ findOneAndUpdate: () => Promise.reject(new Error("no primary")) }) };
  expect(await spend(replica({ of: broken as unknown as Db }), 30)).toBe(30);
});

test("a spent budget is known without asking the database, until it has calls again", async () => {
  const one = replica();
  const check = () => one.check(tenantOf("org_1"), "p", "direct");
  await check();
  await spend(one, 5);
  await expect(check()).rejects.toMatchObject({ reason: SPENT });
  await one.check(tenantOf("org_1"), "p", "first");
  await one.check(tenantOf("org_2"), "p", "direct");
  time = new Date("2026-11-22T00:00:00Z");
  await check();
});

test("further calls of an attempt are counted beyond the budget, and a call that was not made is given back", async () => {
  const one = replica();
  const charges = await Promise.all(Array.from({ length: 5 }, () => one.charge(tenantOf("org_1"), "p", "direct")));
  const check = () => one.check(tenantOf("org_1"), "p", "direct");
  await expect(check()).rejects.toMatchObject({ reason: SPENT });
  await charges[0]!.more();
  expect(await stored()).toEqual({ "org_1:p:2026-11-21": "6/0" });
  await Promise.all(charges.slice(0, 3).map((charge) => charge.giveBack()));
  expect(await stored()).toEqual({ "org_1:p:2026-11-21": "3/0" });
  await check();
  expect(await spend(one, 30)).toBe(2);
});

test("a call that ends after midnight is counted in the day in which it began", async () => {
  const one = replica();
  const { more } = await one.charge(tenantOf("org_1"), "p", "direct");
  time = new Date("2026-11-22T00:00:00Z");
  await more();
  expect(await stored()).toEqual({ "org_1:p:2026-11-21": "2/0" });
});

describe("an organization's usage", () => {
  test("is its calls of today with what is left of its budget at each provider that has one", async () => {
    const one = replica({ most: 100 });
    budget = { perMinute: 1_000, perDay: 1_000 };
    await spend(one, 30);
    await spend(one, 7, { callClass: "runs" });
    await spend(one, 5, { by: "org_2" });
    const limits = { provider: "p", perMinute: 1_000, perDay: 100 };
    expect(await one.usage(tenantOf("org_1"), ["p", "files"])).toEqual([
      { ...limits, direct: 30, directLeft: 20, monitors: 7, monitorsLeft: 63 },
    ]);
    time = new Date("2026-11-22T00:00:00Z");
    expect(await one.usage(tenantOf("org_1"), ["p"])).toEqual([
      { ...limits, direct: 0, directLeft: 50, monitors: 0, monitorsLeft: 70 },
    ]);
  });

  test("names the organizations with the most calls at a provider today, with what each has left if its budget is known", async () => {
    const one = replica();
    await spend(one, 3, { by: "org_2" });
    await spend(one, 30, { by: "org_1" });
    await spend(one, 4, { by: "org_3", callClass: "first" });
    await spend(one, 9, { by: "org_4", provider: "other" });
    expect(await one.busiest("p", 2)).toEqual([
      { organizationId: "org_1", direct: 5, monitors: 0, left: { direct: 0, monitors: 5 } },
      { organizationId: "org_3", direct: 0, monitors: 4, left: { direct: 5, monitors: 3 } },
    ]);
    budget = undefined;
    expect(await one.busiest("p", 1)).toEqual([{ organizationId: "org_1", direct: 5, monitors: 0 }]);
    time = new Date("2026-11-22T00:00:00Z");
    expect(await one.busiest("p", 2)).toEqual([]);
  });

  test("is empty in the sandbox, and unavailable while account has not answered", async () => {
    const sandbox = { organizationId: "org_1", environment: "sandbox" as const };
    expect(await replica().usage(sandbox, ["p"])).toEqual([]);
    budget = undefined;
    await expect(replica().usage(tenantOf("org_1"), ["p"])).rejects.toMatchObject({ code: "service_unavailable" });
  });
});
