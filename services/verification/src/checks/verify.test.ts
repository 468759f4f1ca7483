import { createHash } from "node:crypto";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import type { ThrowReason } from "@vvs/checks";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { registryDay } from "@vvs/registration";
import { type Answer, type Provider, ProviderError } from "../providers/provider.ts";
import {
  callerOf,
  completedIn,
  passing,
  evidenceOf as storedEvidence,
  type TestCall,
  testProvider,
  verify as verifyVendor,
} from "../testing/calls.ts";
import { exclusionsPart } from "../testing/parts.ts";
import { startTestService } from "../testing/service.ts";

const { SAM_REGISTRATION, TIN_MATCH } = CheckType;
const { PASS, FAIL, ERROR } = CheckStatus;
const TIN = "471829360";

/** Live providers whose next behaviour tests set. */
const behaviour: Record<"first" | "second", Provider["ask"]> = {
  first: () => Promise.reject(new ProviderError("http_503")),
  second: () => Promise.reject(new ProviderError("http_503")),
};
const live: Provider[] = (["first", "second"] as const).flatMap((name) =>
  (["sam_registration", "tin_match"] as const).map((check) =>
    testProvider(name, check, (asked, options) => behaviour[name](asked, options)),
  ),
);

const says =
  (outcome: "pass" | "fail", more: Partial<Answer> = {}) =>
  async () =>
    passing({
      ...{ outcome, confidence: 0.9, dataDate: new Date(Date.now() - 86_400_000), content: '{"said":"é"}' },
      ...more,
    });
const throws = (reason: ThrowReason) => () => Promise.reject(new ProviderError(reason));

const circuit = { faultsInRow: 1_000, windowMinimum: 1_000 };
const service = await startTestService({ live, circuit });

let org: string;
let entityId: string;
beforeEach(() => {
  org = newId("org");
  entityId = newId("ent");
  behaviour.first = throws("http_503");
  behaviour.second = throws("http_503");
  service.entities.put(org, entityId, {
    subject: { legalName: "Acme LLC", uei: "ABCDEFGHJK12", cage: "1AB23", tinHash: Buffer.from("hash of the TIN") },
    tin: TIN,
  });
});

const verify = (call: TestCall = {}, organizationId = org) => verifyVendor(service, { organizationId, entityId }, call);
const evidenceOf = (evidenceId: string) => storedEvidence(service, evidenceId, org);

test.each<[string, string, boolean | undefined, string[]]>([
  ["agrees with the registry’s", "Acme Trading", true, []],
  ["is another company’s", "Totally Different Company Inc", false, ["other_name"]],
  ["is not given", "", undefined, []],
])(
  "a verification remembers the name that its call gave, and what it says of a payment, where the name %s",
  async (_case, legalName, nameAgrees, doubts) => {
    behaviour.first = says("pass");
    service.entities.schedule.nameAgrees = (name) => name === "Acme Trading";
    const value = { entityId, legalName };
    const { id, payment } = await verify({ target: { case: "vendor", value } });
    delete service.entities.schedule.nameAgrees;
    expect(payment).toMatchObject({ givenName: legalName, doubts });
    expect(payment?.nameAgrees).toBe(nameAgrees);
    const { verification } = await service.client.getVerification({ caller: callerOf(org), verificationId: id });
    expect(verification?.payment).toEqual(payment);
  },
);

const today = registryDay(new Date());
const clearOn = (date: Date) => ({ exclusions: exclusionsPart(date) });
test.each<[string, string[], Partial<Answer>, string]>([
  ["a CAGE that the vendor lacks, and exclusions of that CAGE", ["exclusion"], { details: { cage: "1ZZ99" } }, today],
  ["old exclusions, as the files have", ["exclusions_unknown"], { parts: clearOn(new Date(0)) }, "2026-01-01"],
  ["no exclusions of today, while the files are old", [], { parts: clearOn(new Date()) }, "2026-01-01"],
  [
    "a registration that has ended since",
    ["registration_ended"],
    { details: { expiration_date: "2026-01-01" } },
    today,
  ],
])("a stored answer that would pay another name has %s", async (_case, doubts, answer, exclusionsCutDate) => {
  const uei = "STOREDCAGE01";
  behaviour.first = says("pass", { ...answer, details: { legal_name: "Acme Holding", ...answer.details } });
  service.entities.put(org, entityId, { subject: { uei, legalName: "Acme Holding" } });
  service.entities.schedule.nameAgrees = () => true;
  service.entities.setRegistry(Environment.LIVE, uei, (_names, cage) => ({
    ...{ exclusionsCutDate, exclusionsLoad: "exclusions:1" },
    exclusions: cage === "1ZZ99" ? [{ effect: "product", terminationDate: "indefinite" }] : [],
  }));
  await verify();
  const value = { entityId, legalName: "Acme Trading" };
  const { payment } = await verify({ mode: Mode.CACHED, target: { case: "vendor", value } });
  delete service.entities.schedule.nameAgrees;
  expect(payment?.doubts).toEqual(doubts);
});

