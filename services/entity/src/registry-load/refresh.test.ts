import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { addDays, registryDay } from "@vvs/registration";
import { startScript, temporaryFolder, zip } from "@vvs/testing";
import { type PlayedSamGovFiles, playSamGovFiles } from "../../../../test/outside/sam-gov-files.ts";
import { startTestApplication } from "../testing/application.ts";
import { refreshExitCodes, wantedFiles } from "./refresh.ts";
import { exclusionsText, extractRowText, extractText, ordinalDay } from "./testing/registry-files.ts";

const app = await startTestApplication();

describe("requested files", () => {
  test.each([
    ["exclusions", undefined, "2026-09-15", ["2026-09-15", "2026-09-14", "2026-09-13", "2026-09-12"]],
    ["exclusions", "2026-09-14", "2026-09-15", ["2026-09-15"]],
    ["exclusions", "2026-09-15", "2026-09-15", []],
    ["exclusions", "2026-08-01", "2026-09-01", ["2026-09-01", "2026-08-31", "2026-08-30", "2026-08-29"]],
    ["registry", undefined, "2026-09-15", ["2026-09", "2026-08"]],
    // The first Sunday of September 2026 is the 6th.
    ["registry", undefined, "2026-09-05", ["2026-08", "2026-07"]],
    ["registry", "2026-08-02", "2026-09-05", []],
    ["registry", "2026-08-02", "2026-09-06", ["2026-09"]],
    ["registry", "2026-07-05", "2026-09-06", ["2026-09", "2026-08"]],
    ["registry", "2026-09-06", "2026-09-30", []],
    ["registry", "2025-12-07", "2026-01-04", ["2026-01"]],
    ["registry", undefined, "2026-01-03", ["2025-12", "2025-11"]],
  ] as const)("of %s with %s loaded on %s are %j", (kind, newest, today, dates) => {
    const wanted = wantedFiles(kind, newest, today);
    expect(wanted).toEqual(dates.map((date) => ({ kind, date })));
  });
});

test.each([
  ["exclusions", "2026-09-14", "2026-09-15", ["2026-09-15", "2026-09-14"]],
  ["exclusions", "2026-09-01", "2026-09-15", ["2026-09-15", "2026-09-14", "2026-09-13", "2026-09-12"]],
  ["registry", "2026-09-06", "2026-09-30", ["2026-09"]],
  ["registry", "2026-08-02", "2026-09-06", ["2026-09", "2026-08"]],
] as const)("a file of earlier rules is loaded again: %s with %s loaded on %s", (kind, newest, day, dates) => {
  const wanted = wantedFiles(kind, newest, day, { isOutdated: true });
  expect(wanted).toEqual(dates.map((date) => ({ kind, date })));
});

