import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { answer, startApi } from "../testing/fake-api.ts";
import { runProgram } from "../testing/run-program.ts";

const folder = mkdtempSync(join(tmpdir(), "vvs-receipt-"));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string) => join(folder, name);
const write = (name: string, content: unknown) => {
  writeFileSync(path(name), typeof content === "string" ? content : JSON.stringify(content));
  return path(name);
};

const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, 1)]);
const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
const { x } = createPublicKey(key).export({ format: "jwk" });
const jwks = { keys: [{ kty: "OKP", crv: "Ed25519", x, kid: "k1", use: "sig", alg: "EdDSA" }] };
const details = {
  ...{ registration_status: "active", expiration_date: "2027-03-31", legal_name: "ACME LLC" },
  ...{ exclusions: [{ program: "Reciprocal", effect: "product" }], data_as_of: "2026-11-02T00:00:00.000Z" },
};
const results = [
  {
    check_type: "sam_registration",
    status: "pass",
    origin: "sam_gov_extract",
    evidence_uri: "https://a/v1/evidence/evd_1",
    details,
  },
  {
    check_type: "tin_match",
    status: "error",
    reason: "missing_tin",
    origin: "none",
    evidence_uri: "https://a/v1/evidence/evd_2",
  },
];
const sources = [
  {
    part: "registration",
    origin: "sam_gov_extract",
    data_as_of: "2026-11-02T00:00:00.000Z",
    file: "M.dat",
    sha256: "cd".repeat(32),
  },
];
const claims = {
  ...{ iss: "https://api.example.com", sub: "ver_1", iat: 1, environment: "live" },
  verification: {
    id: "ver_1",
    entity_id: "ent_1",
    overall_result: "error",
    results,
    created_at: "2026-11-21T09:30:00.000Z",
  },
  evidence: [{ id: "evd_1", check_type: "sam_registration", sha256: "ab".repeat(32), sources }],
};

function receiptOf(payload: object, header: object = {}): string {
  const parts = [{ alg: "EdDSA", kid: "k1", typ: "verification-receipt+jwt", ...header }, payload];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${signed}.${sign(null, Buffer.from(signed), key).toString("base64url")}`;
}
const receipt = receiptOf(claims);

test("a receipt is checked without a key and a connection, and says what it proves", async () => {
  const args = ["receipt", "check", write("receipt.jwt", `${receipt}\n`), "--keys", write("keys.json", jwks)];
  const { code, stdout, stderr } = await runProgram(args);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).not.toContain("Test environment");
  for (const line of [
    "The receipt is genuine",
    "Signed by     https://api.example.com",
    "Verified      2026-11-21T09:30:00.000Z",
    "sam_registration  pass",
    "  Name            ACME LLC",
    "  Exclusions      Reciprocal, product",
    `  SHA-256         ${"ab".repeat(32)}`,
    "  registration    M.dat  2026-11-02T00:00:00.000Z",
    `  SHA-256         ${"cd".repeat(32)}`,
    "tin_match   error, missing_tin",
    "  Evidence  was no longer kept",
  ]) {
    expect(stdout).toContain(line);
  }
  expect(JSON.parse((await runProgram([...args, "--json"])).stdout)).toEqual(claims);
});

test("a receipt of the sandbox is said to prove nothing about a real vendor", async () => {
  const file = write("sandbox.jwt", receiptOf({ ...claims, environment: "sandbox" }));
  const { stdout } = await runProgram(["receipt", "check", file, "--keys", write("keys.json", jwks)]);
  expect(stdout).toContain("It proves nothing about a real vendor.");
});

const [head, , signature] = receipt.split(".");
const payload = Buffer.from(JSON.stringify({ ...claims, environment: "sandbox" })).toString("base64url");
test.each([
  ["altered", `${head}.${payload}.${signature}`, "The receipt was altered, or was not signed by the service"],
  ["of an unknown key", receiptOf(claims, { kid: "k9" }), "not among these keys"],
  ["that is none", "hello", "This is not a receipt of the service."],
])("a receipt %s exits with 1 and one line", async (_what, text, message) => {
  const args = ["receipt", "check", write("forged.jwt", text), "--keys", write("keys.json", jwks)];
  const { code, stdout, stderr } = await runProgram(args);
  expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining(message)]);
  expect(stderr.trim()).not.toContain("\n");
});

test("files that can't be used are named", async () => {
  const file = write("receipt.jwt", receipt);
  for (const [args, message] of [
    [[path("absent.jwt"), "--keys", "k"], `There is no file ${path("absent.jwt")}.`],
    [[file, "--keys", path("absent.json")], `There is no file ${path("absent.json")}.`],
    [[file, "--keys", file], `${file} is not JSON.`],
    [[file, "--keys", write("none.json", {})], "These are not the keys of the service."],
  ] as const) {
    const { code, stderr } = await runProgram(["receipt", "check", ...args]);
    expect([code, stderr]).toEqual([2, `${message}\n`]);
  }
});

test("the service gives the receipt, once into a file, and the keys", async () => {
  await using api = await startApi(({ path }, response) => {
    if (path === "/.well-known/jwks.json") return answer(response, 200, jwks);
    if (path !== "/v1/verifications/ver_1/receipt") return answer(response, 404, {});
    response.writeHead(200, { "Content-Type": "application/jwt" }).end(receipt);
  });
  const options = { env: api.env };
  expect(await runProgram(["receipt", "get", "ver_1"], options)).toEqual({
    code: 0,
    stdout: `${receipt}\n`,
    stderr: "",
  });
  const toFile = ["receipt", "get", "ver_1", "--out", path("new.jwt")];
  expect(await runProgram(toFile, options)).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(readFileSync(path("new.jwt"), "utf8")).toBe(`${receipt}\n`);
  expect(await runProgram(toFile, options)).toMatchObject({ code: 2, stderr: `${path("new.jwt")} exists already.\n` });

  expect((await runProgram(["receipt", "check", path("new.jwt")], options)).code).toBe(0);
  const url = `${api.url}/.well-known/jwks.json`;
  expect((await runProgram(["receipt", "check", path("new.jwt"), "--keys", url])).code).toBe(0);
  const elsewhere = await runProgram(["receipt", "check", path("new.jwt"), "--keys", `${api.url}/keys`]);
  expect(elsewhere).toMatchObject({ code: 2, stderr: `${api.url}/keys answers 404.\n` });
});
