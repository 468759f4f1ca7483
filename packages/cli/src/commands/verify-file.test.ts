import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { textRow, workbook } from "@vvs/vendor-files/testing";
import { parse } from "csv-parse/sync";
import { startJobApi } from "../testing/fake-jobs.ts";
import { runProgram } from "../testing/run-program.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vvs-file-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const path = (name: string) => join(folder, name);
const ueiOf = (name: string) => name.padStart(12, "0");

/** Writes a file; returns the arguments that verify it. */
function file(text: string | Buffer): string[] {
  writeFileSync(path("in.csv"), text);
  return ["verify", path("in.csv"), "--out", path("out.csv")];
}

/** Writes a file with the UEIs of these names, numbered from V-1; returns the arguments that verify it. */
const vendors = (...names: string[]) =>
  file(["Vendor Number,uei", ...names.map((name, index) => `V-${index + 1},${ueiOf(name)}`)].join("\n"));

const unnumbered = (...names: string[]) => file(["uei", ...names.map(ueiOf)].join("\n"));

function results(delimiter = ","): Record<string, string>[] {
  return parse(readFileSync(path("out.csv")), { columns: true, delimiter, bom: true });
}

/** Returns the arguments of the command that is printed at the end of a text. */
const commandIn = (text: string) => /vendor-verification (.+)\n$/.exec(text)![1]!.split(" ");

const outcomes = () => results().map((row) => `${row["Vendor Number"]} ${row.outcome}`);

test("every row comes back with all its columns and its result, and rows that can't be right are reported and not sent", async () => {
  await using api = await startJobApi();
  const text = [
    "Vendor Name;Tax ID;UEI;Note;Vendor ID",
    `Acme;12-3456780;${ueiOf("1P")};=1+1;V-1`,
    `Beta;1234567;${ueiOf("2P")};"a;b";V-2`,
    "Gamma;;;;V-3",
    `Delta;N/A;${ueiOf("3F")};;V-4`,
  ].join("\r\n");
  const { code, stdout, stderr } = await runProgram(file(text), { env: api.env });
  const problem = 'Row 3, "Tax ID" must be 9 digits: a spreadsheet may have dropped leading zeros';
  expect(stderr.split("\n").slice(0, 3)).toEqual([
    `${problem}.`,
    "1 of 4 rows can't be verified: their outcome is invalid.",
    "job_1: 3 vendors.",
  ]);
  expect([code, stdout]).toEqual([1, `4 rows: 1 pay, 1 hold, 2 review. Results: ${path("out.csv")}\n`]);
  expect(api.calls[0]!.body).toEqual({
    checks: ["sam_registration"],
    mode: "realtime",
    vendors: [
      { external_id: "V-1", identifiers: { tin: "123456780", uei: ueiOf("1P") }, legal_name: "Acme" },
      { external_id: "V-3", legal_name: "Gamma" },
      { external_id: "V-4", identifiers: { uei: ueiOf("3F") }, legal_name: "Delta" },
    ],
  });
  const given = (name: string, tin: string, uei: string, note: string, number: string) => ({
    "Vendor Name": name,
    "Tax ID": tin,
    UEI: uei,
    Note: note,
    "Vendor ID": number,
  });
  const none = { registry_name: "", asked_tin: "", asked_name: "", expires_on: "", evidence: "" };
  const found = (name: string) => ({
    registry_name: "ACME INC",
    asked_tin: "****6780",
    asked_name: name,
    expires_on: "2099-03-31",
  });
  const evidence = (index: number) => `http://api.example/v1/evidence/evd_${index}`;
  expect(results(";")).toEqual([
    {
      ...given("Acme", "****6780", ueiOf("1P"), "'=1+1", "V-1"),
      ...{ outcome: "pass", decision: "pay", ...found("Acme"), reasons: "", evidence: evidence(0) },
    },
    {
      ...given("Beta", "****", ueiOf("2P"), "a;b", "V-2"),
      ...{ outcome: "invalid", decision: "review", ...none, reasons: problem },
    },
    {
      ...given("Gamma", "", "", "", "V-3"),
      ...{ outcome: "ambiguous", decision: "review", ...none, reasons: "may be ent_9 (Acme Two)" },
    },
    {
      ...given("Delta", "N/A", ueiOf("3F"), "", "V-4"),
      ...{
        outcome: "fail",
        decision: "hold",
        ...found("Delta"),
        reasons: "expired; other_name",
        evidence: evidence(2),
      },
    },
  ]);
});

