import { describe, expect, test } from "@jest/globals";
import type { PlayedSamGov } from "../../../../../test/outside/sam-gov.ts";
import { askAbout, samGovForEachTest, type TestQuestion, UEI, verdictIn } from "../../testing/sam-gov-api.ts";
import type { Answer } from "../provider.ts";

const NOW = new Date("2026-11-21T09:30:00.000Z");
const { sam, provider } = samGovForEachTest(NOW);

const ask = (asked = provider(), asking: TestQuestion = {}) => askAbout(asked, asking);

const bodies = ({ content }: Answer) => (JSON.parse(content) as { answers: { url: string; body: object }[] }).answers;

describe("one vendor", () => {
  test("registered: facts, and both answers as evidence", async () => {
    sam.register({ uei: UEI, cage: "4AB12", legalName: "ACME LLC", expirationDate: "2027-03-01" });
    const answer = await ask();
    expect(answer).toMatchObject({ outcome: "pass", reason: "", confidence: 1, dataDate: NOW });
    expect(answer.facts).toEqual({
      registration_status: "active",
      expiration_date: "2027-03-01",
      legal_name: "ACME LLC",
      cage: "4AB12",
      entity_type: "Corporate Entity (Not Tax Exempt)",
      exclusion_effect: "",
    });
    expect(bodies(answer)).toEqual([
      {
        url: `${sam.baseUrl}/entity-information/v3/entities?ueiSAM=${UEI}&samRegistered=Yes&includeSections=entityRegistration,coreData&page=0&size=10`,
        received_at: NOW.toISOString(),
        body: expect.objectContaining({ totalRecords: 1, entityData: [expect.anything()] }),
      },
      {
        url: `${sam.baseUrl}/entity-information/v4/exclusions?ueiSAM=${UEI}&page=0&size=10`,
        received_at: NOW.toISOString(),
        body: expect.objectContaining({ totalRecords: 0, excludedEntity: [] }),
      },
    ]);
  });

  test("registered: two calls, with the key in a header and nowhere else", async () => {
    sam.register({ uei: UEI });
    const answer = await ask();
    expect(sam.calls().map(({ api, headers }) => [api, headers["x-api-key"], headers.accept])).toEqual(
      expect.arrayContaining([
        ["entities", sam.apiKey, "application/json"],
        ["exclusions", sam.apiKey, "application/json"],
      ]),
    );
    expect(sam.calls()).toHaveLength(2);
    expect(JSON.stringify(sam.calls().map(({ query }) => query))).not.toContain(sam.apiKey);
    expect(answer.content).not.toContain(sam.apiKey);
    expect(answer.content).not.toContain("REPLACE_WITH_API_KEY");
  });

  test.each(["v3", "v4"] as const)(
    "by version %s of the Entity Management API, and always by v4 of the other",
    async (entityVersion) => {
      sam.register({ uei: UEI });
      await ask(provider({ entityVersion }));
      expect(sam.calls("entities").map(({ version }) => version)).toEqual([entityVersion]);
      expect(sam.calls("exclusions").map(({ version }) => version)).toEqual(["v4"]);
    },
  );

  test("an id without a registration is found by asking for ids, and fails although it says Active", async () => {
    sam.register({ uei: UEI, samRegistered: "No", status: "Active", cage: "null" });
    const answer = await ask();
    expect(verdictIn(answer)).toBe("fail not_registered");
    expect(answer.facts).toMatchObject({
      registration_status: "inactive",
      cage: "",
      expiration_date: "",
      entity_type: "",
    });
    expect(sam.calls("entities").map(({ query }) => query.samRegistered)).toEqual(["Yes", "No"]);
    expect(bodies(answer)).toHaveLength(3);
  });

  test("of neither kind is not found", async () => {
    const answer = await ask();
    expect([verdictIn(answer), answer.facts]).toEqual(["fail not_found", { exclusion_effect: "" }]);
  });

  test("excluded only by the Exclusions API", async () => {
    sam.register({ uei: UEI });
    sam.exclude({ uei: UEI });
    const answer = await ask();
    expect([verdictIn(answer), answer.facts.registration_status]).toEqual(["fail excluded", "debarred"]);
  });

  test("excluded and otherwise unknown", async () => {
    sam.exclude({ uei: UEI });
    const answer = await ask();
    expect([verdictIn(answer), answer.facts]).toEqual([
      "fail excluded",
      { registration_status: "debarred", exclusion_effect: "bar" },
    ]);
  });

  test("with several rows, over several pages", async () => {
    for (let row = 0; row < 24; row++) sam.register({ uei: UEI, eftIndicator: String(row), cage: `EFT${row}` });
    sam.register({ uei: UEI, cage: "MAIN1" });
    expect((await ask()).facts.cage).toBe("MAIN1");
    expect(
      sam
        .calls("entities")
        .map(({ query }) => query.page)
        .toSorted(),
    ).toEqual(["0", "1", "2"]);
  });

  test("by its CAGE where there is no UEI, its exclusions by the UEI that it has", async () => {
    sam.register({ uei: UEI, cage: "4AB12" });
    sam.exclude({ uei: UEI });
    expect(verdictIn(await ask(provider(), { uei: "", cage: "4AB12" }))).toBe("fail excluded");
    expect(sam.calls("exclusions").map(({ query }) => query)).toEqual([{ ueiSAM: UEI, page: "0", size: "10" }]);
  });

  test("by an unknown CAGE, its exclusions by the CAGE", async () => {
    sam.exclude({ uei: null, cage: "4AB12" });
    expect(verdictIn(await ask(provider(), { uei: "", cage: "4AB12" }))).toBe("fail excluded");
    expect(sam.calls("exclusions").map(({ query }) => query.cageCode)).toEqual(["4AB12"]);
  });

  test("by a CAGE of several UEIs is refused", async () => {
    sam.register({ uei: UEI, cage: "4AB12" });
    sam.register({ uei: "PLAYEDUEI002", cage: "4AB12" });
    await expect(ask(provider(), { uei: "", cage: "4AB12" })).rejects.toMatchObject({ reason: "ambiguous_cage" });
  });

  test.each(["A&B", "A|B", "A{B", "A}B", "A^B", "A\\B", "A~B", "*", "[A]"])(
    "named %j is never asked for",
    async (cage) => {
      await expect(ask(provider(), { uei: "", cage })).rejects.toMatchObject({ reason: "unaskable", isFault: false });
      expect(sam.calls()).toEqual([]);
    },
  );
});

