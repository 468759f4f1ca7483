import { expect, test } from "@jest/globals";
import { DURATION_CLASSES } from "@vvs/telemetry/durations";
import type { Tenant } from "@vvs/tenant";
import { testAccount } from "../testing/account.ts";
import type { UsageCount } from "./usage.ts";

const account = await testAccount();

const tenantOf = (organizationId: string, environment: Tenant["environment"] = "live") => ({
  organizationId,
  environment,
});
const at = (time: string) => new Date(`2026-03-${time}:00.000Z`);
const took = (classes: Readonly<Record<number, number>>) =>
  Array.from({ length: DURATION_CLASSES }, (_, place) => classes[place] ?? 0);

function count(tenant: Tenant, change: Partial<UsageCount> = {}): UsageCount {
  return {
    tenant,
    keyId: `key_${tenant.organizationId}`,
    hour: at("01T10:00"),
    status: 200,
    requests: 2,
    durations: took({ 3: 2 }),
    lastAt: at("01T10:30"),
    ...change,
  };
}

const day = { from: at("01T00:00"), to: at("02T00:00"), interval: "day" } as const;

test("a report is counted once, even if it is repeated concurrently", async () => {
  const tenant = tenantOf("org_once");
  await Promise.all(Array.from({ length: 5 }, () => account.domain.usage.report("report_1", [count(tenant)])));
  await account.domain.usage.report("report_1", [count(tenant)]);
  await account.domain.usage.report("report_2", [count(tenant, { durations: took({ 4: 2 }) })]);
  expect(await account.domain.usage.get(tenant, day)).toEqual([
    {
      keyId: "key_org_once",
      hour: at("01T00:00"),
      status: 200,
      requests: 4,
      durations: took({ 3: 2, 4: 2 }),
      lastAt: at("01T10:30"),
    },
  ]);
});

test("concurrent reports of several gateways are all counted", async () => {
  const tenant = tenantOf("org_many");
  await Promise.all(
    Array.from({ length: 6 }, (_, index) => account.domain.usage.report(`many_${index}`, [count(tenant)])),
  );
  expect((await account.domain.usage.get(tenant, day)).map(({ requests }) => requests)).toEqual([12]);
});

test("usage is returned by hour or day, by key and status, and only for the requested period", async () => {
  const tenant = tenantOf("org_times");
  await account.domain.usage.report("times", [
    count(tenant),
    count(tenant, { status: 404 }),
    count(tenant, { hour: at("01T11:00") }),
    count(tenant, { hour: at("02T00:00") }),
    count(tenant, { keyId: "key_other" }),
  ]);
  const read = async (range: Parameters<typeof account.domain.usage.get>[1]) =>
    (await account.domain.usage.get(tenant, range)).map(({ keyId, hour, status, requests }) =>
      [keyId, hour.toISOString().slice(8, 13), status, requests].join(" "),
    );
  expect(await read(day)).toEqual(["key_org_times 01T00 200 4", "key_org_times 01T00 404 2", "key_other 01T00 200 2"]);
  expect(await read({ ...day, interval: "hour", keyId: "key_org_times" })).toEqual([
    "key_org_times 01T10 200 2",
    "key_org_times 01T10 404 2",
    "key_org_times 01T11 200 2",
  ]);
});

test("an organization and an environment only see their own usage", async () => {
  const [mine, theirs] = [tenantOf("org_mine"), tenantOf("org_theirs")];
  await account.domain.usage.report("mine", [count(mine), count(mine, { lastAt: at("01T10:45") })]);
  const keyIds = ["key_org_mine"];
  expect(await account.domain.usage.lastUses(mine, keyIds)).toEqual(new Map([["key_org_mine", at("01T10:45")]]));
  for (const other of [theirs, { ...mine, environment: "sandbox" } as const]) {
    expect(await account.domain.usage.get(other, day)).toEqual([]);
    expect(await account.domain.usage.lastUses(other, keyIds)).toEqual(new Map());
  }
});

test.each([
  ["reversed", { from: at("02T00:00"), to: at("01T00:00"), interval: "day" }],
  ["empty", { from: at("02T00:00"), to: at("02T00:00"), interval: "day" }],
  ["longer than 7 days by hour", { from: at("01T00:00"), to: at("08T00:01"), interval: "hour" }],
  ["without a start", { from: new Date(Number.NaN), to: at("08T00:01"), interval: "day" }],
] as const)("a period that is %s is refused", async (_name, range) => {
  await expect(account.domain.usage.get(tenantOf("org_range"), range)).rejects.toMatchObject({
    code: "invalid_request",
  });
});

test("a report without an id or with another number of durations is refused", async () => {
  const tenant = tenantOf("org_refused");
  for (const [id, durations] of [
    ["", took({})],
    ["short", [1]],
  ] as const) {
    const report = account.domain.usage.report(id, [count(tenant, { durations })]);
    await expect(report).rejects.toMatchObject({ code: "invalid_request" });
  }
});