test.each([
  [["1P", "2P"], 0],
  [["1P", "2X"], 5],
  [["1F", "2X"], 1],
])("a file with %j exits with %p, and --json prints one value with the numbers", async (names, code) => {
  await using api = await startJobApi();
  const ended = await runProgram([...vendors(...names), "--json"], { env: api.env });
  const numbers = { job_id: "job_1", out: path("out.csv"), rows: 2, open: 0 };
  expect([ended.code, ended.stderr, JSON.parse(ended.stdout)]).toMatchObject([code, "", numbers]);
});

test("after Ctrl-C the printed command continues the same job", async () => {
  const aborting = new AbortController();
  await using api = await startJobApi({ onLook: () => aborting.abort() });
  const stopped = await runProgram(vendors("1P", "2P", "3P"), { env: api.env, signal: aborting.signal });
  const again = `vendor-verification verify ${path("in.csv")} --out ${path("out.csv")} --job job_1.`;
  const message = `Stopped, but job_1 goes on. For its results: ${again}`;
  expect([stopped.code, stopped.stdout]).toEqual([130, expect.stringContaining(message)]);
  expect(existsSync(path("out.csv"))).toBe(false);
  expect((await runProgram(commandIn(stopped.stdout), { env: api.env })).code).toBe(0);
  expect(outcomes()).toEqual(["V-1 pass", "V-2 pass", "V-3 pass"]);
  expect(api.calls.filter(({ method }) => method === "POST")).toHaveLength(1);
});

test("Ctrl-C while the list is sent still gets the id of the job", async () => {
  await using api = await startJobApi();
  const args = [...vendors("1P"), "--json"];
  const stopped = await runProgram(args, { env: api.env, signal: AbortSignal.abort() });
  const job = expect.stringMatching(/^job_1\../);
  expect([stopped.code, JSON.parse(stopped.stdout)]).toEqual([130, { job_id: "job_1", job }]);
});

test("a list whose start has an unknown outcome is started only once, with the key that is printed", async () => {
  await using api = await startJobApi({ losesStart: true });
  const args = vendors("1P", "2P");
  const lost = await runProgram(args, { env: api.env });
  const [option] = /--idempotency-key \S+/.exec(lost.stderr)!;
  expect([lost.code, (await runProgram([...args, ...option.split(" ")], { env: api.env })).code]).toEqual([4, 0]);
  const [first, second] = api.calls;
  expect(second).toEqual(first);
});

test("a service that refuses the key meanwhile is reported with the command that continues", async () => {
  await using api = await startJobApi({ refusal: [401, "unauthorized"] });
  const { code, stdout, stderr } = await runProgram(vendors("1P"), { env: api.env });
  expect([code, stdout]).toEqual([3, expect.stringContaining("--job job_1")]);
  expect(stderr).toContain("Refused: unauthorized.");
});

test("a job that the key can't see is one line", async () => {
  await using api = await startJobApi({ refusal: [404, "job_not_found"] });
  const started = await runProgram([...vendors("1P"), "--no-wait"], { env: api.env });
  const again = commandIn(started.stdout).with(3, path("out.csv"));
  const { code, stdout, stderr } = await runProgram(again, { env: api.env });
  expect([code, stdout, stderr]).toEqual([3, "", "Refused: job_not_found. (request req_1)\n"]);
});

