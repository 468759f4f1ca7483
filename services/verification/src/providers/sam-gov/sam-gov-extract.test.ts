import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { RegistryAnswerSchema, RegistryRecordSchema } from "@vvs/proto/entity/v1/entity";
import type { PartSource, Parts } from "@vvs/registration";
import { questionOf } from "../../testing/calls.ts";
import { registrationPart } from "../../testing/parts.ts";
import { playedExtract } from "../../testing/sam-gov-api.ts";
import type { Answer } from "../provider.ts";

const CUT = "2026-11-02";
const EXCLUSIONS_CUT = "2026-11-19";
const TODAY = "2026-11-21";
const ended = (ending: { endedOn?: string; terminationDate?: string }) => ({
  exclusionsCutDate: EXCLUSIONS_CUT,
  endedExclusions: [{ samNumber: "S4MR3X1", terminationDate: "indefinite", ...ending }],
});
const exclusion = { samNumber: "S4MR3X1", exclusionType: "Ineligible", terminationDate: "indefinite" };

function files(
  record: MessageInitShape<typeof RegistryRecordSchema> | undefined,
  more: MessageInitShape<typeof RegistryAnswerSchema> = {},
) {
  const listed = { uei: "ABCDEFGHJK12", cage: "1AB23", legalName: "ACME LLC", entityType: "Corporate Entity" };
  return create(RegistryAnswerSchema, {
    record: record && create(RegistryRecordSchema, { ...listed, ...record }),
    registryCutDate: CUT,
    registryFile: "SAM_PUBLIC_MONTHLY_V2_20261102.dat",
    exclusionsCutDate: EXCLUSIONS_CUT,
    exclusionsFile: "SAM_Exclusions_Public_Extract_V2_26323.csv",
    registryLoad: "registry:1",
    exclusionsLoad: "exclusions:1",
    ...more,
  });
}

const question = questionOf({ uei: "ABCDEFGHJK12" });

interface TestQuestion {
  readonly hasApi?: boolean;
  readonly stored?: Parts;
  readonly today?: string;
}

const ask = (response: ReturnType<typeof files>, { hasApi = false, stored, today = TODAY }: TestQuestion = {}) =>
  playedExtract({ files: response, hasApi, now: new Date(`${today}T09:30:00Z`) }).ask(
    { ...question, stored },
    { signal: new AbortController().signal },
  );

const verdictIn = ({ outcome, reason }: Answer) => `${outcome} ${reason}`.trim();
const asked = (...asking: Parameters<typeof ask>) => ask(...asking).then(verdictIn, ({ reason }) => reason);

const active = { extractCode: "A", expirationDate: "2027-03-01" };
const stale = "stale_source";

test("an exclusion of the file that begins later is in the parts, and excludes from its first day on", async () => {
  const later = { ...exclusion, activeDate: "2026-11-21", effect: "facility", comment: "ONE FACILITY" };
  const of = (today: string) => ask(files(active, { exclusions: [later] }), { today });
  const before = await of("2026-11-20");
  expect([verdictIn(before), before.facts.exclusion_effect]).toEqual(["pass", ""]);
  expect(before.parts!.exclusions!.exclusions).toMatchObject([{ active_date: "2026-11-21", effect: "facility" }]);
  const then = await of("2026-11-21");
  expect([verdictIn(then), then.facts.exclusion_effect]).toEqual(["fail excluded", "facility"]);
});