describe("realtime", () => {
  test("after a throw the next provider is asked, and the evidence has both attempts and the content's hash", async () => {
    behaviour.second = says("pass");
    const { overallResult, results, createdAt, id } = await verify();
    expect(overallResult).toBe(PASS);
    expect(results[0]).toMatchObject({ status: PASS, origin: "second", confidence: 0.9, reason: "" });
    const evidence = await evidenceOf(results[0]!.evidenceId);
    expect(evidence).toMatchObject({ verificationId: id, origin: "second", content: '{"said":"é"}' });
    expect(evidence.sha256).toBe(createHash("sha256").update(Buffer.from('{"said":"é"}', "utf8")).digest("hex"));
    expect(evidence.attempts.map(({ provider, outcome, reason }) => [provider, outcome, reason])).toEqual([
      ["first", "throw", "http_503"],
      ["second", "pass", ""],
    ]);
    expect(Number(results[0]!.dataFreshnessSeconds)).toBeGreaterThanOrEqual(86_400);
    expect(timestampDate(createdAt!).getTime()).toBeGreaterThanOrEqual(
      timestampDate(evidence.attempts[0]!.startedAt!).getTime(),
    );
  });

  test("the record of a direct call goes to a topic of its own", async () => {
    const row = await service.databases.live.collection("outbox").findOne({ record_id: (await verify()).id });
    expect(row!.topic).toBe("live.verification.completed.direct");
  });

  test("all threw: an error with evidence of each attempt", async () => {
    const { overallResult, results } = await verify();
    expect(overallResult).toBe(ERROR);
    expect(results[0]).toMatchObject({ status: ERROR, origin: "none", confidence: 0, reason: "providers_failed" });
    expect(Number(results[0]!.dataFreshnessSeconds)).toBe(0);
    const evidence = await evidenceOf(results[0]!.evidenceId);
    expect(evidence.attempts).toHaveLength(2);
    expect([evidence.content, evidence.contentType, evidence.origin]).toEqual(["", "", "none"]);
  });

  test("results are in the order of the request, and a check without its inputs is an error with evidence of no attempt", async () => {
    behaviour.first = says("pass");
    service.entities.put(org, entityId, { subject: { legalName: "Acme LLC", uei: "ABCDEFGHJK12" } });
    const { results, overallResult } = await verify({ checks: [TIN_MATCH, SAM_REGISTRATION, TIN_MATCH] });
    expect(results.map(({ checkType, status, reason }) => [checkType, status, reason])).toEqual([
      [TIN_MATCH, ERROR, "missing_tin"],
      [SAM_REGISTRATION, PASS, ""],
    ]);
    expect(overallResult).toBe(ERROR);
    expect((await evidenceOf(results[0]!.evidenceId)).attempts).toEqual([]);
  });

  test("the TIN is revealed only for a TIN provider", async () => {
    behaviour.first = says("pass");
    await verify({ checks: [SAM_REGISTRATION, TIN_MATCH] });
    expect(service.entities.revealed).not.toContain(entityId);
    behaviour.first = async (asked, options) => {
      const isRight = (await asked.tin(options.signal)) === TIN;
      return says("pass", { reason: isRight ? "" : "mismatch" })();
    };
    const { results } = await verify({ checks: [TIN_MATCH] });
    expect(results[0]!.reason).toBe("");
    expect(service.entities.revealed).toContain(entityId);
  });

  test("an entity that is not visible is not found", async () => {
    await expect(verify({}, newId("org"))).rejects.toMatchObject({ code: "entity_not_found" });
  });

  test("facts are forwarded only to entities that the organization created", async () => {
    behaviour.first = says("pass", { facts: { registration_status: "active", cage: "1AB23" } });
    await verify();
    expect(service.entities.updates.filter((update) => update.entityId === entityId)).toEqual([]);
    service.entities.put(org, entityId, { subject: { uei: "ABCDEFGHJK12", createdByOrganization: true } });
    await verify();
    await service.factsForwarded();
    expect(service.entities.updates.find((update) => update.entityId === entityId)).toMatchObject({
      provider: "first",
      registrationStatus: "active",
      cage: "1AB23",
    });
  });
});

