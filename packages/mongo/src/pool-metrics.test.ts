import { expect, test } from "@jest/globals";
import { recordTelemetry } from "@vvs/telemetry/testing";
import { databasePool, eventually, silentLogger } from "@vvs/testing";
import { connectMongo } from "./client.ts";

const { metric } = recordTelemetry();
const pool = databasePool();

test("the connections of a client are reported by state while it is open", async () => {
  const client = await connectMongo({
    uri: process.env.MONGODB_URI!,
    service: "test",
    logger: silentLogger,
    stopping: new AbortController().signal,
  });
  const counts = async () => {
    const points = (await metric("mongodb_pool_connections"))?.dataPoints ?? [];
    return Object.fromEntries(points.map(({ attributes, value }) => [attributes.state, value]));
  };
  expect((await counts()).used).toBe(0);
  expect((await counts()).idle).toBeGreaterThan(0);
  const prefix = pool.take();
  const changes = client.db(`${prefix}a`).collection("a").watch([], { maxAwaitTimeMS: 20_000 });
  // It holds a connection while it waits for a change.
  const waiting = changes.next().catch(() => undefined);
  await eventually(async () => (await counts()).used === 1);
  expect((await metric("mongodb_pool_waiting"))!.dataPoints[0]!.value).toBe(0);
  await changes.close();
  await waiting;
  await eventually(async () => (await counts()).used === 0);
  await pool.giveBack(prefix);
  await client.close();
});
