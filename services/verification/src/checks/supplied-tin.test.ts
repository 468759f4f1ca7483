import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { collectionsOf } from "../store.ts";
import { callerOf, completedIn, requestedRun, type TestCall, verify, verifyResult } from "../testing/calls.ts";
import { tinHashOf } from "../testing/entities.ts";
import { startTestService } from "../testing/service.ts";
import { inputsFingerprint } from "./check-inputs.ts";

// The sandbox answers by the TIN's last digit: 0 passes, 3 is a mismatch.
const PASSING = "471829360";
const FAILING = "471829363";

const service = await startTestService({});

// One organization: beside others its calls would run one after the other, and these tests run two together.
const org = newId("org");
const environment = Environment.SANDBOX;
let entityId: string;
const vendor = () => ({ organizationId: org, entityId });
let legalName: string;
beforeEach(() => {
  entityId = newId("ent");
  legalName = `Acme ${entityId} LLC`;
  service.entities.resolveTo(entityId);
  remember(PASSING);
});
afterEach(() => {
  service.entities.schedule.resolved = undefined;
  service.entities.schedule.reveal = undefined;
  service.entities.schedule.match = undefined;
});

/** The organization remembers this TIN of the vendor, in place of the one before. */
function remember(tin: string) {
  service.entities.put(org, entityId, { subject: { legalName, tinHash: tinHashOf(tin) }, tin });
}

async function match({ mode, target }: Pick<TestCall, "mode" | "target"> = {}) {
  const call = { environment, checks: [CheckType.TIN_MATCH], ...(mode && { mode }), ...(target && { target }) };
  const { first, evidence } = await verifyResult(service, vendor(), call);
  const asked: string = JSON.parse(evidence.content).asked.tin;
  return { status: first.status, asked, evidenceId: first.evidenceId };
}
const supplied = (tin: string) => ({
  case: "vendor" as const,
  value: { identifiers: { uei: "ABCDEFGHJK12", tin }, legalName: "" },
});
const supply = (tin: string, mode?: Mode) => match({ mode, target: supplied(tin) });
const entity = (mode?: Mode) => match({ mode });

const passing = { status: CheckStatus.PASS, asked: "****9360" };
const failing = { status: CheckStatus.FAIL, asked: "****9363" };

function fingerprintOf(tin: string): string {
  const subject = {
    entityId,
    legalName,
    uei: "",
    cage: "",
    tinHash: tinHashOf(tin),
    tinMatchRecorded: false,
    entityType: "",
    createdByOrganization: false,
    externalId: "",
  };
  return inputsFingerprint("tin_match", subject);
}

/** What is stored under the fingerprint of a TIN. */
async function storedUnder(tin: string): Promise<string[]> {
  const { latestAnswers } = collectionsOf(service.databases.sandbox);
  const found = latestAnswers.find({ organization_id: org, "answer.inputs_fingerprint": fingerprintOf(tin) });
  return (await found.toArray()).map(({ answer }) => answer.outcome);
}

/** Returns the records of the vendor's verifications, oldest first. */
const records = async () =>
  (await completedIn(service.databases.sandbox)).filter((record) => record.entityId === entityId);

test("the record of a verification says which TIN the vendor has after it: the one before, unless another matched", async () => {
  const has = (tin: string | undefined, tinHash: Uint8Array) =>
    service.entities.put(org, entityId, { subject: { legalName, tinHash, tin } });
  has("****9360", tinHashOf(PASSING));
  const said = async () =>
    (await records()).map(({ entityTin, entityTinFingerprint }) => [entityTin, new Uint8Array(entityTinFingerprint)]);
  const says = (tin: string) => [`****${tin.slice(-4)}`, new Uint8Array(tinHashOf(tin))];
  // One that matched before stays while another one is only supplied.
  service.entities.schedule.resolved = async () => has("****9360", tinHashOf(PASSING));
  await supply(FAILING);
  expect(await said()).toEqual([says(PASSING)]);
  await supply("471829366");
  expect(await said()).toContainEqual(says("471829366"));
});

test("a verification has the fingerprint of the TIN that it asked about, also where a stored answer is used again", async () => {
  const { entityId: id } = vendor();
  const fingerprints = async () => {
    const caller = callerOf(org, environment);
    const { verifications } = await service.client.listVerifications({ caller, entityId: id, page: { limit: 10 } });
    return verifications.map(({ tinFingerprint }) => Buffer.from(tinFingerprint).toString("hex"));
  };
  const [failing, passing] = [FAILING, PASSING].map((tin) => tinHashOf(tin).toString("hex"));
  await supply(FAILING);
  await supply(PASSING);
  await supply(FAILING, Mode.CACHED);
  expect((await fingerprints()).sort()).toEqual([failing, failing, passing].sort());
  await verify(service, vendor(), { environment });
  expect(await fingerprints()).toContain("");
});

test("the record of a verification of a vendor without a TIN says that it has none", async () => {
  service.entities.put(org, entityId, { subject: { legalName } });
  await verify(service, vendor(), { environment });
  expect((await records()).map(({ entityTin }) => entityTin)).toEqual([""]);
});