test.each([
  [
    "found",
    {
      same_name: [{ name: "ACME", program: "", type: "", agency: "", active_date: "", termination_date: "indefinite" }],
    },
  ],
  ["unknown", { same_name_unknown: true as const }],
  [undefined, {}],
])("the record of a verification says whether an exclusion bears the vendor’s name: %s", async (sameName, details) => {
  behaviour.first = says("pass", { details });
  expect((await recordOf(await verify()))!.checks[0]!.facts.same_name).toBe(sameName);
});

/** Returns the record that announces a verification. */
const recordOf = async ({ id }: { id: string }) => (await completedIn(service.databases.live, { record_id: id }))[0];

describe("cached", () => {
  const cached = { mode: Mode.CACHED };

  test("asks where the data of the stored answer is older than allowed, and keeps that answer for others", async () => {
    const evidenceOf = async (changes: object) => (await verify({ ...cached, ...changes })).results[0]!.evidenceId;
    behaviour.first = says("pass");
    const old = await evidenceOf({});
    expect(await evidenceOf({ maxAgeSeconds: 2 * 86_400 })).toBe(old);
    behaviour.first = throws("http_503");
    const failed = await verify({ ...cached, maxAgeSeconds: 3_600 });
    expect(failed.results[0]).toMatchObject({ status: ERROR, reason: "providers_failed" });
    expect(await evidenceOf({})).toBe(old);
    behaviour.first = says("fail", { dataDate: new Date(Date.now() - 60_000) });
    const fresh = await evidenceOf({ maxAgeSeconds: 3_600 });
    expect(fresh).not.toBe(old);
    expect(await evidenceOf({ maxAgeSeconds: 3_600 })).toBe(fresh);
  });

  test("an attempt that threw is not stored, and the older answer stays", async () => {
    behaviour.first = says("fail", { reason: "expired" });
    const first = await verify(cached);
    behaviour.first = throws("http_503");
    expect((await verify()).overallResult).toBe(ERROR);
    const again = await verify(cached);
    expect(again.id).not.toBe(first.id);
    expect(again.results[0]).toMatchObject({
      status: FAIL,
      reason: "expired",
      evidenceId: first.results[0]!.evidenceId,
    });
    expect((await evidenceOf(again.results[0]!.evidenceId)).verificationId).toBe(first.id);
  });

  test("returns the newest answer", async () => {
    behaviour.first = says("pass");
    await verify();
    behaviour.first = says("fail", { reason: "excluded" });
    const newest = await verify();
    const again = await verify(cached);
    expect(again.results[0]!.evidenceId).toBe(newest.results[0]!.evidenceId);
    expect((await recordOf(again))!.checks[0]!.madeAt).toEqual(newest.createdAt);
  });

  test.each([
    [
      "of a load that was withdrawn is not given: it is asked as realtime does",
      "registry:bad",
      ["registry:bad"],
      false,
    ],
    ["of a load that stands is given", "registry:good", ["registry:bad"], true],
  ])("an answer by a file %s", async (_, load, withdrawnLoads, isGiven) => {
    const uei = "WTHDRAWN0001";
    service.entities.put(org, entityId, { subject: { legalName: "Acme LLC", uei } });
    service.entities.setRegistry(Environment.LIVE, uei, { withdrawnLoads });
    const source = { origin: "sam_gov_extract", date: new Date(), load };
    const registration = { listed_as: "active", id_only: false, expiration_date: "2099-01-01" } as const;
    const texts = { legal_name: "Acme LLC", cage: "", entity_type: "" };
    behaviour.first = says("pass", { parts: { registration: { ...source, ...registration, ...texts } } });
    const first = await verify();
    behaviour.first = says("fail", { reason: "expired" });
    const again = await verify(cached);
    expect(again.results[0]!.status).toBe(isGiven ? PASS : FAIL);
    expect(again.results[0]!.evidenceId === first.results[0]!.evidenceId).toBe(isGiven);
  });

  test("answers belong to the inputs of their check, such as the name supplied for tin_match", async () => {
    const vendor = (legalName: string) =>
      verify({ ...cached, checks: [TIN_MATCH], target: { case: "vendor", value: { legalName } } });
    service.entities.resolveTo(entityId);
    behaviour.first = says("pass");
    const acme = await vendor("Acme Incorporated");
    behaviour.first = says("fail", { reason: "mismatch" });
    expect((await vendor("Other Name LLC")).overallResult).toBe(FAIL);
    expect((await vendor("Acme Incorporated")).results[0]!.evidenceId).toBe(acme.results[0]!.evidenceId);
    expect((await vendor("")).overallResult).toBe(FAIL);
  });

  test("answers of other organizations and of the other environment are never returned", async () => {
    behaviour.first = says("pass");
    await verify();
    const other = newId("org");
    service.entities.put(other, entityId, { subject: { uei: "ABCDEFGHJK12", cage: "1AB23" } });
    behaviour.first = throws("http_503");
    expect((await verify(cached, other)).overallResult).toBe(ERROR);
    const sandbox = await verify({ ...cached, environment: Environment.SANDBOX });
    expect(sandbox.results[0]).toMatchObject({ status: FAIL, reason: "not_found", origin: "sandbox_primary" });
  });
});

