import { randomInt } from "node:crypto";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { captureLogs, eventually } from "@vvs/testing";
import type { OrganizationSettings } from "../organization-settings/organization-settings.ts";
import { ProviderError } from "../providers/provider.ts";
import {
  passing,
  putVendor,
  requestedRun,
  testProvider,
  verifyResult,
  verify as verifyVendor,
} from "../testing/calls.ts";
import { tinHashOf } from "../testing/entities.ts";
import { jobsOf } from "../testing/jobs.ts";
import { startTestService, type TestService, unlimited } from "../testing/service.ts";

// Two replicas of the service, and a provider that knows one TIN of each name.

const { ERROR, FAIL, PASS } = CheckStatus;
const TINS_PER_VENDOR = 5;
const HOUR_MS = 60 * 60 * 1_000;

/** It is noon at the start, so that no day ends before a test says so. */
let aheadMs = 12 * HOUR_MS - (Date.now() % (24 * HOUR_MS));
const now = () => new Date(Date.now() + aheadMs);
/** The TIN of everybody. */
let right = "";
/** Called before the provider answers; it may throw. */
let beforeAnswer: () => unknown = () => undefined;
const asked: string[] = [];
const provider = testProvider("tin_vendor", "tin_match", async (question, { signal }) => {
  const tin = await question.tin(signal);
  asked.push(tin);
  await beforeAnswer();
  return passing({ dataDate: now(), ...(tin !== right && { outcome: "fail", reason: "mismatch" }) });
});
const { logger, lines } = captureLogs("warn");

/** Settings of organizations that differ; undefined: account did not answer yet. */
const changed = new Map<string, Partial<OrganizationSettings> | undefined>();
const settings = {
  get: async (organizationId: string) =>
    changed.has(organizationId) && !changed.get(organizationId)
      ? undefined
      : { ...unlimited, ...changed.get(organizationId) },
};

const options = { live: [provider], settings, now, logger };
const one = await startTestService(options);
const other = await startTestService({ ...options, prefix: one.prefix });

let org: string;
beforeEach(() => {
  org = newId("org");
  right = newTin();
  beforeAnswer = () => undefined;
  asked.length = 0;
  lines.length = 0;
});

const newTin = () => String(randomInt(100_000_000, 999_999_999));

/** The organization's vendor has this name and this TIN. */
const put = (legalName: string, tin: string, entityId = newId("ent"), organizationId = org) =>
  putVendor([one, other], { organizationId, entityId, legalName, uei: "", tinHash: tinHashOf(tin), tin }).entityId;

async function verify(
  entityId: string,
  { replica = one, mode = Mode.REALTIME, organizationId = org, environment = Environment.LIVE } = {},
) {
  const call = { environment, mode, checks: [CheckType.TIN_MATCH] };
  const { first, attempts } = await verifyResult(replica, { organizationId, entityId }, call);
  return { status: first.status, reason: first.reason, attempts: attempts.length };
}

/** A TIN tried on a name, as a vendor of its own. */
const guess = (legalName: string, tin = newTin(), options: Parameters<typeof verify>[1] = {}) =>
  verify(put(legalName, tin, undefined, options.organizationId), options);

const refused = { status: ERROR, reason: "too_many_attempts", attempts: 0 };
const mismatch = { status: FAIL, reason: "mismatch", attempts: 1 };

/** A run of a monitor of the vendor. */
async function run(entityId: string, runSeq: number) {
  const record = requestedRun({ organizationId: org, entityId }, { runSeq, checks: [CheckType.TIN_MATCH] });
  await one.runOf("live")(record);
  const stored = one.databases.live.collection<{ results: { status: string; reason: string }[] }>("verifications");
  const found = await stored.findOne({ organization_id: org, run_record_id: record.recordId });
  const { status, reason } = found!.results[0]!;
  return { status, reason };
}

