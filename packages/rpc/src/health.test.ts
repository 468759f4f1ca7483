import { afterEach, expect, test } from "@jest/globals";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@vvs/proto/grpc/health/v1/health";
import { createClient } from "./client.ts";
import { testRpc } from "./testing.ts";

const { serve, lines, close } = testRpc();
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

test.each(["", "test.v1.TextService", "grpc.health.v1.Health"])("anybody is told that %j serves", async (service) => {
  const server = await serve({});
  await expect(healthOf(server).check({ service })).resolves.toMatchObject({ status: Status.SERVING });
  expect(lines).toEqual([]);
});

test("a service that the server does not have is NOT_FOUND to check, and SERVICE_UNKNOWN to watch", async () => {
  const health = healthOf(await serve({}));
  await expect(health.check({ service: "other" })).rejects.toMatchObject({ code: "not_found" });
  const watch = health.watch({ service: "other" })[Symbol.asyncIterator]();
  await expect(watch.next()).resolves.toMatchObject({ value: { status: Status.SERVICE_UNKNOWN } });
});

test("who watches is told that the server closes, and does not hold it up", async () => {
  const server = await serve({});
  const watch = healthOf(server).watch({})[Symbol.asyncIterator]();
  await expect(watch.next()).resolves.toMatchObject({ value: { status: Status.SERVING } });
  const closed = server.close(600_000);
  await expect(watch.next()).resolves.toMatchObject({ value: { status: Status.NOT_SERVING } });
  await expect(watch.next()).resolves.toMatchObject({ done: true });
  await closed;
});
