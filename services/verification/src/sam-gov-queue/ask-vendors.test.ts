import { describe, expect, test } from "@jest/globals";
import { effectInForce, verdictOf } from "@vvs/registration";
import { PRODUCTS_ONLY } from "../../../../test/outside/sam-gov-rows.ts";
import type { QuestionDocument } from "../questions/documents.ts";
import { playedClient, samGovForEachTest } from "../testing/sam-gov-api.ts";
import { createAskVendors } from "./ask-vendors.ts";

const NOW = new Date("2026-11-21T09:30:00.000Z");
const { http, sam } = samGovForEachTest(NOW);

const ueiOf = (index: number) => `PLAYEDUEI${String(index).padStart(3, "0")}`;
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

function question(about: { uei?: string; cage?: string }, more: Partial<QuestionDocument> = {}): QuestionDocument {
  const { uei = "", cage = "" } = about;
  const times = { wanted_at: NOW, turn: NOW, not_before: NOW };
  const _id = uei ? `uei:${uei}` : `cage:${cage}`;
  const kind = uei ? "registered" : "single";
  return { _id, uei, cage, kind, asks_exclusions: false, priority: 1, ...times, failures: 0, runs: 1, ...more };
}

function ask(questions: readonly QuestionDocument[]) {
  return createAskVendors(playedClient({ http, sam, now: NOW }))(questions, AbortSignal.timeout(20_000));
}

/** The verdict of each vendor; none where it has no answer. */
async function verdicts(questions: readonly QuestionDocument[]) {
  const settled = await ask(questions);
  return settled.map(({ answer }) => {
    if (!answer) return "none";
    const verdict = verdictOf(answer.parts, "2026-11-21")!;
    return `${verdict.outcome} ${verdict.reason}`.trim();
  });
}

const about = (indexes: readonly number[], more?: Partial<QuestionDocument>) =>
  indexes.map((index) => question({ uei: ueiOf(index) }, more));

describe("one call", () => {
  test("for a hundred registered vendors costs ten pages, and each gets its own answer", async () => {
    for (const index of range(0, 100)) sam.register({ uei: ueiOf(index), legalName: `VENDOR ${index}` });
    const settled = await ask(about(range(0, 100)));
    expect(sam.calls()).toHaveLength(10);
    expect(settled.map(({ answer }) => answer!.parts.registration!.legal_name)).toEqual(
      range(0, 100).map((index) => `VENDOR ${index}`),
    );
    expect(settled[7]!.answer).toMatchObject({ key: `uei:${ueiOf(7)}`, askedAt: NOW });
  });

  test("tells registered, unregistered and unknown vendors apart", async () => {
    sam.register({ uei: ueiOf(1) });
    sam.register({ uei: ueiOf(2), samRegistered: "No" });
    sam.register({ uei: ueiOf(3), expirationDate: "2026-11-20", status: "Inactive" });
    sam.register({ uei: ueiOf(4), exclusionFlag: "Y" });
    expect(await verdicts(about([1, 2, 3, 4, 5]))).toEqual([
      "pass",
      "fail not_registered",
      "fail expired",
      "fail excluded",
      "fail not_found",
    ]);
    expect(sam.calls("exclusions").map(({ query }) => query.ueiSAM)).toEqual([ueiOf(4)]);
  });

  test("also asks for exclusions where no file can decide, and not where those of a flag are known", async () => {
    for (const index of [1, 2]) sam.register({ uei: ueiOf(index) });
    sam.register({ uei: ueiOf(3), exclusionFlag: "Y" });
    sam.exclude({ uei: ueiOf(2) });
    const questions = about([1, 2, 3], { asks_exclusions: true, knows_exclusions: true });
    expect(await verdicts(questions)).toEqual(["pass", "fail excluded", "fail excluded"]);
    expect(sam.calls("exclusions").map(({ query }) => query.ueiSAM)).toEqual([`[${ueiOf(1)}~${ueiOf(2)}]`]);
    const [first] = await ask(questions);
    expect(first!.answer!.parts.exclusions).toMatchObject({ origin: "sam_gov_api", date: NOW, exclusions: [] });
  });

  test("asks for the rows of a flag although a file decides for the others", async () => {
    sam.register({ uei: ueiOf(1) });
    for (const index of [2, 3]) sam.register({ uei: ueiOf(index), exclusionFlag: "Y" });
    sam.exclude({ uei: ueiOf(2), agencyCode: "GSA", comments: PRODUCTS_ONLY });
    sam.exclude({ uei: ueiOf(3), agencyCode: "EPA", ctCode: "H" });
    const settled = await ask(about([1, 2, 3]));
    expect(
      settled.map(({ answer }) => answer!.parts.exclusions && effectInForce(answer!.parts.exclusions, "2026-11-21")),
    ).toEqual([undefined, "product", "facility"]);
    expect(sam.calls("exclusions").map(({ query }) => query.ueiSAM)).toEqual([`[${ueiOf(2)}~${ueiOf(3)}]`]);
  });

  test("reads no further page of a barred vendor, and asks again without it", async () => {
    for (const index of [1, 2]) sam.register({ uei: ueiOf(index), exclusionFlag: "Y" });
    for (let row = 0; row < 60; row++) sam.exclude({ uei: ueiOf(1), name: `Exclusion ${row}` });
    sam.exclude({ uei: ueiOf(2), agencyCode: "GSA", comments: PRODUCTS_ONLY });
    expect(await verdicts(about([1, 2]))).toEqual(["fail excluded", "pass"]);
    expect(sam.calls("exclusions").map(({ query }) => query.ueiSAM)).toEqual([`[${ueiOf(1)}~${ueiOf(2)}]`, ueiOf(2)]);
  });

  test("keeps what was found where the quota ends, and leaves the other questions for the next call", async () => {
    for (const index of [1, 2]) sam.register({ uei: ueiOf(index) });
    for (let row = 0; row < 12; row++) sam.exclude({ uei: ueiOf(1), name: `Exclusion ${row}` });
    sam.misbehave(
      { kind: "throttled", shape: "flat", nextAccessTime: "2026-Nov-22 00:00:00+0000 UTC" },
      { api: "exclusions", after: 1 },
    );
    const settled = await ask(about([1, 2], { asks_exclusions: true }));
    expect(settled.map(({ question }) => question.uei)).toEqual([ueiOf(1)]);
    expect(effectInForce(settled[0]!.answer!.parts.exclusions!, "2026-11-21")).toBe("bar");
  });

  test("gives no answer about a vendor whose many rows show nothing in force and no flag", async () => {
    for (const index of [1, 2]) sam.register({ uei: ueiOf(index) });
    for (let row = 0; row < 31; row++)
      sam.exclude({ uei: ueiOf(1), name: `Exclusion ${row}`, recordStatus: "Inactive" });
    expect(await verdicts(about([1, 2], { asks_exclusions: true }))).toEqual(["none", "pass"]);
  });

  test("keeps nothing of the vendors that were asked for together with one, and no key", async () => {
    for (const index of [1, 2, 3]) sam.register({ uei: ueiOf(index), legalName: `A ${sam.apiKey}` });
    const settled = await ask(about([1, 2, 3, 4]));
    for (const [index, { answer }] of settled.entries()) {
      const kept = JSON.stringify(answer);
      for (const other of [1, 2, 3, 4]) expect(kept.includes(ueiOf(other))).toBe(other === index + 1);
      expect(kept).not.toContain(sam.apiKey);
    }
  });

  test("fails as a whole where one of its pages fails", async () => {
    for (const index of range(0, 100)) sam.register({ uei: ueiOf(index) });
    sam.misbehave({ kind: "status", status: 503 }, { after: 2, calls: 1 });
    await expect(ask(about(range(0, 100)))).rejects.toMatchObject({ reason: "http_503" });
  });

  test("fails as a whole where exclusions can't be had", async () => {
    for (const index of [1, 2]) sam.register({ uei: ueiOf(index) });
    sam.misbehave({ kind: "status", status: 503 }, { api: "exclusions" });
    await expect(ask(about([1, 2], { asks_exclusions: true }))).rejects.toMatchObject({ reason: "http_503" });
  });

  test("fails where pages shift while they are read", async () => {
    const pageOf = (from: number) => ({
      totalRecords: 11,
      entityData: Array.from({ length: from === 0 ? 10 : 1 }, (_, index) => ({
        entityRegistration: { ueiSAM: ueiOf(from + index), cageCode: null },
      })),
    });
    sam.misbehave({ kind: "body", text: JSON.stringify(pageOf(0)) }, { api: "entities", calls: 1 });
    sam.misbehave({ kind: "body", text: JSON.stringify(pageOf(9)) }, { api: "entities" });
    await expect(ask(about(range(0, 12)))).rejects.toMatchObject({ reason: "wrong_shape" });
  });
});