describe("ten TINs at the same moment on two replicas", () => {
  const spellings = ["Jo Ann Smith", "SMITH, JO ANN", "Jóann Smith", "The Smith Joann Co.", "jo-ann smith llc"];
  /** Makes ten calls on both replicas, none of which is answered before each is asked or refused. */
  async function atOnce(ask: (index: number, replica: TestService) => Promise<unknown>) {
    const allDecided = Promise.withResolvers<void>();
    beforeAnswer = () => allDecided.promise;
    const calls = Promise.all(Array.from({ length: 10 }, (_, index) => ask(index, index % 2 ? one : other)));
    await eventually(() => asked.length + lines.length === 10);
    allDecided.resolve();
    return (await calls) as { status: CheckStatus; reason: string }[];
  }

  test("of one name in any spelling are asked as often as the limit allows, each as another vendor", async () => {
    const results = await atOnce((index, replica) => guess(spellings[index % 5]!, newTin(), { replica }));
    expect(asked).toHaveLength(TINS_PER_VENDOR);
    expect(results.filter(({ reason }) => reason === "mismatch")).toHaveLength(TINS_PER_VENDOR);
    expect(results.filter(({ status }) => status === ERROR)).toEqual(Array(5).fill(refused));
    expect(await guess("Smith Joann", right)).toEqual(refused);
    expect(asked).not.toContain(right);
  });

  test("of one vendor are asked as often as the limit allows, each with another name", async () => {
    const entityId = newId("ent");
    for (const { entities } of [one, other]) {
      entities.resolveTo(entityId);
      entities.put(org, entityId, { subject: { legalName: "Vendor" } });
    }
    const results = await atOnce(async (index, replica) => {
      const identifiers = { uei: "ABCDEFGHJK12", tin: newTin() };
      const target = { case: "vendor" as const, value: { identifiers, legalName: `Name ${index}` } };
      const call = { target, checks: [CheckType.TIN_MATCH], mode: Mode.CACHED };
      const { results } = await verifyVendor(replica, { organizationId: org, entityId }, call);
      const { status, reason } = results[0]!;
      return { status, reason };
    });
    expect(results.filter(({ reason }) => reason === "too_many_attempts")).toHaveLength(5);
    expect(asked).toHaveLength(TINS_PER_VENDOR);
  });

  test("fail at most as often as the organization may in a day, each with another name and vendor", async () => {
    changed.set(org, { tinFailuresPerDay: 3 });
    const results = await atOnce((index, replica) => guess(`Company ${index}`, newTin(), { replica }));
    expect(asked).toHaveLength(3);
    expect(results.filter(({ reason }) => reason === "too_many_attempts")).toHaveLength(7);
  });
});

