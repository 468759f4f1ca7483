import { afterEach, expect, test } from "@jest/globals";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@vvs/proto/grpc/health/v1/health";
import { eventually } from "@vvs/testing";
import { createClient } from "./client.ts";
import { testRpc } from "./testing.ts";

const { serve, client, lines, close } = testRpc();
const clients: { close(): void }[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await close();
});

function healthOf(server: { port: number }) {
  const client = createClient(Health, { address: `127.0.0.1:${server.port}`, caller: "a probe", tls: undefined });
  clients.push(client);
  return client;
}

test.each(["", "test.v1.TextService", "grpc.health.v1.Health"])(
  "any caller can read that %j is serving",
  async (service) => {
    const server = await serve({});
    await expect(healthOf(server).check({ service })).resolves.toMatchObject({ status: Status.SERVING });
    expect(lines).toEqual([]);
  },
);

test("a service that the server does not have is NOT_FOUND to check, and SERVICE_UNKNOWN to watch", async () => {
  const health = healthOf(await serve({}));
  await expect(health.check({ service: "other" })).rejects.toMatchObject({ code: "not_found" });
  const watch = health.watch({ service: "other" })[Symbol.asyncIterator]();
  await expect(watch.next()).resolves.toMatchObject({ value: { status: Status.SERVICE_UNKNOWN } });
});

test("a watcher learns that the server is closing, and does not delay it", async () => {
  const server = await serve({});
  const watch = healthOf(server).watch({})[Symbol.asyncIterator]();
  await expect(watch.next()).resolves.toMatchObject({ value: { status: Status.SERVING } });
  const closed = server.close(600_000);
  await expect(watch.next()).resolves.toMatchObject({ value: { status: Status.NOT_SERVING } });
  await expect(watch.next()).resolves.toMatchObject({ done: true });
  await closed;
});

test("a server whose dependency hangs is NOT_SERVING until it answers again, and still accepts calls", async () => {
  const hanging = Promise.withResolvers<void>();
  let hangs = false;
  const server = await serve({ ask: async ({ value }) => ({ value }) }, { ping: async () => hangs && hanging.promise });
  const health = healthOf(server);
  const watch = health.watch({})[Symbol.asyncIterator]();
  const next = async () => (await watch.next()).value?.status;
  expect(await next()).toBe(Status.SERVING);

  hangs = true;
  expect(await next()).toBe(Status.NOT_SERVING);
  expect(await health.check({ service: "test.v1.TextService" })).toMatchObject({ status: Status.NOT_SERVING });
  expect(await client(server).isServing()).toBe(false);
  expect(await client(server).ask({ value: "a" })).toMatchObject({ value: "a" });

  hangs = false;
  hanging.resolve();
  expect(await next()).toBe(Status.SERVING);
  expect(await client(server).isServing()).toBe(true);
});

test("a closed server is not serving", async () => {
  const server = await serve({});
  const asking = client(server);
  expect(await asking.isServing()).toBe(true);
  await server.close(0);
  expect(await asking.isServing()).toBe(false);
});

test("failing pings are logged when they start and when they end, not each time", async () => {
  let fails = true;
  const server = await serve({}, { ping: async () => (fails ? Promise.reject(new Error("no primary")) : undefined) });
  const watch = healthOf(server).watch({})[Symbol.asyncIterator]();
  await watch.next();
  expect((await watch.next()).value).toMatchObject({ status: Status.NOT_SERVING });
  // The status changes after a time without answers; the line is logged at the next ping.
  await eventually(() => lines.some(({ msg }) => String(msg).includes("does not answer pings")));
  fails = false;
  expect((await watch.next()).value).toMatchObject({ status: Status.SERVING });
  expect(lines.map(({ msg }) => msg).filter((msg) => msg !== "call")).toEqual([
    "the dependency does not answer pings; this server reports that it can't serve",
    "the dependency answers pings again",
  ]);
});
