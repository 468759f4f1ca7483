import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "@jest/globals";
import { settingsFile } from "../config.ts";
import { answer, refuse, startApi, TEST_KEY } from "../testing/fake-api.ts";
import { runProgram } from "../testing/run-program.ts";

const env = { HOME: mkdtempSync(join(tmpdir(), "vvs-login-")) };
beforeEach(() => rmSync(settingsFile(env), { force: true }));
afterAll(() => rmSync(env.HOME, { recursive: true }));

test("stores the key of stdin after a call with it, and shows only its end", async () => {
  await using api = await startApi((_call, response) => answer(response, 200, { providers: [] }));
  const args = ["login", "--base-url", `${api.url}/`];
  const { code, stdout } = await runProgram(args, { env, stdin: `${TEST_KEY}\n` });
  expect([code, api.calls[0]!.key]).toEqual([0, TEST_KEY]);
  expect(JSON.parse(readFileSync(settingsFile(env), "utf8"))).toEqual({ baseUrl: api.url, apiKey: TEST_KEY });
  expect(stdout).toContain("svc_test_…aaaa");
  expect(stdout).not.toContain(TEST_KEY);
});

test.each([
  `export VVS_API_KEY=${TEST_KEY}`,
  `API_KEY="${TEST_KEY}"  # sandbox key`,
  `  '${TEST_KEY}' \r\n`,
  `BASE_URL=http://localhost:8080\nexport API_KEY=${TEST_KEY} # comment\n`,
])("stores only the key of %j", async (stdin) => {
  await using api = await startApi((_call, response) => answer(response, 200, { providers: [] }));
  expect((await runProgram(["login", "--base-url", api.url], { env, stdin })).code).toBe(0);
  expect(JSON.parse(readFileSync(settingsFile(env), "utf8"))).toEqual({ baseUrl: api.url, apiKey: TEST_KEY });
});

test("a key that may not list providers is stored too", async () => {
  await using api = await startApi((_call, response) => refuse(response, 403, "forbidden"));
  expect((await runProgram(["login", "--base-url", api.url], { env, stdin: TEST_KEY })).code).toBe(0);
});

test.each<[string, string | undefined, number, string]>([
  ["a key that the service refuses", TEST_KEY, 3, "Refused: unauthorized."],
  ["text that is no key", "svc_test_short", 2, "This is not an API key"],
  ["a longer text", `${TEST_KEY}a`, 2, "This is not an API key"],
  ["no key", "", 2, "This is not an API key"],
])("%s is not stored", async (_name, stdin, code, message) => {
  await using api = await startApi((_call, response) => refuse(response, 401, "unauthorized"));
  const ended = await runProgram(["login", "--base-url", api.url], { env, stdin });
  expect([ended.code, ended.stderr, existsSync(settingsFile(env))]).toEqual([
    code,
    expect.stringContaining(message),
    false,
  ]);
});

test("an address is required, and must be one", async () => {
  for (const args of [["login"], ["login", "--base-url", "here"]]) {
    expect((await runProgram(args, { env, stdin: TEST_KEY })).code).toBe(2);
  }
});