describe("a limit that is reached", () => {
  async function reach(name = "Acme Widgets") {
    for (let index = 0; index < TINS_PER_VENDOR; index++) expect(await guess(name)).toEqual(mismatch);
    expect(await guess(name)).toEqual(refused);
  }

  test("is logged with the organization, and never with the TIN or the name", async () => {
    await reach();
    expect(lines).toMatchObject([{ organization_id: org, limit: "name", msg: expect.stringContaining("attempts") }]);
    for (const secret of [...asked, "Acme", "acme"]) expect(JSON.stringify(lines)).not.toContain(secret);
  });

  test("stops no other organization, no other name and no other environment", async () => {
    await reach();
    expect(await guess("Acme Widgets", right, { organizationId: newId("org") })).toMatchObject({ status: PASS });
    expect(await guess("Acme Gadgets", right)).toMatchObject({ status: PASS });
    const sandbox = { environment: Environment.SANDBOX };
    for (let index = 0; index < 10; index++) {
      expect(await guess("Acme Widgets", `47182936${index}`, sandbox)).not.toMatchObject({ reason: refused.reason });
    }
    const found = await one.databases.sandbox.listCollections({ name: /^tin_/ }).toArray();
    expect(found).toEqual([]);
  });

  test("ends when its attempts are a day old", async () => {
    await reach();
    aheadMs += 23 * HOUR_MS;
    expect(await guess("Acme Widgets")).toEqual(refused);
    aheadMs += HOUR_MS;
    expect(await guess("Acme Widgets", right)).toMatchObject({ status: PASS });
  });

  test("does not stop what was asked before: in either mode, in another spelling, and by monitors", async () => {
    const tin = newTin();
    const entityId = put("Acme Widgets", tin);
    expect(await run(entityId, 1)).toEqual({ status: "fail", reason: "mismatch" });
    for (let index = 1; index < TINS_PER_VENDOR; index++) await guess("Acme Widgets");
    changed.set(org, { tinFailuresPerDay: TINS_PER_VENDOR });
    expect(await guess("Acme Widgets")).toEqual(refused);
    expect(await guess("Something else")).toEqual(refused);
    for (const mode of [Mode.REALTIME, Mode.CACHED]) expect(await verify(entityId, { mode })).toEqual(mismatch);
    for (const runSeq of [2, 3]) expect(await run(entityId, runSeq)).toEqual({ status: "fail", reason: "mismatch" });
    changed.delete(org);
    expect(await guess("ACME widgets", tin)).toEqual(mismatch);
  });

  test("also stops a monitor from asking about a TIN that was never asked", async () => {
    await reach();
    expect(await run(put("Acme Widgets", right), 1)).toEqual({ status: "error", reason: "too_many_attempts" });
    expect(asked).not.toContain(right);
  });
});

