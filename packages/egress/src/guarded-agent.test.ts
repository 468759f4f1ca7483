import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { request } from "undici";
import { AddressRefusedError } from "./errors.ts";
import { createGuardedAgent, type GuardedAgentOptions } from "./guarded-agent.ts";
import { createSystemLookup } from "./names.ts";
import { createAuthority } from "./testing/certificates.ts";
import { privateHosts } from "./testing/private-hosts.ts";

/** The only address that counts as public in these tests. */
const PUBLIC = "127.0.0.2";
const PRIVATE = "127.0.0.1";

const closers: (() => unknown)[] = [];
let port: number;
/** Addresses at which a server was reached; all servers listen on the same port. */
let reached: string[];

beforeEach(async () => {
  reached = [];
  port = 0;
  for (const host of [PRIVATE, PUBLIC, "::1"]) port = await serve(host, port);
});
afterEach(async () => {
  for (let close = closers.pop(); close; close = closers.pop()) await close();
});

async function serve(host: string, at: number): Promise<number> {
  const server = createServer((incoming, response) => {
    reached.push(incoming.socket.localAddress!);
    if (incoming.url === "/moved") response.writeHead(307, { location: `http://${PRIVATE}:${port}/` }).end();
    else response.writeHead(200, incoming.url === "/last" ? { connection: "close" } : {}).end();
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(at, host, resolve));
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

function agent(options: Partial<GuardedAgentOptions> = {}) {
  const made = createGuardedAgent({
    allowPrivateTargets: false,
    connectTimeoutMs: 1_000,
    connectionsPerOrigin: 1,
    isAllowed: (address) => address === PUBLIC,
    resolveAll: createSystemLookup(),
    ...options,
  });
  closers.push(() => made.destroy());
  return made;
}

/** A resolver that gives one answer after the other and then repeats the last; records the names it was asked for. */
function playedNames(...answers: string[][]) {
  const asked: string[] = [];
  const resolveAll = async (hostname: string) => {
    asked.push(hostname);
    const answer = answers[Math.min(asked.length, answers.length) - 1]!;
    return answer.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  return { asked, resolveAll };
}

async function get(dispatcher: ReturnType<typeof agent>, url: string): Promise<number> {
  const { statusCode, body } = await request(url, { dispatcher });
  await body.dump();
  return statusCode;
}

const refused = expect.objectContaining({ name: "AddressRefusedError" });

describe("a literal", () => {
  test.each([...privateHosts, "169.254.169.254", "[fe80::1]", "[fd00:ec2::254]"])(
    "%s is refused before anything is sent",
    async (host) => {
      const ordinary = agent({ isAllowed: undefined });
      await expect(get(ordinary, `http://${host}:${port}/`)).rejects.toThrow(refused);
      expect(reached).toEqual([]);
    },
  );

  test("that is public is connected to", async () => {
    expect(await get(agent(), `http://${PUBLIC}:${port}/`)).toBe(200);
    expect(reached).toEqual([PUBLIC]);
  });

  test("that is private is connected to if the operator allows it", async () => {
    const local = agent({ allowPrivateTargets: true, isAllowed: undefined });
    expect(await get(local, `http://127.1:${port}/`)).toBe(200);
    expect(reached).toEqual([PRIVATE]);
  });

  test("in a refused range is refused though the operator allows private addresses", async () => {
    const local = agent({ allowPrivateTargets: true, refusedRanges: ["127.0.0.0/8"], isAllowed: undefined });
    await expect(get(local, `http://127.1:${port}/`)).rejects.toThrow(refused);
    expect(reached).toEqual([]);
  });
});

describe("a name", () => {
  test.each([
    [[PRIVATE]],
    [["::1"]],
    [["::ffff:127.0.0.1"]],
    [["::ffff:7f00:1"]],
    [["64:ff9b::7f00:1"]],
    [["10.0.0.1"]],
    [["169.254.169.254"]],
    [["fd00:ec2::254"]],
    [[PUBLIC, PRIVATE]],
    [[PRIVATE, PUBLIC]],
    [[PUBLIC, "::1"]],
    [[PUBLIC, PUBLIC, "10.0.0.1"]],
    [["0x7f.1"]],
    [[]],
  ])("that resolves to %j is refused before anything is sent", async (addresses) => {
    const { resolveAll } = playedNames(addresses);
    await expect(get(agent({ resolveAll }), `http://subscriber.example:${port}/`)).rejects.toThrow(refused);
    expect(reached).toEqual([]);
  });

  test.each(["169.254.169.254", "fd00:ec2::254", "168.63.129.16"])(
    "that resolves to %s, the host of a cloud, is refused though the operator allows private addresses",
    async (address) => {
      const { resolveAll } = playedNames([address]);
      const local = agent({ allowPrivateTargets: true, resolveAll, isAllowed: undefined });
      await expect(get(local, `http://metadata.google.internal:${port}/`)).rejects.toThrow(refused);
    },
  );

  test("that the system resolves to loopback is refused", async () => {
    await expect(get(agent({ isAllowed: undefined }), `http://localhost:${port}/`)).rejects.toThrow(refused);
    expect(reached).toEqual([]);
  });

  test("is resolved once, and only a checked address is connected to", async () => {
    const names = playedNames([PUBLIC], [PRIVATE]);
    expect(await get(agent(names), `http://rebinds.example:${port}/`)).toBe(200);
    expect(reached).toEqual([PUBLIC]);
    expect(names.asked).toEqual(["rebinds.example"]);
  });

  test("that resolves to a private address later is refused from then on", async () => {
    const names = playedNames([PUBLIC], [PRIVATE], [PUBLIC, PRIVATE], [PUBLIC]);
    const rebound = agent(names);
    const url = `http://rebinds.example:${port}/last`;
    expect(await get(rebound, url)).toBe(200);
    await expect(get(rebound, url)).rejects.toThrow(refused);
    await expect(get(rebound, url)).rejects.toThrow(refused);
    expect(await get(rebound, url)).toBe(200);
    expect(reached).toEqual([PUBLIC, PUBLIC]);
    expect(names.asked).toHaveLength(4);
  });

  test("that resolves to another address while a connection is kept still uses the checked address", async () => {
    const names = playedNames([PUBLIC], [PRIVATE]);
    const kept = agent(names);
    for (let count = 0; count < 3; count++) expect(await get(kept, `http://rebinds.example:${port}/`)).toBe(200);
    expect(reached).toEqual([PUBLIC, PUBLIC, PUBLIC]);
  });

  test("is resolved again once its connection is too old", async () => {
    const names = playedNames([PUBLIC], [PRIVATE]);
    const aging = agent({ ...names, connectionMaxAgeMs: 1, connectionsPerOrigin: 2 });
    const url = `http://rebinds.example:${port}/`;
    expect(await get(aging, url)).toBe(200);
    const connectedBy = Date.now();
    while (Date.now() < connectedBy + 3) await new Promise((resolve) => setImmediate(resolve));
    await expect(get(aging, url)).rejects.toThrow(refused);
    expect(reached).toEqual([PUBLIC]);
  });

  test("that does not resolve is not reported as refused", async () => {
    const resolveAll = () => Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }));
    const failing = get(agent({ resolveAll }), `http://nowhere.example:${port}/`);
    await expect(failing).rejects.toMatchObject({ code: "ENOTFOUND" });
    await expect(failing).rejects.not.toBeInstanceOf(AddressRefusedError);
  });
});

