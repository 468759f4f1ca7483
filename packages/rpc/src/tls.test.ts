import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as Channel, credentials } from "@grpc/grpc-js";
import { afterAll, afterEach, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import type { TlsFiles } from "./certificates.ts";
import { createClient } from "./client.ts";
import { tlsFiles } from "./credentials.ts";
import { testRpc, textService } from "./testing.ts";

const folder = mkdtempSync(join(tmpdir(), "vvs-rpc-"));
const { serve, lines, close } = testRpc();
const channels: { close(): void }[] = [];
afterEach(async () => {
  for (const channel of channels.splice(0)) channel.close();
  await close();
  lines.length = 0;
});
afterAll(() => rmSync(folder, { recursive: true }));

const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

function makeAuthority(name: string): string {
  openssl(
    "req",
    "-x509",
    ...newKey,
    "-keyout",
    `${name}.key`,
    "-out",
    `${name}.pem`,
    "-days",
    "2",
    "-subj",
    `/CN=${name}`,
  );
  return name;
}

let serial = 1;
/** Issues a certificate for the service with this name; returns its files. */
function issue(authority: string, name: string, host = "localhost", names = `DNS:${host},DNS:${name}`): TlsFiles {
  const file = join(folder, `${name}-${serial++}`);
  openssl("req", ...newKey, "-keyout", `${file}.key`, "-out", `${file}.csr`, "-subj", `/CN=${name}`);
  writeFileSync(`${file}.ext`, `subjectAltName=${names}\n`);
  const signing = ["-CA", `${authority}.pem`, "-CAkey", `${authority}.key`, "-set_serial", String(serial)];
  openssl(
    "x509",
    "-req",
    "-in",
    `${file}.csr`,
    ...signing,
    "-days",
    "2",
    "-extfile",
    `${file}.ext`,
    "-out",
    `${file}.pem`,
  );
  return { ca: join(folder, `${authority}.pem`), cert: `${file}.pem`, key: `${file}.key`, reloadMs: 20 };
}

/** Replaces a certificate's files by those of another, as the mount of a secret does. */
function replace(old: TlsFiles, { ca, cert, key }: TlsFiles): void {
  for (const [from, to] of [
    [ca, old.ca],
    [key, old.key],
    [cert, old.cert],
  ] as const) {
    if (from === to) continue;
    copyFileSync(from, `${to}.new`);
    renameSync(`${to}.new`, to);
  }
}

function connect(server: { port: number }, tls: TlsFiles) {
  const client = createClient(textService, { address: `localhost:${server.port}`, caller: "gateway", tls });
  channels.push(client);
  return client;
}

const authority = makeAuthority("authority");
const stranger = makeAuthority("stranger");
const echoCaller = { ask: async (_request: unknown, { caller }: { caller: string }) => ({ value: caller }) };
const callers = { ask: ["gateway", "monitor"], getText: [], count: [] };

test("the caller's name is the certificate's, even if the caller claims another", async () => {
  const server = await serve(echoCaller, { tls: issue(authority, "entity"), host: "0.0.0.0", callers });
  await expect(connect(server, issue(authority, "monitor")).ask({})).resolves.toMatchObject({ value: "monitor" });
  await expect(connect(server, issue(authority, "dashboard")).ask({})).rejects.toMatchObject({ code: "forbidden" });
});

test("the caller's name is a DNS name of the certificate, not its common name", async () => {
  const server = await serve(echoCaller, { tls: issue(authority, "entity"), host: "0.0.0.0", callers });
  const others = [
    "DNS:vv-gateway",
    "DNS:dashboard",
    "URI:gateway",
    "email:gateway",
    "@names\n[names]\nDNS.1=x, DNS:gateway, y",
  ];
  for (const other of others) {
    const strange = issue(authority, "gateway", "localhost", other);
    await expect(connect(server, strange).ask({})).rejects.toMatchObject({ code: "forbidden" });
  }
  const young = issue(authority, "renamed", "localhost", "DNS:vv-monitor,DNS:monitor");
  await expect(connect(server, young).ask({})).resolves.toMatchObject({ value: "monitor" });
});

test("an IP address is refused, because TLS does not name a server by it", () => {
  for (const address of ["127.0.0.1:1", "[::1]:1"]) {
    const options = { address, caller: "gateway", tls: issue(authority, "gateway") };
    expect(() => createClient(textService, options)).toThrow("called by its name");
  }
});

test("a client of an unknown authority is refused, and a client refuses a server of one", async () => {
  const server = await serve(echoCaller, { tls: issue(authority, "entity"), callers });
  const unknown = issue(stranger, "gateway");
  await expect(connect(server, unknown).ask({})).rejects.toMatchObject({ code: "service_unavailable" });
  const trusting = { ...unknown, ca: issue(authority, "any").ca };
  await expect(connect(server, trusting).ask({})).rejects.toMatchObject({ code: "service_unavailable" });
});

test("a server with a certificate for another host is refused", async () => {
  const server = await serve(echoCaller, { tls: issue(authority, "entity", "entity.example"), callers });
  const client = connect(server, issue(authority, "gateway"));
  await expect(client.ask({})).rejects.toMatchObject({ code: "service_unavailable" });
});

test("a client in plaintext or without a certificate is refused", async () => {
  const server = await serve(echoCaller, { tls: issue(authority, "entity"), callers });
  const ca = readFileSync(join(folder, "authority.pem"));
  for (const insecure of [credentials.createInsecure(), credentials.createSsl(ca)]) {
    const channel = new Channel(`localhost:${server.port}`, insecure);
    channels.push(channel);
    const bytes = (buffer: Buffer) => buffer;
    const answer = new Promise((resolve, reject) =>
      channel.makeUnaryRequest("/test.v1.TextService/Ask", bytes, bytes, Buffer.alloc(0), (error, reply) =>
        error ? reject(error) : resolve(reply),
      ),
    );
    await expect(answer).rejects.toMatchObject({ code: 14 });
  }
});

test("a server uses a replaced certificate, and trusts a replaced authority, without a restart", async () => {
  const old = makeAuthority("old");
  const files = issue(old, "entity");
  const server = await serve(echoCaller, { tls: files, callers });
  const kept = connect(server, issue(old, "gateway"));
  await expect(kept.ask({})).resolves.toMatchObject({ value: "gateway" });
  const young = makeAuthority("young");
  const gateway = issue(young, "gateway");
  await expect(connect(server, gateway).ask({})).rejects.toMatchObject({ code: "service_unavailable" });

  replace(files, issue(young, "entity"));
  await eventually(() => lines.some(({ msg }) => String(msg).includes("certificates have changed")));
  await expect(connect(server, gateway).ask({})).resolves.toMatchObject({ value: "gateway" });
  await expect(kept.ask({})).resolves.toMatchObject({ value: "gateway" }); // its connection stays open
});

test("a client uses a replaced certificate on its next connection, without a restart", async () => {
  const server = await serve(echoCaller, { tls: issue(authority, "entity"), callers });
  const files = issue(authority, "monitor");
  const client = connect(server, files);
  await expect(client.ask({})).resolves.toMatchObject({ value: "monitor" });
  replace(files, issue(authority, "gateway"));
  await server.close();
  await serve(echoCaller, { tls: issue(authority, "entity"), callers, port: server.port });
  await eventually(() =>
    client.ask({}).then(
      ({ value }) => value === "gateway",
      () => false,
    ),
  );
});

test("an invalid replacement is logged once, and the certificate in use stays", async () => {
  const files = issue(authority, "entity");
  const server = await serve(echoCaller, { tls: files, callers });
  copyFileSync(issue(authority, "entity").key, files.key); // not this certificate's
  const told = () => lines.filter(({ level }) => level === "error");
  await eventually(() => told().length > 0);
  const gateway = issue(authority, "gateway");
  await expect(connect(server, gateway).ask({})).resolves.toMatchObject({ value: "gateway" });
  expect(told()).toHaveLength(1);

  replace(files, issue(authority, "entity"));
  await eventually(() => lines.some(({ level }) => level === "info"));
});

test("invalid files are an error at the start", async () => {
  const files = issue(authority, "entity");
  const missing = { ...files, key: join(folder, "missing.key") };
  await expect(serve({}, { tls: missing })).rejects.toThrow("missing.key");
  const foreign = { ...files, key: issue(authority, "entity").key };
  await expect(serve({}, { tls: foreign })).rejects.toThrow("key values mismatch");
  expect(() => connect({ port: 1 }, missing)).toThrow("missing.key");
});

test("the three files must be configured together", () => {
  const all = { RPC_TLS_CA_PATH: "ca", RPC_TLS_CERT_PATH: "cert", RPC_TLS_KEY_PATH: "key" };
  expect(tlsFiles(all)).toEqual({ ca: "ca", cert: "cert", key: "key" });
  expect(tlsFiles({})).toBeUndefined();
  expect(() => tlsFiles({ ...all, RPC_TLS_KEY_PATH: undefined })).toThrow("belong together");
});