describe("an honest organization", () => {
  test("may have many vendors of one name, since TINs that match do not count", async () => {
    changed.set(org, { tinFailuresPerDay: 1 });
    for (let index = 0; index < 2 * TINS_PER_VENDOR; index++) {
      right = newTin();
      expect(await guess("Maria Garcia", right)).toMatchObject({ status: PASS });
    }
  });

  test("is not charged a failure for what no provider answered, and may ask it again", async () => {
    changed.set(org, { tinFailuresPerDay: 1 });
    const entityId = put("Acme Widgets", right);
    beforeAnswer = () => {
      throw new ProviderError("on_hold", { isFault: false });
    };
    for (let index = 0; index < 3; index++) {
      expect(await verify(entityId)).toEqual({ status: ERROR, reason: "providers_failed", attempts: 1 });
    }
    beforeAnswer = () => undefined;
    expect(await verify(entityId)).toMatchObject({ status: PASS });
  });

  test("may ask later about any number of TINs of one name that were not asked, since a budget was spent", async () => {
    changed.set(org, { providerBudgets: new Map([["tin_vendor", { perMinute: 1, perDay: 2 }]]) });
    const vendors = Array.from({ length: 2 * TINS_PER_VENDOR }, () => put("Maria Garcia", newTin()));
    expect(await verify(vendors[0]!)).toEqual(mismatch);
    for (const vendor of vendors.slice(1)) {
      expect(await verify(vendor)).toEqual({ status: ERROR, reason: "providers_failed", attempts: 1 });
    }
    expect(asked).toHaveLength(1);
    changed.delete(org);
    for (const vendor of vendors.slice(1, TINS_PER_VENDOR)) expect(await verify(vendor)).toEqual(mismatch);
    expect(await verify(vendors[TINS_PER_VENDOR]!)).toEqual(refused);
  });

  test("may ask later about any number of TINs of one name that could not be revealed", async () => {
    one.entities.schedule.reveal = () => Promise.reject(new ServiceError("service_unavailable"));
    for (let index = 0; index < 2 * TINS_PER_VENDOR; index++) {
      await expect(guess("Maria Garcia")).rejects.toMatchObject({ code: "service_unavailable" });
    }
    delete one.entities.schedule.reveal;
    expect(await guess("Maria Garcia", right)).toMatchObject({ status: PASS });
  });

  test("gains no guess from a call that asked nothing beside one that asks about the same TIN", async () => {
    const answer = Promise.withResolvers<void>();
    beforeAnswer = () => answer.promise;
    const entityId = put("Acme", newTin());
    const asking = verify(entityId);
    await eventually(() => asked.length === 1);
    beforeAnswer = () => undefined;
    changed.set(org, { providerBudgets: new Map([["tin_vendor", { perMinute: 1, perDay: 2 }]]) });
    await guess("Other");
    expect(await verify(entityId, { replica: other })).toMatchObject({ reason: "providers_failed" });
    answer.resolve();
    expect(await asking).toEqual(mismatch);
    changed.delete(org);
    for (let index = 1; index < TINS_PER_VENDOR; index++) expect(await guess("Acme")).toEqual(mismatch);
    expect(await guess("Acme")).toEqual(refused);
  });

  test("has no vendor's guesses used up by TINs that were refused, because of its name or of the day's failures", async () => {
    const entityId = newId("ent");
    for (let index = 0; index < TINS_PER_VENDOR; index++) expect(await guess("Maria Garcia")).toEqual(mismatch);
    for (let index = 0; index < 2 * TINS_PER_VENDOR; index++) {
      put("Maria Garcia", newTin(), entityId);
      expect(await verify(entityId)).toEqual(refused);
    }
    changed.set(org, { tinFailuresPerDay: 1 });
    for (let index = 0; index < 2 * TINS_PER_VENDOR; index++) {
      put("Garcia Bakery", newTin(), entityId);
      expect(await verify(entityId)).toEqual(refused);
    }
    changed.delete(org);
    for (let index = 0; index < TINS_PER_VENDOR; index++) {
      put("Garcia Bakery", newTin(), entityId);
      expect(await verify(entityId)).toEqual(mismatch);
    }
    put("Garcia Bakery", newTin(), entityId);
    expect(await verify(entityId)).toEqual(refused);
  });

  test("has its failures of the day before forgotten at midnight UTC", async () => {
    changed.set(org, { tinFailuresPerDay: 1 });
    expect(await guess("One")).toEqual(mismatch);
    expect(await guess("Two")).toEqual(refused);
    aheadMs += 24 * HOUR_MS;
    expect(await guess("Two", right)).toMatchObject({ status: PASS });
  });
});

test("where attempts can't be counted, nothing is asked and the call is refused", async () => {
  const guesses = one.databases.live.collection("tin_guesses");
  await one.databases.live.command({ collMod: guesses.collectionName, validator: { never: true } });
  try {
    await expect(guess("Acme Widgets", right)).rejects.toThrow();
  } finally {
    await one.databases.live.command({ collMod: guesses.collectionName, validator: {} });
  }
  expect(asked).toEqual([]);
});

test("stored attempts hold no TIN and no name", async () => {
  const tin = newTin();
  await guess("Zebra Crossing", tin);
  const stored = await one.databases.live.collection("tin_guesses").find({}, { raw: true }).toArray();
  for (const document of stored as unknown as Buffer[]) {
    for (const secret of [tin, "Zebra", "zebra"]) expect(Buffer.from(document).includes(secret)).toBe(false);
  }
});

describe("while account has not said whether the organization is approved", () => {
  beforeEach(() => void changed.set(org, undefined));

  test.each([Mode.REALTIME, Mode.CACHED])(
    "a call is refused as unavailable (mode %s), and asks nothing",
    async (mode) => {
      await expect(guess("Acme", right, { mode })).rejects.toMatchObject({ code: "service_unavailable" });
      expect(asked).toEqual([]);
    },
  );

  test("a monitor's run waits", async () => {
    const entityId = put("Acme", right);
    await expect(run(entityId, 1)).rejects.toMatchObject({ code: "service_unavailable" });
    changed.delete(org);
    expect(await run(entityId, 1)).toMatchObject({ status: "pass" });
  });

  test("the sandbox and sam_registration need no answer", async () => {
    expect(await guess("Acme", "471829360", { environment: Environment.SANDBOX })).toMatchObject({ status: PASS });
  });
});

