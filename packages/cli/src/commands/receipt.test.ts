import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { receiptClaims as claims, receiptKey } from "../../../../test/support/receipts.ts";
import { answer, startApi } from "../testing/fake-api.ts";
import { runProgram } from "../testing/run-program.ts";

const folder = mkdtempSync(join(tmpdir(), "vvs-receipt-"));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string) => join(folder, name);
const write = (name: string, content: unknown) => {
  writeFileSync(path(name), typeof content === "string" ? content : JSON.stringify(content));
  return path(name);
};

const { jwk, sign: receiptOf } = receiptKey();
const jwks = { keys: [jwk] };
const receipt = receiptOf(claims);

test("a receipt is checked without a key and a connection, and says what it proves", async () => {
  const args = ["receipt", "check", write("receipt.jwt", `${receipt}\n`), "--keys", write("keys.json", jwks)];
  const { code, stdout, stderr } = await runProgram(args);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).not.toContain("Test environment");
  for (const line of [
    "The receipt is genuine",
    "Signed by     https://api.acme.example",
    "Verified      2026-11-21T09:30:00.000Z",
    "sam_registration  fail, excluded",
    "  Name            <Acme> LLC",
    "  Exclusions      Reciprocal, bar",
    `  SHA-256         ${"ab".repeat(32)}`,
    "  registration    MONTHLY.dat  2026-11-02T00:00:00.000Z",
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
