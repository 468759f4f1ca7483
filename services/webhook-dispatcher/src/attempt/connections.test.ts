import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { startNameServer } from "@vvs/egress/testing/name-server";
import { request } from "undici";
import { type Connections, createConnections } from "./connections.ts";

const HOST = "localhost";
const refused = { name: "AddressRefusedError" };
const closers: (() => unknown)[] = [];
let port: number;
let reached: number;

beforeEach(async () => {
  reached = 0;
  const server = createServer((_request, response) => {
    reached++;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
});
afterEach(async () => {
  for (let close = closers.pop(); close; close = closers.pop()) await close();
});

async function start(options: Partial<Parameters<typeof createConnections>[0]> = {}): Promise<Connections> {
  const names = await startNameServer((name) => (name.startsWith("dead") ? "never" : "127.0.0.1"));
  closers.push(names.close);
  const connections = createConnections({
    allowPrivateTargets: false,
    connectTimeoutMs: 1_000,
    connectionsPerOrigin: 4,
    nameServers: [names.address],
    ...options,
  });
  closers.push(() => connections.destroy());
  return connections;
}

/** Sends as an organization that may or may not reach the host. */
async function send(
  connections: Connections,
  organizationId: string,
  privateHosts: readonly string[],
  hostname = HOST,
) {
  const dispatcher = await connections.to({ organizationId, hostname, privateHosts });
  const { statusCode, body } = await request(`http://${hostname}:${port}/`, { dispatcher });
  await body.dump();
  return statusCode;
}

describe("a host that one organization may reach at a private address", () => {
  test("is reached by no other organization, not even over an open connection", async () => {
    const connections = await start();
    expect(await send(connections, "org_1", [HOST])).toBe(200);
    await expect(send(connections, "org_2", [])).rejects.toMatchObject(refused);
    expect(await send(connections, "org_1", [HOST])).toBe(200);
    expect(reached).toBe(2);
  });

  test("is that exact host: another name with the same address is refused", async () => {
    const connections = await start();
    for (const hostname of ["other.example", "a.localhost", "127.0.0.1"]) {
      await expect(send(connections, "org_1", [HOST], hostname)).rejects.toMatchObject(refused);
    }
    expect(reached).toBe(0);
  });

  test("is not one of the machine's cloud", async () => {
    const connections = await start();
    const metadata = "169.254.169.254";
    await expect(send(connections, "org_1", [metadata], metadata)).rejects.toMatchObject(refused);
  });

  test("is reached without the proxy", async () => {
    const connections = await start({ proxy: { url: new URL("http://127.0.0.1:1") } });
    expect(await send(connections, "org_1", [HOST])).toBe(200);
  });
});

test("a name whose servers never answer keeps no other organization waiting", async () => {
  const connections = await start();
  let ended = 0;
  const dead = Array.from({ length: 100 }, (_, at) =>
    connections
      .to({ organizationId: "org_dead", hostname: `dead${at}.example`, privateHosts: [] })
      .catch(() => undefined)
      .then(() => ended++),
  );
  await expect(send(connections, "org_2", [], "subscriber.example")).rejects.toMatchObject(refused);
  expect(await send(connections, "org_3", [HOST])).toBe(200);
  expect([dead.length, ended]).toEqual([100, 0]);
});