describe("the command", () => {
  let sam: PlayedSamGovFiles;
  beforeEach(async () => {
    sam = await playSamGovFiles();
    for (const name of ["loads", "entities", "exclusions", "snapshots"] as const) await app.live[name].deleteMany({});
  });

  const today = registryDay(new Date());
  const month = wantedFiles("registry", undefined, today)[0]!.date;
  const us = (date: string) => [date.slice(5, 7), date.slice(8), date.slice(0, 4)].join("/");

  function publishExtract(): void {
    const text = extractText([extractRowText({})]).replaceAll("20260906", `${month.replace("-", "")}01`);
    const query = { fileType: "ENTITY", sensitivity: "PUBLIC", frequency: "MONTHLY", charset: "UTF-8", version: "V2" };
    const name = `SAM_PUBLIC_UTF-8_MONTHLY_V2_${month.replace("-", "")}01.ZIP`;
    sam.publish({ ...query, date: `${month.slice(5)}/${month.slice(0, 4)}` }, name, zip({ "extract.dat": text }));
  }

  function publishExclusions(date: string): void {
    const name = `SAM_Exclusions_Public_Extract_V2_${ordinalDay(date)}`;
    const content = zip({ [`${name}.CSV`]: exclusionsText([{ uei: "ABCDEFGHJK11" }]) });
    sam.publish({ fileType: "EXCLUSION", date: us(date), version: "V2" }, `${name}.ZIP`, content);
  }

  /** Runs the command as the CronJobs do. */
  async function refresh(kinds: readonly string[]) {
    const directory = temporaryFolder();
    const env = {
      MONGODB_URI: process.env.MONGODB_URI,
      MONGODB_DATABASE_PREFIX: app.prefix,
      SAM_GOV_API_KEY: sam.apiKey,
      SAM_GOV_BASE_URL: sam.baseUrl,
    };
    const args = ["refresh", ...kinds, "--to", directory];
    const printed = await startScript(join(import.meta.dirname, "cli.ts"), args, { env }).ended;
    expect(printed.stdout + printed.stderr).not.toMatch(/played-key|Signature/);
    expect(await readdir(directory)).toEqual([]);
    return printed;
  }
  const loaded = async () =>
    (await app.live.loads.find({ state: "done" }).sort({ kind: 1 }).toArray()).map((load) => load.kind);

  test("downloads, verifies, loads and reports both files, and does nothing more once they are loaded", async () => {
    publishExtract();
    publishExclusions(today);
    const first = await refresh(["registry", "exclusions"]);
    expect(first).toMatchObject({ code: refreshExitCodes.done });
    expect(first.stdout).toMatch(/^registry SAM_PUBLIC\S+ \([\d-]+\): rows 1, /m);
    expect(first.stdout).toMatch(/^exclusions SAM_Exclusions\S+ \([\d-]+\): rows 1, /m);
    expect(await loaded()).toEqual(["exclusions", "registry"]);
    const calls = sam.apiCalls.length;
    const again = await refresh(["exclusions"]);
    expect(again).toMatchObject({ code: refreshExitCodes.done, stdout: `exclusions: up to date (${today})\n` });
    expect(sam.apiCalls).toHaveLength(calls);
    await app.live.loads.updateMany({}, { $unset: { rules: "" } });
    const outdated = await refresh(["registry"]);
    expect(outdated.stdout).toMatch(/^registry SAM_PUBLIC\S+ \([\d-]+\): rows 1, new 0, /m);
    expect((await refresh(["registry"])).stdout).toMatch(/^registry: up to date/);
  });

  test("takes yesterday's exclusions while SAM.gov has none of today", async () => {
    const yesterday = addDays(today, -1);
    publishExclusions(yesterday);
    expect(await refresh(["exclusions"])).toMatchObject({ code: refreshExitCodes.done });
    const again = await refresh(["exclusions"]);
    expect(again).toMatchObject({ code: refreshExitCodes.done, stdout: `exclusions: up to date (${yesterday})\n` });
  });

  test("a kind that SAM.gov lacks is to be tried later, and the other one is loaded", async () => {
    publishExclusions(today);
    const { code, stderr } = await refresh(["registry", "exclusions"]);
    expect(code).toBe(refreshExitCodes.tryLater);
    expect(stderr).toMatch(/registry: SAM.gov has published no newer file yet/);
    expect(await loaded()).toEqual(["exclusions"]);
  });

  test.each([
    ["429", refreshExitCodes.tryLater, /used up its calls of today/, () => sam.refuse(429)],
    ["503", refreshExitCodes.tryLater, /answered 503/, () => sam.refuse(503)],
    ["403", refreshExitCodes.needsOperator, /refuses the key/, () => sam.refuse(403)],
    ["a truncated file", refreshExitCodes.tryLater, /not a whole ZIP archive/, () => sam.misbehave("short")],
    ["a wrong length", refreshExitCodes.tryLater, /broke off/, () => sam.misbehave("cut")],
    ["HTML", refreshExitCodes.tryLater, /not a whole ZIP archive/, () => sam.misbehave("no_archive")],
    [
      "a file with too few rows",
      refreshExitCodes.needsOperator,
      /fewer/,
      async () => {
        const kept = { kind: "exclusions" as const, state: "done" as const, sha256: "0", complete: true };
        const earlier = { cut_date: "2020-01-01", started_at: new Date(), file_name: "a", counts: { rows: 5_000 } };
        await app.live.loads.insertOne({ _id: "exclusions:0", ...kept, ...earlier });
      },
    ],
  ] as const)("%s ends with exit code %i, and loads nothing", async (_what, code, message, misbehave) => {
    publishExclusions(today);
    await misbehave();
    const before = await loaded();
    const result = await refresh(["exclusions"]);
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
    expect(await loaded()).toEqual(before);
  });
});