describe("what is stored", () => {
  test("another organization or environment finds neither verification nor evidence", async () => {
    const { id, results } = await verify();
    for (const caller of [callerOf(newId("org")), callerOf(org, Environment.SANDBOX)]) {
      await expect(service.client.getVerification({ caller, verificationId: id })).rejects.toMatchObject({
        code: "verification_not_found",
      });
      await expect(service.client.getEvidence({ caller, evidenceId: results[0]!.evidenceId })).rejects.toMatchObject({
        code: "evidence_not_found",
      });
      const { verifications } = await service.client.listVerifications({ caller, entityId, page: { limit: 10 } });
      expect(verifications).toEqual([]);
    }
  });

  test("lists are newest first, in pages, and of one entity where asked", async () => {
    const mine = [await verify(), await verify(), await verify()].map(({ id }) => id).reverse();
    const caller = callerOf(org);
    const first = await service.client.listVerifications({ caller, page: { limit: 2 } });
    const rest = await service.client.listVerifications({ caller, entityId, page: { limit: 2, after: first.next } });
    expect([...first.verifications, ...rest.verifications].map(({ id }) => id)).toEqual(mine);
    expect(rest.next).toBeUndefined();
    const none = await service.client.listVerifications({ caller, entityId: newId("ent"), page: { limit: 2 } });
    expect(none.verifications).toEqual([]);
    expect((await service.client.getVerification({ caller, verificationId: mine[0]! })).verification!.id).toBe(mine[0]);
  });

  test("lists of a period have what was stored from its first moment on, and not what was stored at its end", async () => {
    const stored = [await verify(), await verify(), await verify()];
    const [first, second, third] = stored.map(({ createdAt }) => createdAt!);
    const caller = callerOf(org);
    const listed = async (period: object) => {
      const { verifications } = await service.client.listVerifications({ caller, ...period, page: { limit: 10 } });
      return verifications.map(({ id }) => stored.findIndex((each) => each.id === id));
    };
    expect(new Set([first, second, third].map((at) => timestampDate(at!).getTime())).size).toBe(3);
    expect(await listed({ from: first, before: third })).toEqual([1, 0]);
    expect(await listed({ from: second })).toEqual([2, 1]);
    expect(await listed({ before: second })).toEqual([0]);
  });
});

describe("an idempotency key", () => {
  const keyed = (key: string, body: string) => ({
    idempotency: { apiKeyId: "key_1", path: "/v1/verify", key: `${org} ${key}`, bodyHash: Buffer.from(body) },
  });

  test("returns the first answer again without asking a provider", async () => {
    behaviour.first = says("pass");
    const first = await verify(keyed("a", "body"));
    behaviour.first = says("fail");
    const reply = await service.client.verify({
      caller: callerOf(org),
      target: { case: "entityId", value: entityId },
      checks: [SAM_REGISTRATION],
      mode: Mode.REALTIME,
      ...keyed("a", "body"),
    });
    expect(reply.replayed).toBe(true);
    expect(reply.verification).toEqual(first);
  });

  test("with another body is a mismatch", async () => {
    await verify(keyed("b", "body"));
    await expect(verify(keyed("b", "another body"))).rejects.toMatchObject({ code: "idempotency_mismatch" });
  });

  test("whose first call is still running is a conflict", async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<Answer>();
    behaviour.first = () => {
      asked.resolve();
      return answer.promise;
    };
    const first = verify(keyed("c", "body"));
    await asked.promise;
    await expect(verify(keyed("c", "body"))).rejects.toMatchObject({ code: "idempotency_conflict" });
    answer.resolve(await says("pass")());
    expect((await first).overallResult).toBe(PASS);
  });

  test("is free again after a refusal", async () => {
    const gone = { target: { case: "entityId" as const, value: newId("ent") } };
    await expect(verify({ ...keyed("d", "body"), ...gone })).rejects.toMatchObject({ code: "entity_not_found" });
    expect((await verify(keyed("d", "body"))).overallResult).toBe(ERROR);
  });
});
