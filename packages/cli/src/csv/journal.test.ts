import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "@jest/globals";
import type { VerifyRequest } from "@vendor-verification/client";
import { UsageError } from "../exit-codes.ts";
import { openJournal, type RunIdentity } from "./journal.ts";

const folder = mkdtempSync(join(tmpdir(), "vvs-journal-"));
const file = join(folder, "out.csv.progress");
const identity: RunIdentity = {
  base_url: "https://api.example",
  environment: "sandbox",
  checks: ["sam_registration"],
  mode: "realtime",
};
const request = (uei: string): VerifyRequest => ({
  identifiers: { uei },
  checks: ["sam_registration"],
  mode: "cached",
});
const refusal = { refusal: { code: "entity_not_found", message: "There is none." } };

beforeEach(() => rmSync(file, { force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

test("a continued run has the outcomes and the keys of the first one", () => {
  const first = openJournal(file, identity);
  const key = first.keyOf(request("A"));
  first.record(key, refusal);
  const second = openJournal(file, identity);
  expect([first.isResumed, second.isResumed]).toEqual([false, true]);
  expect(second.keyOf(request("A"))).toBe(key);
  expect(second.keyOf(request("B"))).not.toBe(key);
  expect([second.outcomeOf(key), second.outcomeOf(second.keyOf(request("B")))]).toEqual([refusal, undefined]);
});

test("another run has other keys, so that it verifies again", () => {
  const first = openJournal(file, identity);
  first.remove();
  expect(openJournal(file, identity).keyOf(request("A"))).not.toBe(first.keyOf(request("A")));
});

test("a line that a crash left incomplete is dropped, and the next one is whole", () => {
  const first = openJournal(file, identity);
  const [one, two] = [first.keyOf(request("A")), first.keyOf(request("B"))];
  first.record(one, refusal);
  appendFileSync(file, `{"key":"${two}","refu`);
  const second = openJournal(file, identity);
  expect([second.outcomeOf(one), second.outcomeOf(two)]).toEqual([refusal, undefined]);
  second.record(two, refusal);
  expect(openJournal(file, identity).outcomeOf(two)).toEqual(refusal);
});

test("a crash during the first line begins a new run", () => {
  writeFileSync(file, '{"run_id":');
  expect(openJournal(file, identity).isResumed).toBe(false);
});

test.each([
  ["base_url", "https://other.example"],
  ["environment", "live"],
  ["mode", "cached"],
  ["checks", ["tin_match"]],
])("a run can't be continued with another %s", (name, value) => {
  openJournal(file, identity);
  expect(() => openJournal(file, { ...identity, [name]: value })).toThrow(UsageError);
});

test("a damaged file is refused and kept", () => {
  openJournal(file, identity);
  appendFileSync(file, "x\n");
  expect(() => openJournal(file, identity)).toThrow("damaged");
  expect(readFileSync(file, "utf8")).toContain("x\n");
});