describe("a TIN that a call supplies", () => {
  test.each([Mode.REALTIME, Mode.CACHED])(
    "is the one its verdict is about, where another call supplies another TIN meanwhile (mode %s)",
    async (mode) => {
      let other: Awaited<ReturnType<typeof supply>> | undefined;
      service.entities.schedule.resolved = async (tin) => {
        if (tin === FAILING) other = await supply(PASSING, mode);
      };
      expect(await supply(FAILING, mode)).toMatchObject(failing);
      expect(other).toMatchObject(passing);
      service.entities.schedule.resolved = undefined;
      expect([await storedUnder(FAILING), await storedUnder(PASSING)]).toEqual([["fail"], ["pass"]]);
      expect(await supply(FAILING, Mode.CACHED)).toMatchObject(failing);
      expect(await supply(PASSING, Mode.CACHED)).toMatchObject({ ...passing, evidenceId: other!.evidenceId });
    },
  );

  test("is sent without revealing the stored one", async () => {
    expect(await supply(FAILING)).toMatchObject(failing);
    expect(service.entities.revealed).not.toContain(entityId);
  });
});

const run = (runSeq: number) =>
  service.runOf("sandbox")(requestedRun(vendor(), { runSeq, environment, checks: [CheckType.TIN_MATCH] }));

describe("a TIN that matched", () => {
  const recorded = () => service.entities.matches.filter((match) => match.entityId === entityId);

  test("is recorded as supplied, in each mode; one that did not match is not", async () => {
    await supply(FAILING);
    expect(recorded()).toEqual([]);
    await supply(PASSING);
    await supply(PASSING, Mode.CACHED);
    const supplied = { tin: PASSING, supplied: true, tinHash: new Uint8Array(tinHashOf(PASSING)) };
    expect(recorded()).toMatchObject([supplied, supplied]);
  });

  test("is recorded as remembered by calls without a TIN and by runs, in clear where it was asked", async () => {
    await entity();
    await run(1);
    await entity(Mode.CACHED);
    const matches = recorded().map(({ tin, supplied }) => [tin, supplied]);
    expect(matches).toEqual([
      [PASSING, false],
      [PASSING, false],
      ["", false],
    ]);
  });

  test("is not recorded again where the entity service needs no record of it", async () => {
    const subject = { legalName, tinHash: tinHashOf(PASSING), tinMatchRecorded: true };
    service.entities.put(org, entityId, { subject, tin: PASSING });
    await entity();
    await run(1);
    expect(recorded()).toEqual([]);
  });

  test("is recorded before its verdict is stored: where that fails, the call is refused and nothing is stored", async () => {
    service.entities.schedule.match = async () => {
      throw new Error("killed");
    };
    await expect(supply(PASSING)).rejects.toMatchObject({ code: "service_unavailable" });
    await expect(run(1)).rejects.toMatchObject({ code: "service_unavailable" });
    expect(await storedUnder(PASSING)).toEqual([]);
    service.entities.schedule.match = undefined;
    expect(await supply(PASSING)).toMatchObject(passing);
    await run(1);
    expect(await storedUnder(PASSING)).toEqual(["pass"]);
    expect(await records()).toHaveLength(2);
  });

  test("is asked about the TIN that its call supplied, also where the checks don't include tin_match first", async () => {
    const target = supplied(FAILING);
    await verify(service, vendor(), { environment, target });
    expect(await entity()).toMatchObject(passing);
    const both = [CheckType.SAM_REGISTRATION, CheckType.TIN_MATCH];
    const { results } = await verify(service, vendor(), { environment, target, checks: both });
    const match = results.find(({ checkType }) => checkType === CheckType.TIN_MATCH)!;
    expect(match).toMatchObject({
      status: CheckStatus.FAIL,
      details: { tin: "****9363", name: legalName.replaceAll("_", " ").slice(0, 40).trim() },
    });
  });
});

describe("the remembered TIN, replaced by another call between reading its fingerprint and revealing it,", () => {
  /** Once a TIN is about to be revealed, another call supplies another one. */
  function replaceBeforeReveal(...tins: string[]) {
    service.entities.schedule.reveal = async () => {
      const tin = tins.shift();
      if (tin) remember(tin);
    };
  }

  test("leads to a verdict on the new TIN, stored under its own fingerprint", async () => {
    replaceBeforeReveal(FAILING);
    expect(await entity()).toMatchObject(failing);
    expect([await storedUnder(FAILING), await storedUnder(PASSING)]).toEqual([["fail"], []]);
    remember(PASSING);
    expect(await entity(Mode.CACHED)).toMatchObject(passing);
  });

  test("leads to a verdict on the newest TIN when it is replaced repeatedly", async () => {
    replaceBeforeReveal(FAILING, PASSING, FAILING);
    expect(await entity()).toMatchObject(failing);
    expect([await storedUnder(FAILING), await storedUnder(PASSING)]).toEqual([["fail"], []]);
  });

  test("leads to a refusal without anything stored when it keeps being replaced", async () => {
    replaceBeforeReveal(...Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? FAILING : PASSING)));
    await expect(entity()).rejects.toMatchObject({ code: "service_unavailable" });
    const verifications = service.databases.sandbox.collection("verifications");
    expect(await verifications.countDocuments({ entity_id: entityId })).toBe(0);
  });

  test("leads a monitor's run to a verdict and a fingerprint of the same TIN", async () => {
    replaceBeforeReveal(FAILING);
    await run(1);
    expect([await storedUnder(FAILING), await storedUnder(PASSING)]).toEqual([["fail"], []]);
    const completed = await records();
    const inputsFingerprint = Buffer.from(fingerprintOf(FAILING), "hex");
    const tinFingerprint = Buffer.from(tinHashOf(FAILING));
    expect(completed.map(({ checks }) => checks)).toMatchObject([
      [{ status: CheckStatus.FAIL, inputsFingerprint, tinFingerprint }],
    ]);
  });
});
