import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { eventually } from "@vvs/testing";
import { MongoClient } from "mongodb";
import { createTurns } from "./turns.ts";

const client = new MongoClient(process.env.MONGODB_URI!);
const db = client.db(`test_turns_${randomBytes(5).toString("hex")}`);
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

const HOUR_MS = 3_600_000;
const turns = ({ leaseMs = HOUR_MS, intervalMs = 0 } = {}) => createTurns({ db, leaseMs, intervalMs });

test("only one of many replicas takes an organization's turn, also its first", async () => {
  const organization = newId("org");
  for (let round = 0; round < 5; round++) {
    const taken = await Promise.all(Array.from({ length: 10 }, () => turns().take(organization)));
    const [won, ...others] = taken.filter((turn) => turn !== undefined);
    expect(others).toEqual([]);
    await turns().end(won!);
  }
});

test("the next turn comes an interval after the beginning of the last one", async () => {
  const organization = newId("org");
  const late = turns({ intervalMs: HOUR_MS });
  await late.end((await late.take(organization))!);
  expect(await late.take(organization)).toBeUndefined();
  const other = newId("org");
  const early = turns({ intervalMs: 0 });
  await early.end((await early.take(other))!);
  expect(await early.take(other)).toBeDefined();
});

test("organizations have turns of their own", async () => {
  expect(await turns().take(newId("org"))).toBeDefined();
  expect(await turns().take(newId("org"))).toBeDefined();
});

test("the turn of a replica that crashed expires, and what it does afterwards does not end its successor's turn", async () => {
  const organization = newId("org");
  const crashed = await turns({ leaseMs: 50 }).take(organization);
  await eventually(async () => (await turns().take(organization)) !== undefined);
  await turns().end(crashed!);
  expect(await turns().take(organization)).toBeUndefined();
});