describe("files on a later day", () => {
  test.each<[string, ReturnType<typeof files>, string]>([
    ["active, expiring later", files(active), "pass"],
    ["active, expiring today", files({ extractCode: "A", expirationDate: TODAY }), "pass"],
    ["expired between the cut date and today", files({ extractCode: "A", expirationDate: "2026-11-20" }), stale],
    ["expired on the cut date itself", files({ extractCode: "A", expirationDate: CUT }), stale],
    ["expired before the cut date", files({ extractCode: "A", expirationDate: "2026-11-01" }), "fail expired"],
    ["code E with any date", files({ extractCode: "E", expirationDate: "2026-11-20" }), "fail expired"],
    ["code E without a date", files({ extractCode: "E" }), "fail expired"],
    ["code A without a date", files({ extractCode: "A" }), "fail inactive"],
    ["another code", files({ extractCode: "I", expirationDate: "2027-03-01" }), "fail inactive"],
    ["an id only", files({ ...active, idOnly: true }), "fail not_registered"],
    ["absent", files(undefined), stale],
    ["absent, but excluded", files(undefined, { exclusions: [exclusion] }), "fail excluded"],
    [
      "expired since, but excluded",
      files({ expirationDate: "2026-11-20" }, { exclusions: [exclusion] }),
      "fail excluded",
    ],
    ["no file at all", files(undefined, { registryCutDate: "", exclusionsCutDate: "" }), stale],
    ["no exclusions file: no pass", files(active, { exclusionsCutDate: "" }), stale],
    ["an exclusions file of 3 days", files(active, { exclusionsCutDate: "2026-11-18" }), "pass"],
    ["an exclusions file of 4 days: no pass", files(active, { exclusionsCutDate: "2026-11-17" }), stale],
    [
      "an exclusions file of 4 days: a fail",
      files({ extractCode: "E" }, { exclusionsCutDate: "2026-11-17" }),
      "fail expired",
    ],
    [
      "an exclusions file of 4 days, excluded",
      files(active, { exclusionsCutDate: "2026-11-17", exclusions: [exclusion] }),
      "fail excluded",
    ],
    ["an exclusions file of tomorrow", files(active, { exclusionsCutDate: "2026-11-22" }), "pass"],
    ["an exclusions file of later than tomorrow", files(active, { exclusionsCutDate: "2026-11-23" }), stale],
    ["an extract of later than tomorrow", files(active, { registryCutDate: "2026-11-23" }), stale],
    [
      "an exclusions file of later than tomorrow that excludes",
      files({ extractCode: "E" }, { exclusionsCutDate: "2027-01-01", exclusions: [exclusion] }),
      "fail expired",
    ],
  ])("%s", async (_name, response, expected) => {
    expect(await asked(response)).toBe(expected);
  });

  test.each<[string, object, string]>([
    ["and no exclusions file", { exclusionsCutDate: "" }, "fail excluded"],
    ["and an older exclusions file without a row", { exclusionsCutDate: "2026-11-01" }, "fail excluded"],
    ["and an exclusions file of the same day without a row", { exclusionsCutDate: CUT }, "fail excluded"],
    ["and a newer exclusions file with the row", { exclusions: [exclusion] }, "fail excluded"],
    ["and a newer exclusions file without a row that any file listed", {}, stale],
    ["whose exclusion a later file no longer listed", ended({ endedOn: "2026-11-10" }), "pass"],
    ["whose exclusion is past its last day", ended({ terminationDate: "2026-11-10" }), "pass"],
    ["while an exclusion ended before the extract was cut", ended({ endedOn: "2026-10-10" }), stale],
    ["while an exclusion was over before the extract was cut", ended({ terminationDate: "2026-10-10" }), stale],
  ])("flagged as excluded, %s", async (_name, more, expected) => {
    expect(await asked(files({ ...active, excluded: true }, more))).toBe(expected);
  });

  const yesterday = { registryCutDate: "2026-11-20" };
  test.each<[string, object, object, string, string]>([
    ["expired before the cut date", { extractCode: "A", expirationDate: "2026-10-01" }, {}, "fail expired", stale],
    ["code E", { extractCode: "E" }, {}, "fail expired", stale],
    ["an id only", { ...active, idOnly: true }, {}, "fail not_registered", stale],
    ["inactive", { extractCode: "" }, {}, "fail inactive", stale],
    ["code E yesterday", { extractCode: "E" }, yesterday, "fail expired", "fail expired"],
    ["an id only yesterday", { ...active, idOnly: true }, yesterday, "fail not_registered", "fail not_registered"],
    ["active", active, {}, "pass", "pass"],
    ["excluded", active, { exclusions: [exclusion] }, "fail excluded", "fail excluded"],
  ])("%s fails with its age unless SAM.gov's API can be asked", async (_name, record, more, without, beside) => {
    expect(await asked(files(record, more))).toBe(without);
    expect(await asked(files(record, more), { hasApi: true })).toBe(beside);
  });
});