test("a job is continued only with the vendors and the order it was started with", async () => {
  await using api = await startJobApi();
  const { stdout } = await runProgram([...unnumbered("1P", "2F"), "--no-wait", "--json"], { env: api.env });
  const { job } = JSON.parse(stdout);
  const continued = (args: string[], given = job) => runProgram([...args, "--job", given], { env: api.env });
  const refused = { code: 2, stdout: "", stderr: expect.stringContaining("Give --job whole, as it was printed") };
  for (const names of [["2F", "1P"], ["1P"], ["1P", "3F"]]) {
    expect(await continued(unnumbered(...names))).toMatchObject(refused);
  }
  expect(await continued(unnumbered("1P", "2F"), job.replace("job_1", "job_2"))).toMatchObject(refused);
  expect(existsSync(path("out.csv"))).toBe(false);
  expect(await continued(unnumbered("1P", "2F"))).toMatchObject({ code: 1 });
  expect(results().map(({ decision }) => decision)).toEqual(["pay", "hold"]);
});

test("the id alone continues a job, with a warning, if the file has as many vendors and their numbers match", async () => {
  await using api = await startJobApi();
  const { stdout } = await runProgram([...vendors("1P", "2F"), "--no-wait", "--json"], { env: api.env });
  const continued = (args: string[]) => runProgram([...args, "--job", JSON.parse(stdout).job_id], { env: api.env });
  const fewer = await continued(vendors("1P"));
  expect(fewer).toMatchObject({ code: 2, stderr: expect.stringContaining("job_1 has 2 vendors") });
  const sorted = await continued(file(`vendor number,uei\nV-2,${ueiOf("2F")}\nV-1,${ueiOf("1P")}\n`));
  const message = "Row 2 was vendor V-1 when the job was started";
  expect(sorted).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  expect(existsSync(path("out.csv"))).toBe(false);
  const stderr = expect.stringContaining("Warning: an id alone does not prove");
  expect(await continued(vendors("1P", "2F"))).toMatchObject({ code: 1, stderr });
  expect(outcomes()).toEqual(["V-1 pass", "V-2 fail"]);
  rmSync(path("out.csv"));
  const warned = await continued([...vendors("1P", "2F"), "--json"]);
  expect(JSON.parse(warned.stderr)).toEqual({ warning: expect.stringContaining("an id alone") });
});

test("results of a list from the dashboard go to the rows with their numbers", async () => {
  await using api = await startJobApi({ fileRows: [2, 4, 5] });
  const list = (...lines: string[]) => file(["uei", ...lines].join("\n"));
  const [one, two, three] = [ueiOf("1P"), ueiOf("2F"), ueiOf("3P")];
  await runProgram([...list(one, "", two, three).slice(0, 2), "--no-wait"], { env: api.env });
  const continued = (args: string[]) => runProgram([...args, "--job", "job_1"], { env: api.env });
  const stderr = expect.stringContaining("job_1 has a row 4, but");
  expect(await continued(list(one, two, "", three))).toMatchObject({ code: 2, stderr });
  expect(await continued(list(one, two))).toMatchObject({ code: 2 });
  expect(existsSync(path("out.csv"))).toBe(false);
  expect(await continued(list(one, "", two, three))).toMatchObject({ code: 1 });
  expect(results().map(({ decision }) => decision)).toEqual(["pay", "hold", "pay"]);
});

test("a row of a list from the dashboard that can't be verified has its result too", async () => {
  await using api = await startJobApi({ fileRows: [2, 3] });
  const list = (uei: string) => file(`Vendor Number,uei\nV-1,${uei}\nV-2,${ueiOf("2F")}\n`);
  await runProgram([...list(ueiOf("1X")).slice(0, 2), "--no-wait"], { env: api.env });
  const { code } = await runProgram([...list("short"), "--job", "job_1"], { env: api.env });
  expect([code, outcomes()]).toEqual([1, ["V-1 ambiguous", "V-2 fail"]]);
});