describe("without the operator's approval", () => {
  const notEnabled = { status: ERROR, reason: "not_enabled", attempts: 0 };
  beforeEach(() => void changed.set(org, { liveTinMatch: false }));

  test.each([Mode.REALTIME, Mode.CACHED])("a live call (mode %s) asks nothing", async (mode) => {
    expect(await guess("Acme", right, { mode })).toEqual(notEnabled);
    expect(asked).toEqual([]);
  });

  test("a live monitor's runs ask nothing", async () => {
    const entityId = put("Acme", right);
    for (const runSeq of [1, 2]) expect(await run(entityId, runSeq)).toMatchObject({ reason: "not_enabled" });
    expect(asked).toEqual([]);
  });

  test("an answer from before the approval was withdrawn is not shown by a new check", async () => {
    changed.delete(org);
    const entityId = put("Acme", right);
    expect(await verify(entityId)).toMatchObject({ status: PASS });
    changed.set(org, { liveTinMatch: false });
    expect(await verify(entityId, { mode: Mode.CACHED })).toEqual(notEnabled);
    changed.delete(org);
    expect(await verify(entityId, { mode: Mode.CACHED })).toMatchObject({ status: PASS });
  });

  test("a vendor without a TIN is not said to lack one", async () => {
    const entityId = newId("ent");
    one.entities.put(org, entityId, { subject: { legalName: "Acme" } });
    expect(await verify(entityId)).toEqual(notEnabled);
  });

  test("the sandbox answers, and sam_registration is made", async () => {
    expect(await guess("Acme", "471829360", { environment: Environment.SANDBOX })).toMatchObject({ status: PASS });
    const both = { checks: [CheckType.SAM_REGISTRATION, CheckType.TIN_MATCH] };
    const vendor = { organizationId: org, entityId: put("Acme", right) };
    const { results } = await verifyVendor(one, vendor, both);
    expect(results.map(({ reason }) => reason)).toEqual(["not_configured", "not_enabled"]);
  });
});

describe("the rows of a job", () => {
  /** Returns the outcomes of a job with one vendor of this name a row, each with another wrong TIN, and the reasons of its checks. */
  async function rowsOf(count: number) {
    const { start, results } = jobsOf(one, org);
    const rows = Array.from({ length: count }, () => ({ entityId: put("Acme", newTin()) }));
    const id = await start(rows, { checks: [CheckType.TIN_MATCH] });
    await one.jobs.live.work();
    return (await results(id)).map(({ outcome, verification }) => ({
      outcome,
      reason: verification?.results[0]?.reason,
    }));
  }

  test("count against the limits on guessing as calls do, and say so", async () => {
    const found = await rowsOf(2 * TINS_PER_VENDOR);
    const reasons = found.map(({ reason }) => reason).toSorted();
    const of = (reason: string) => Array(TINS_PER_VENDOR).fill(reason);
    expect(reasons).toEqual([...of("mismatch"), ...of("too_many_attempts")]);
    expect(asked).toHaveLength(TINS_PER_VENDOR);
  });

  test("count against the provider's budget, and wait beyond it", async () => {
    changed.set(org, { providerBudgets: new Map([["tin_vendor", { perMinute: 100, perDay: 4 }]]) });
    const found = await rowsOf(TINS_PER_VENDOR);
    const waiting = found.filter(({ outcome }) => outcome === RowOutcome.WAITING);
    expect(asked.length).toBeGreaterThan(0);
    expect(waiting).toHaveLength(TINS_PER_VENDOR - asked.length);
    expect(waiting.length).toBeGreaterThan(0);
    changed.delete(org);
  });
});
