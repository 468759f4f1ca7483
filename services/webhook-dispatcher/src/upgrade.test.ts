import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Document, MongoClient } from "mongodb";
import { endpointId } from "./endpoint.ts";
import { migrate } from "./migrate.ts";

const prefix = `t${randomUUID().slice(0, 8)}_`;
let client: MongoClient;
const deliveries = () =>
  client.db(`${prefix}webhook_dispatcher_live`).collection<Document & { _id: string }>("deliveries");

beforeAll(async () => {
  client = await new MongoClient(process.env.MONGODB_URI!).connect();
});
afterAll(async () => {
  for (const environment of ["live", "sandbox"])
    await client.db(`${prefix}webhook_dispatcher_${environment}`).dropDatabase();
  await client.close();
});

test("deliveries of before endpoints had documents go on: attempted, in turn, and found by their URL", async () => {
  const at = new Date("2026-11-20T08:00:00Z");
  const former = { organization_id: "org_1", webhook_url: "https://subscriber.example/hook", created_at: at };
  const attempts = [{ number: 1 }];
  const retryAt = new Date("2026-11-20T09:00:00Z");
  await deliveries().createIndex(
    { organization_id: 1, monitor_id: 1, run_seq: 1 },
    { partialFilterExpression: { status: "pending" }, name: "first_attempts" },
  );
  await deliveries().insertMany([
    { _id: "done", ...former, status: "delivered", attempts, next_attempt_at: null },
    { _id: "retry", ...former, status: "pending", attempts, next_attempt_at: retryAt },
    { _id: "waits", ...former, status: "pending", attempts: [], next_attempt_at: null },
  ]);
  for (let time = 0; time < 2; time++) await migrate({ client, prefix });

  const upgraded = await deliveries().find().sort({ _id: 1 }).toArray();
  const endpoint_id = endpointId("org_1", former.webhook_url);
  expect(
    upgraded.map(({ _id, endpoint_id: to, due_at, first_attempt_owed }) => [_id, to, due_at, first_attempt_owed]),
  ).toEqual([
    ["done", endpoint_id, at, undefined],
    ["retry", endpoint_id, retryAt, undefined],
    ["waits", endpoint_id, at, true],
  ]);
  expect((await deliveries().indexes()).map(({ name }) => name)).not.toContain("first_attempts");
});