test("a redirect to a private address is returned, not followed", async () => {
  const names = playedNames([PUBLIC]);
  expect(await get(agent(names), `http://moves.example:${port}/moved`)).toBe(307);
  expect(reached).toEqual([PUBLIC]);
});

test("a refusal never names the address that was found", async () => {
  const { resolveAll } = playedNames(["10.20.30.40"]);
  const error: Error = await get(agent({ resolveAll }), `http://inside.example:${port}/`).catch((cause) => cause);
  expect(error.message).not.toContain("10.20.30.40");
});

describe("TLS", () => {
  const authority = createAuthority();
  const stranger = createAuthority();
  let seen: { peer: string | undefined; alpn: string | false | null }[];

  async function tlsServer(certificate: { cert: string; key: string }): Promise<number> {
    seen = [];
    const options = { ...certificate, ca: authority.ca, requestCert: true, rejectUnauthorized: false };
    const server = createTlsServer({ ...options, ALPNProtocols: ["h2", "http/1.1"] }, (incoming, response) => {
      const socket = incoming.socket as TLSSocket;
      seen.push({ peer: socket.getPeerCertificate().subjectaltname, alpn: socket.alpnProtocol });
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, PUBLIC, resolve));
    closers.push(() => {
      server.close();
      server.closeAllConnections();
    });
    return (server.address() as AddressInfo).port;
  }

  const names = () => playedNames([PUBLIC]);
  const trusting = { ca: authority.ca };

  test("is verified against the name, although the agent chose the address", async () => {
    const at = await tlsServer(authority.issue(["DNS:subscriber.example"]));
    expect(await get(agent({ ...names(), ...trusting }), `https://subscriber.example:${at}/`)).toBe(200);
    expect(seen).toEqual([{ peer: undefined, alpn: "http/1.1" }]);
  });

  test.each([
    ["of another name", authority.issue(["DNS:somebody-else.example"]), "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["only of the address", authority.issue([`IP:${PUBLIC}`]), "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["that has expired", authority.issue(["DNS:subscriber.example"], { expired: true }), "CERT_HAS_EXPIRED"],
    ["of an unknown authority", stranger.issue(["DNS:subscriber.example"]), "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ])("a certificate %s is refused before anything is sent", async (_what, certificate, code) => {
    const at = await tlsServer(certificate);
    const getting = get(agent({ ...names(), ...trusting }), `https://subscriber.example:${at}/`);
    await expect(getting).rejects.toMatchObject({ code });
    expect(seen).toEqual([]);
  });

  test("a client certificate is shown to servers that ask for one", async () => {
    const at = await tlsServer(authority.issue(["DNS:subscriber.example"]));
    const identity = authority.issue(["DNS:sender.example"]);
    expect(await get(agent({ ...names(), ...trusting, identity }), `https://subscriber.example:${at}/`)).toBe(200);
    expect(seen).toMatchObject([{ peer: "DNS:sender.example" }]);
  });
});