describe("files and a stored answer", () => {
  const api = (date: string): PartSource => ({
    origin: "sam_gov_api",
    date: new Date(date),
    load: "",
    evidence_id: "evd_1",
  });
  const registration = (source: PartSource, end = "2028-01-01", listed_as: "active" | "not_found" = "active") => ({
    registration: registrationPart(source.date, {
      ...source,
      ...{ listed_as, expiration_date: end, legal_name: "STORED LLC" },
    }),
  });
  const exclusions = (source: PartSource, flagged = false) => ({ exclusions: { ...source, flagged, exclusions: [] } });
  const OLDER = "2026-10-20T08:00:00Z";
  const NEWER = "2026-11-12T08:00:00Z";
  const TODAYS = "2026-11-21T08:00:00Z";
  const expiring = (expirationDate: string) => files({ extractCode: "A", expirationDate });
  const sources = ({ parts }: Answer) => [parts!.registration?.origin, parts!.exclusions?.origin].join(" + ");
  const both = "sam_gov_extract + sam_gov_exclusions";
  const own = "sam_gov_api + sam_gov_exclusions";

  test.each<[string, Parts, ReturnType<typeof files>, string]>([
    [
      "older in both: the files'",
      { ...registration(api(OLDER)), ...exclusions(api(OLDER)) },
      files(active),
      `pass ${both}`,
    ],
    ["a newer registration: its own", registration(api(NEWER)), expiring("2026-12-01"), `pass ${own}`],
    [
      "a newer registration, renewed since the file: its own",
      registration(api(NEWER)),
      expiring("2026-11-15"),
      `pass ${own}`,
    ],
    ["a newer registration that ran out since", registration(api(NEWER), "2026-11-20"), files(active), stale],
    [
      "a newer registration of a vendor that the file lacks: its own",
      registration(api(NEWER)),
      files(undefined),
      `pass ${own}`,
    ],
    ["an older registration of a vendor that the file lacks", registration(api(OLDER)), files(undefined), stale],
    [
      "newer exclusions: its own",
      exclusions(api(TODAYS), true),
      files(active),
      "fail excluded sam_gov_extract + sam_gov_api",
    ],
    ["exclusions that ended since: the file's", exclusions(api(NEWER), true), files(active), `pass ${both}`],
    [
      "no exclusions, excluded since: the file's",
      exclusions(api(NEWER)),
      files(active, { exclusions: [exclusion] }),
      `fail excluded ${both}`,
    ],
    [
      "no exclusions, newer than a flag without its row: its own",
      exclusions(api("2026-11-20T08:00:00Z")),
      files({ ...active, excluded: true }),
      "pass sam_gov_extract + sam_gov_api",
    ],
    [
      "no exclusions, older than a flag without its row",
      exclusions(api(OLDER)),
      files({ ...active, excluded: true }),
      stale,
    ],
    ["not found today: its own", registration(api(TODAYS), "", "not_found"), files(active), `fail not_found ${own}`],
    ["not found, older than a day", registration(api(NEWER), "", "not_found"), files(active), stale],
    [
      "of a withdrawn load, however new",
      registration({ ...api(NEWER), load: "registry:2" }),
      { ...files(active), withdrawnLoads: ["registry:2"] },
      `pass ${both}`,
    ],
    ["dated later than tomorrow", registration(api("2027-05-01T00:00:00Z")), files(active), `pass ${both}`],
  ])("%s", async (_name, stored, response, expected) => {
    const answer = await ask(response, { stored, hasApi: true }).catch(({ reason }) => reason as string);
    expect(typeof answer === "string" ? answer : `${verdictIn(answer)} ${sources(answer)}`).toBe(expected);
  });

  test("that do not mention the vendor throw, whatever is stored", async () => {
    const stored = { ...registration(api(TODAYS)), ...exclusions(api(TODAYS)) };
    expect(await asked(files(undefined, { exclusionsCutDate: "" }), { stored })).toBe(stale);
  });

  test("the answer's origin is that of its registration, its date the older one, and both are in the evidence", async () => {
    const answer = await ask(expiring("2026-12-01"), { stored: registration(api(NEWER)) });
    expect(answer).toMatchObject({ origin: "sam_gov_api", dataDate: new Date(NEWER) });
    expect(answer.facts).toMatchObject({ expiration_date: "2028-01-01", legal_name: "STORED LLC" });
    expect(JSON.parse(answer.content)).toMatchObject({
      record: { expiration_date: "2026-12-01" },
      rests_on: { registration: { origin: "sam_gov_api", date: "2026-11-12T08:00:00.000Z", evidence_id: "evd_1" } },
    });
    expect(answer.sources).toEqual([
      { part: "registration", origin: "sam_gov_api", date: new Date(NEWER) },
      {
        part: "exclusions",
        origin: "sam_gov_exclusions",
        date: new Date("2026-11-19T00:00:00Z"),
        file: expect.any(String),
      },
    ]);
  });

  test("names the hash of each file, also of one that was loaded earlier", async () => {
    const [registry, earlier] = ["ab".repeat(32), "cd".repeat(32)];
    const { sources } = await ask(files(active, { registryLoad: `registry:${registry}`, exclusionsCutDate: "" }), {
      stored: exclusions({
        origin: "sam_gov_exclusions",
        date: new Date(EXCLUSIONS_CUT),
        load: `exclusions:${earlier}`,
      }),
    });
    expect(sources!.map(({ part, sha256, file }) => [part, sha256, file])).toEqual([
      ["registration", registry, "SAM_PUBLIC_MONTHLY_V2_20261102.dat"],
      ["exclusions", earlier, undefined],
    ]);
  });
});