test("--no-wait starts a job, and with --job writes what it has by now", async () => {
  await using api = await startJobApi({ stopsAfter: 1 });
  const [verb, input] = vendors("1P", "2W");
  const named = await runProgram([verb!, input!, "--no-wait", "--out", path("own.csv")], { env: api.env });
  expect([named.stdout, existsSync(path("own.csv"))]).toEqual([
    expect.stringContaining(`--out ${path("own.csv")} --job job_1.`),
    false,
  ]);
  const started = await runProgram([verb!, input!, "--no-wait", "--monitor", "weekly"], { env: api.env });
  const again = `vendor-verification verify ${input} --out results.csv --job job_1.`;
  const message = `job_1 is started. For its results: ${again}`;
  expect(started).toMatchObject({ code: 0, stdout: expect.stringContaining(message) });
  expect(api.calls[1]!.body.monitor).toEqual({ frequency: "weekly" });
  const args = [...commandIn(started.stdout).with(3, path("out.csv")), "--no-wait"];
  const { code, stdout } = await runProgram(args, { env: api.env });
  expect([code, stdout]).toEqual([5, expect.stringMatching(/^2 rows: 1 pay, 0 hold, 0 review, 1 without a result\./)]);
  expect(outcomes()).toEqual(["V-1 pass", "V-2 "]);
});

test.each([
  ["", "The file is empty"],
  ["Note,Phone\nA,B\n", "names no column by which a vendor can be found"],
  ['uei\n"U1\n', "Row 2 begins a quoted cell that never ends"],
  ["uei\nshort\n", "has no row that can be verified"],
  [`uei${"\nSANDBXACTVE1".repeat(10_001)}`, "The list has more than 10000 rows. Split it."],
])("the file %# can't be used, and nothing is sent", async (text, message) => {
  await using api = await startJobApi();
  const { code, stderr } = await runProgram(file(text), { env: api.env });
  expect([code, stderr, api.calls.length]).toEqual([2, expect.stringContaining(message), 0]);
});

test("a workbook whose first sheet is no list is refused, with the name of the sheet that was read", async () => {
  await using api = await startJobApi();
  const sheets = `<workbook><sheets><sheet name="Cover" r:id="rId2"/><sheet name="Vendors" r:id="rId1"/></sheets></workbook>`;
  const args = file(workbook(textRow("How to fill in this form"), { parts: { "xl/workbook.xml": sheets } }));
  const { code, stderr } = await runProgram(args, { env: api.env });
  const reason = /names no column .* Legal name\. Only the first of 2 sheets was read: Cover\.\n/;
  expect([code, stderr, api.calls.length]).toEqual([2, expect.stringMatching(reason), 0]);
});

test("existing results are never overwritten", async () => {
  await using api = await startJobApi();
  const args = vendors("1P");
  writeFileSync(path("out.csv"), "mine");
  const { code, stderr } = await runProgram(args, { env: api.env });
  expect([code, stderr]).toEqual([2, expect.stringContaining("exists already")]);
  expect([readFileSync(path("out.csv"), "utf8"), api.calls.length]).toEqual(["mine", 0]);
});

test("results that have no folder to go to are refused before anything is sent", async () => {
  await using api = await startJobApi();
  const [verb, input] = vendors("1P");
  const { code, stderr } = await runProgram([verb!, input!, "--out", path("none/out.csv")], { env: api.env });
  expect([code, stderr, api.calls]).toEqual([2, expect.stringContaining(`There is no folder ${path("none")}`), []]);
});

test("results that can't be written leave the command that writes them again", async () => {
  await using api = await startJobApi();
  const args = vendors("1P");
  mkdirSync(path("out.csv.unfinished"));
  const { code, stdout, stderr } = await runProgram(args, { env: api.env });
  expect([code, stderr]).toEqual([2, expect.stringContaining("The results can't be written")]);
  rmSync(path("out.csv.unfinished"), { recursive: true });
  await runProgram(commandIn(stdout), { env: api.env });
  expect(outcomes()).toEqual(["V-1 pass"]);
});
