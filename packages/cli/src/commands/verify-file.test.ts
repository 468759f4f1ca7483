import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { parse } from "csv-parse/sync";
import { answer, type Call, type FakeApi, refuse, startApi, verificationOf } from "../testing/fake-api.ts";
import { runProgram } from "../testing/run-program.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vvs-file-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const path = (name: string) => join(folder, name);

/** Returns the UEI that a short name stands for here. */
const ueiOf = (name: string) => name.padStart(12, "0");
const nameOf = (uei: string) => uei.replace(/^0+/, "");

/** Writes a file with the UEIs of these names; returns the arguments that verify it. */
function vendors(...names: string[]): string[] {
  writeFileSync(path("in.csv"), ["uei", ...names.map(ueiOf)].join("\n"));
  return ["verify", path("in.csv"), "--out", path("out.csv"), "--parallel", "1"];
}

function results(): string[] {
  const rows: Record<string, string>[] = parse(readFileSync(path("out.csv")), { columns: true });
  return rows.map(({ uei, verification_result }) => `${nameOf(uei!)} ${verification_result}`);
}

const ueisOf = ({ calls }: FakeApi) => calls.map(({ body }) => nameOf(body.identifiers.uei));

test("every row has its result in the order of the file, and equal rows are verified once", async () => {
  await using api = await startApi((call, response) => {
    if (nameOf(call.body.identifiers.uei) === "GONE") refuse(response, 404, "entity_not_found");
    else answer(response, 200, verificationOf(call));
  });
  const args = vendors("1P", "2F", "GONE", "3X", "1P");
  const { code, stdout, stderr } = await runProgram(args, { env: api.env });
  expect([code, stderr]).toEqual([1, ""]);
  expect(stdout).toBe(`5 rows: 2 pass, 1 fail, 1 error, 1 refused. Results: ${path("out.csv")}\n`);
  expect(results()).toEqual(["1P pass", "2F fail", "GONE refused", "3X error", "1P pass"]);
  expect(ueisOf(api)).toEqual(["1P", "2F", "GONE", "3X"]);
  expect(existsSync(path("out.csv.progress"))).toBe(false);
});

test.each([
  [["1P", "2P"], 0],
  [["1P", "2X"], 5],
])("a file with %j exits with %p, and --json prints the counts", async (ueis, code) => {
  await using api = await startApi((call, response) => answer(response, 200, verificationOf(call)));
  const ended = await runProgram([...vendors(...ueis), "--json"], { env: api.env });
  expect([ended.code, JSON.parse(ended.stdout)]).toMatchObject([code, { out: path("out.csv"), rows: 2, fail: 0 }]);
});

test("a run that the service refuses stops, keeps what is done, and goes on with the same command", async () => {
  let isRevoked = true;
  await using api = await startApi((call, response) => {
    if (isRevoked && nameOf(call.body.identifiers.uei) === "2P") refuse(response, 401, "unauthorized");
    else answer(response, 200, verificationOf(call));
  });
  const stopped = await runProgram(vendors("1P", "2P", "3P"), { env: api.env });
  expect([stopped.code, stopped.stderr]).toEqual([3, expect.stringContaining("1 of 3 rows")]);
  expect(existsSync(path("out.csv"))).toBe(false);
  isRevoked = false;
  expect((await runProgram(vendors("1P", "2P", "3P"), { env: api.env })).code).toBe(0);
  expect(ueisOf(api)).toEqual(["1P", "2P", "2P", "3P"]);
  expect(results()).toEqual(["1P pass", "2P pass", "3P pass"]);
});

test("after Ctrl-C a call that was in flight is repeated with its Idempotency-Key", async () => {
  const aborting = new AbortController();
  await using api = await startApi((call, response) => {
    if (nameOf(call.body.identifiers.uei) === "2P" && !aborting.signal.aborted) aborting.abort();
    else answer(response, 200, verificationOf(call));
  });
  const args = vendors("1P", "2P");
  expect((await runProgram(args, { env: api.env, signal: aborting.signal })).code).toBe(130);
  expect((await runProgram(args, { env: api.env })).code).toBe(0);
  const [, second, repeated] = api.calls;
  expect(ueisOf(api)).toEqual(["1P", "2P", "2P"]);
  expect(repeated!.idempotencyKey).toBe(second!.idempotencyKey);
});