describe("the provider", () => {
  test("returns the facts, and stores the files' records as evidence", async () => {
    const answer = await ask(files(active));
    expect(answer.facts).toEqual({
      registration_status: "active",
      expiration_date: "2027-03-01",
      legal_name: "ACME LLC",
      cage: "1AB23",
      entity_type: "Corporate Entity",
      exclusion_effect: "",
    });
    expect(answer.dataDate).toEqual(new Date("2026-11-02T00:00:00Z"));
    expect(JSON.parse(answer.content)).toMatchObject({
      record: { uei: "ABCDEFGHJK12", extract_code: "A" },
      exclusions: [],
    });
    expect(answer.sources).toMatchObject([
      { part: "registration", date: new Date(CUT), file: "SAM_PUBLIC_MONTHLY_V2_20261102.dat" },
      { part: "exclusions", date: new Date(EXCLUSIONS_CUT) },
    ]);
  });

  test("returns the same evidence from a newer file that says the same", async () => {
    const listed = { ...exclusion, firstSeen: "2026-11-01", lastSeen: EXCLUSIONS_CUT };
    const newer = { registryCutDate: "2026-11-18", registryLoad: "registry:9", exclusionsCutDate: "2026-11-20" };
    const [first, next] = [
      await ask(files(active, { exclusions: [listed] })),
      await ask(files(active, { ...newer, exclusions: [{ ...listed, lastSeen: "2026-11-20" }] })),
    ];
    expect(next.content).toBe(first.content);
    expect(next.sources).not.toEqual(first.sources);
  });

  test.each([
    ["the older of both files", files({ extractCode: "E" }), CUT],
    ["the exclusions file's where only they exclude", files(undefined, { exclusions: [exclusion] }), EXCLUSIONS_CUT],
    ["the older of both where the exclusions file excludes", files(active, { exclusions: [exclusion] }), CUT],
    ["an exclusions file older than the extract", files(active, { registryCutDate: "2026-11-20" }), EXCLUSIONS_CUT],
  ])("the data is dated by %s", async (_name, response, date) => {
    expect((await ask(response)).dataDate).toEqual(new Date(`${date}T00:00:00Z`));
  });

  test("an excluded vendor without a row is debarred, and nothing else is known about it", async () => {
    expect((await ask(files(undefined, { exclusions: [exclusion] }))).facts).toEqual({
      registration_status: "debarred",
      exclusion_effect: "bar",
    });
  });

  test("throws stale_source, which does not count as a fault", async () => {
    await expect(ask(files(undefined))).rejects.toMatchObject({ reason: "stale_source", isFault: false });
  });
});

test.each([
  [0, false],
  [3, false],
  [4, true],
])(
  "the files are too old for a pass once the exclusions file is more than 3 days old: after %i days",
  async (days, isTooOld) => {
    const now = new Date(Date.parse(`${EXCLUSIONS_CUT}T12:00:00Z`) + days * 86_400_000);
    const provider = (more: object) => playedExtract({ files: files(undefined, more), hasApi: true, now });
    const signal = new AbortController().signal;
    expect(await provider({}).isOutdated!({ signal })).toBe(isTooOld);
    expect(await provider({ exclusionsCutDate: "", exclusionsLoad: "" }).isOutdated!({ signal })).toBe(true);
  },
);