describe("SAM.gov gives no answer", () => {
  const misbehaviours: [string, Parameters<PlayedSamGov["misbehave"]>[0], string][] = [
    ["when it is unavailable", { kind: "status", status: 503, text: "<html>" }, "http_503"],
    [
      "when it speaks of other things than JSON",
      { kind: "content_type", contentType: "text/html" },
      "wrong_content_type",
    ],
    ["when its JSON has another shape", { kind: "body", text: '{"totalRecords":0}' }, "wrong_shape"],
    ["when it counts a record and has none", { kind: "counted_without_data" }, "wrong_shape"],
    ["when it cuts the connection", { kind: "cut" }, "connection"],
  ];
  test.each(misbehaviours)("%s", async (_name, how, reason) => {
    sam.register({ uei: UEI });
    sam.misbehave(how);
    await expect(ask()).rejects.toMatchObject({ name: "ProviderError", reason, isFault: true });
  });

  test.each(misbehaviours)(
    "%s only about exclusions, since a pass needs known exclusions",
    async (_name, how, reason) => {
      sam.register({ uei: UEI });
      sam.misbehave(how, { api: "exclusions" });
      await expect(ask()).rejects.toMatchObject({ reason });
    },
  );

  test("where only the exclusions of an expired or missing vendor are unknown, since it may be excluded", async () => {
    sam.register({ uei: UEI, expirationDate: "2026-11-20" });
    sam.misbehave({ kind: "status", status: 503 }, { api: "exclusions" });
    await expect(ask()).rejects.toMatchObject({ reason: "http_503" });
    await expect(ask(provider(), { uei: "PLAYEDUEI002" })).rejects.toMatchObject({ reason: "http_503" });
  });

  test("when it is slow", async () => {
    sam.misbehave({ kind: "silent" });
    await expect(ask(provider(), { timeoutMs: 100 })).rejects.toMatchObject({ reason: "timeout" });
  });

  test("when the key has expired", async () => {
    const old = provider();
    sam.rotateKey("SAM-another-played-key");
    await expect(ask(old)).rejects.toMatchObject({ reason: "http_403", isFault: true });
  });

  test.each(["flat", "fault"] as const)(
    "when the quota is used up, in the %s shape, and says until when",
    async (shape) => {
      sam.misbehave({ kind: "throttled", shape, nextAccessTime: "2026-Nov-22 00:00:00+0000 UTC" });
      await expect(ask()).rejects.toMatchObject({
        reason: "quota_exhausted",
        shutUntil: new Date("2026-11-22T00:00:00Z"),
      });
    },
  );

  test("when it returns rows that were not asked for", async () => {
    const row = { entityRegistration: { ueiSAM: "PLAYEDUEI002", cageCode: null } };
    sam.misbehave({ kind: "body", text: JSON.stringify({ totalRecords: 1, entityData: [row] }) }, { api: "entities" });
    await expect(ask()).rejects.toMatchObject({ reason: "wrong_shape" });
  });

  test("but an exclusion that the registration flags counts, also with the Exclusions API unavailable", async () => {
    sam.register({ uei: UEI, exclusionFlag: "Y" });
    sam.misbehave({ kind: "status", status: 503 }, { api: "exclusions" });
    const answer = await ask();
    expect(verdictIn(answer)).toBe("fail excluded");
    expect(bodies(answer)).toHaveLength(1);
  });
});

describe("direct questions at the same time", () => {
  test("are not shared once the call has ended, nor between vendors", async () => {
    const shared = provider();
    await Promise.all([ask(shared), ask(shared, { uei: "PLAYEDUEI002" })]);
    await ask(shared);
    const asked = sam.calls("exclusions").map(({ query }) => query.ueiSAM);
    expect(asked.toSorted()).toEqual([UEI, UEI, "PLAYEDUEI002"]);
  });

  test("share a failure as one error, so that it counts as one fault, and the next one asks again", async () => {
    sam.register({ uei: UEI });
    sam.misbehave({ kind: "status", status: 503 }, { api: "entities", calls: 1 });
    const shared = provider();
    const both = await Promise.allSettled([ask(shared), ask(shared)]);
    const [first, second] = both.map((each) => each.status === "rejected" && each.reason);
    expect(first).toMatchObject({ reason: "http_503", isFault: true });
    expect(second).toBe(first);
    expect(verdictIn(await ask(shared))).toBe("pass");
  });
});
