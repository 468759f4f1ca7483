import { expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { eventually, testMongo } from "@vvs/testing";
import { createOrganizationLeases } from "./organization-leases.ts";

const { db } = await testMongo();

const HOUR_MS = 3_600_000;
const leases = ({ leaseMs = HOUR_MS, intervalMs = 0 } = {}) => createOrganizationLeases({ db, leaseMs, intervalMs });

test("only one of many replicas leases an organization, also for the first time", async () => {
  const organization = newId("org");
  for (let round = 0; round < 5; round++) {
    const taken = await Promise.all(Array.from({ length: 10 }, () => leases().take(organization)));
    const [won, ...others] = taken.filter((lease) => lease !== undefined);
    expect(others).toEqual([]);
    await leases().end(won!);
  }
});

test("the next lease comes an interval after the beginning of the last one", async () => {
  const organization = newId("org");
  const late = leases({ intervalMs: HOUR_MS });
  await late.end((await late.take(organization))!);
  expect(await late.take(organization)).toBeUndefined();
  const other = newId("org");
  const early = leases({ intervalMs: 0 });
  await early.end((await early.take(other))!);
  expect(await early.take(other)).toBeDefined();
});

test("organizations have leases of their own", async () => {
  expect(await leases().take(newId("org"))).toBeDefined();
  expect(await leases().take(newId("org"))).toBeDefined();
});

test("the lease of a replica that crashed expires, and what it does afterwards does not end its successor's", async () => {
  const organization = newId("org");
  const crashed = await leases({ leaseMs: 50 }).take(organization);
  await eventually(async () => (await leases().take(organization)) !== undefined);
  await leases().end(crashed!);
  expect(await leases().take(organization)).toBeUndefined();
});