describe("a vendor without an answer does not fail the others", () => {
  test("where its row can't be read", async () => {
    sam.register({ uei: ueiOf(1) });
    sam.register({ uei: ueiOf(2), expirationDate: "soon" });
    expect(await verdicts(about([1, 2]))).toEqual(["pass", "none"]);
  });

  test("where SAM.gov refuses the shared call because of it", async () => {
    for (const index of range(1, 6)) sam.register({ uei: ueiOf(index) });
    sam.choke(ueiOf(3));
    expect(await verdicts(about(range(1, 6)))).toEqual(range(1, 6).map(() => "pass"));
  });

  test("where SAM.gov refuses it by itself too", async () => {
    sam.register({ uei: ueiOf(1) });
    expect(await verdicts([question({ uei: "A&B" })])).toEqual(["none"]);
    sam.misbehave({ kind: "status", status: 400 });
    expect(await verdicts(about([1]))).toEqual(["none"]);
  });

  test("but not where its answer can't be read for the first time: SAM.gov may be at fault", async () => {
    sam.misbehave({ kind: "counted_without_data" });
    await expect(ask(about([1]))).rejects.toMatchObject({ reason: "wrong_shape" });
    expect(await verdicts(about([1], { failures: 5 }))).toEqual(["none"]);
  });
});

describe("a vendor that is known by its CAGE", () => {
  test("is asked for by it, and its exclusions by the UEI that it has", async () => {
    sam.register({ uei: ueiOf(1), cage: "4AB12" });
    sam.exclude({ uei: ueiOf(1) });
    expect(await verdicts([question({ cage: "4AB12" }, { asks_exclusions: true })])).toEqual(["fail excluded"]);
    expect(sam.calls("exclusions").map(({ query }) => query.ueiSAM)).toEqual([ueiOf(1)]);
  });

  test("has no answer where several UEIs have that CAGE", async () => {
    for (const index of [1, 2]) sam.register({ uei: ueiOf(index), cage: "4AB12" });
    expect(await verdicts([question({ cage: "4AB12" })])).toEqual(["none"]);
  });
});