test("a killed process verifies nothing twice when it is started again", async () => {
  const reached = Promise.withResolvers<void>();
  let isHeld = true;
  await using api = await startApi((call: Call, response) => {
    if (!isHeld || nameOf(call.body.identifiers.uei) !== "3P") return answer(response, 200, verificationOf(call));
    reached.resolve();
  });
  const args = vendors("1P", "2P", "3P");
  const main = join(import.meta.dirname, "..", "main.ts");
  const killed = spawn(process.execPath, [main, ...args], { env: { ...process.env, ...api.env }, stdio: "inherit" });
  const ended = new Promise((resolve) => killed.once("exit", resolve));
  await reached.promise;
  killed.kill("SIGKILL");
  await ended;
  isHeld = false;
  expect((await runProgram(args, { env: api.env })).code).toBe(0);
  expect(ueisOf(api)).toEqual(["1P", "2P", "3P", "3P"]);
  expect(new Set(api.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
  expect(results()).toEqual(["1P pass", "2P pass", "3P pass"]);
});

test("a run stays within the limit that the service reports", async () => {
  let left = 3;
  const answered: string[] = [];
  await using api = await startApi((call, response) => {
    const isRefused = left === 0;
    if (!isRefused && --left === 0) setTimeout(() => (left = 3), 500);
    const headers = { "X-RateLimit-Remaining": String(left), "X-RateLimit-Reset": "1", "Retry-After": "1" };
    answered.push(isRefused ? "refused" : "answered");
    if (isRefused) refuse(response, 429, "rate_limited", { headers });
    else answer(response, 200, verificationOf(call), headers);
  });
  const args = [...vendors("1P", "2P", "3P", "4P", "5P").slice(0, -1), "4"];
  expect((await runProgram(args, { env: api.env })).code).toBe(0);
  expect(answered).toEqual(Array(5).fill("answered"));
  expect(results()).toHaveLength(5);
});

test("a row that can't be right is refused by its row and column, without a call", async () => {
  await using api = await startApi((call, response) => answer(response, 200, verificationOf(call)));
  writeFileSync(
    path("in.csv"),
    `Vendor Name;Tax ID;UEI\r\nAcme;1234567;${ueiOf("1P")}\r\nBeta;N/A;${ueiOf("2P")}\r\nGamma;;\r\n`,
  );
  const args = ["verify", path("in.csv"), "--out", path("out.csv")];
  expect((await runProgram(args, { env: api.env })).code).toBe(5);
  expect(ueisOf(api)).toEqual(["2P"]);
  const rows: Record<string, string>[] = parse(readFileSync(path("out.csv")), { columns: true, delimiter: ";" });
  expect(rows.map(({ verification_result: result, verification_error: error }) => [result, error])).toEqual([
    ["refused", 'Row 2, "Tax ID" must be 9 digits: a spreadsheet may have dropped leading zeros'],
    ["pass", ""],
    ["refused", "no identifier: a name is not enough"],
  ]);
});

test.each([
  ["", "The file is empty"],
  ["Note,Phone\nA,B\n", "names no column by which a vendor can be found"],
  ['uei\n"U1\n', "Row 2 begins a quoted cell that never ends"],
])("the file %j can't be used", async (text, message) => {
  await using api = await startApi((call, response) => answer(response, 200, verificationOf(call)));
  writeFileSync(path("in.csv"), text);
  const { code, stderr } = await runProgram(["verify", path("in.csv"), "--out", path("out.csv")], { env: api.env });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test("existing results are never overwritten", async () => {
  await using api = await startApi((call, response) => answer(response, 200, verificationOf(call)));
  const args = vendors("1P");
  writeFileSync(path("out.csv"), "mine");
  const { code, stderr } = await runProgram(args, { env: api.env });
  expect([code, stderr]).toEqual([2, expect.stringContaining("exists already")]);
  expect([readFileSync(path("out.csv"), "utf8"), api.calls.length]).toEqual(["mine", 0]);
});

test("the column vendor_number arrives as the external_id of each verified vendor, and says where it was not saved", async () => {
  await using api = await startApi((call, response) => {
    if (call.method === "POST") return answer(response, 200, verificationOf(call));
    if (call.body.external_id === "V-3") return refuse(response, 400, "invalid_request");
    answer(response, 200, { id: call.path.split("/")[3] });
  });
  const given = [
    ["V-1", "1P"],
    ["V-2", "2P"],
    ["V-3", "3P"],
    ["", "4P"],
    ["V-9", "1P"],
  ];
  const lines = given.map(([number, name]) => `${number},${ueiOf(name!)}`);
  writeFileSync(path("in.csv"), ["Vendor Number,uei", ...lines].join("\n"));
  const args = ["verify", path("in.csv"), "--out", path("out.csv"), "--parallel", "1"];
  expect((await runProgram(args, { env: api.env })).code).toBe(5);
  const saved = api.calls.filter(({ method }) => method === "PUT");
  expect(saved.map((call) => [call.path, call.body])).toEqual([
    [`/v1/entities/ent_${ueiOf("1P")}/external_id`, { external_id: "V-1" }],
    [`/v1/entities/ent_${ueiOf("2P")}/external_id`, { external_id: "V-2" }],
    [`/v1/entities/ent_${ueiOf("3P")}/external_id`, { external_id: "V-3" }],
  ]);
  const rows: Record<string, string>[] = parse(readFileSync(path("out.csv")), { columns: true });
  expect(rows.map((row) => [row["Vendor Number"], row.verification_result, row.vendor_number_error])).toEqual([
    ["V-1", "pass", ""],
    ["V-2", "pass", ""],
    ["V-3", "pass", "invalid_request: Refused: invalid_request."],
    ["", "pass", ""],
    ["V-9", "pass", "not saved: an earlier row gives this vendor the number V-1"],
  ]);
});

test("a run that ends while vendor numbers are saved goes on with the same command", async () => {
  let isDown = true;
  await using api = await startApi((call, response) => {
    if (call.method === "POST") answer(response, 200, verificationOf(call));
    else if (isDown) refuse(response, 401, "unauthorized");
    else answer(response, 200, { id: "ent_1P" });
  });
  writeFileSync(path("in.csv"), `external_id,uei\nV-1,${ueiOf("1P")}`);
  const args = ["verify", path("in.csv"), "--out", path("out.csv")];
  expect((await runProgram(args, { env: api.env })).code).toBe(3);
  isDown = false;
  expect((await runProgram(args, { env: api.env })).code).toBe(0);
  expect(api.calls.map(({ method }) => method)).toEqual(["POST", "PUT", "PUT"]);
});
