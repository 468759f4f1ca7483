import { beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { CheckType, Environment, type Identifiers } from "@vvs/proto/common/v1/common";
import { Decision, type JobResult, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { registryDay } from "@vvs/registration";
import type { Provider } from "../providers/provider.ts";
import { passing, testProvider, verify } from "../testing/calls.ts";
import { jobsOf } from "../testing/jobs.ts";
import { startTestService } from "../testing/service.ts";

// Rows whose registration is not checked now: the loaded files say whether the vendor, or somebody of its name, is excluded.

const { SAM_REGISTRATION, TIN_MATCH } = CheckType;
const { LIVE, SANDBOX } = Environment;
const UEI = "ABCDEFGHJK12";
const NAMES = { [Decision.PAY]: "pay", [Decision.HOLD]: "hold", [Decision.REVIEW]: "review" } as Record<number, string>;

let entityName = "";
let samDetails: object = {};
let tinAsked = 0;
const live: Provider[] = [
  testProvider("sam_gov_extract", "sam_registration", async () => passing({ details: samDetails })),
  testProvider("taxbandits", "tin_match", async () => {
    tinAsked += 1;
    return passing({ details: { name: "Acme Trading" } });
  }),
];

const service = await startTestService({ live });

let organizationId = "";
const entityId = newId("ent");
beforeEach(() => {
  organizationId = newId("org");
  entityName = "Acme LLC";
  samDetails = {};
  tinAsked = 0;
  const { schedule } = service.entities;
  schedule.resolve = (identifiers) => {
    const subject = { legalName: entityName, uei: identifiers?.uei ?? "", tinHash: Buffer.from("hash of the TIN") };
    service.entities.put(organizationId, entityId, { subject, tin: "471829360" });
    return entityId;
  };
  schedule.nameAgrees = () => true;
  setFiles();
});

const today = () => registryDay(new Date());
const loaded = () => ({ exclusionsCutDate: today(), exclusionsLoad: "exclusions:1" });
const excluded = (effect: string) => ({ exclusions: [{ effect, terminationDate: "indefinite" }] });

/** Sets what the files say, and which names an excluded person or firm without identifiers bears. */
function setFiles(more: object = {}, bearing: readonly string[] = []) {
  for (const uei of [UEI, "0".repeat(12)]) {
    service.entities.setRegistry(LIVE, uei, (names) => ({
      ...loaded(),
      sameNames: names
        .filter((name) => bearing.includes(name))
        .map((name) => ({ name, terminationDate: "indefinite" })),
      ...more,
    }));
  }
}

async function runRow(row: object, terms: object, environment = LIVE): Promise<JobResult> {
  const { start, results } = jobsOf(service, organizationId, environment);
  const id = await start([row], terms);
  await service.jobs[environment === LIVE ? "live" : "sandbox"].work();
  return (await results(id))[0]!;
}

const told = ({ decision, doubts }: JobResult) => [NAMES[decision], doubts];
const identifiers = { uei: UEI, tin: "471829360" };
const onlyTin = { checks: [TIN_MATCH] };

describe("a row that checks the TIN only", () => {
  test.each<[string, string[], object, readonly string[], object?]>([
    ["is paid where the files have nothing", [], {}, []],
    ["is paid where it has no UEI, and the files have nothing", [], {}, [], { identifiers: { tin: "471829360" } }],
    ["is not paid where an exclusion is in force", ["exclusion"], excluded("bar"), []],
    ["is not paid where some products are restricted", ["exclusion"], excluded("product"), []],
    ["is not paid where a row bears the name that it gives", ["same_name"], {}, ["Acme Trading"]],
    ["is not paid where a row bears the vendor’s name", ["same_name"], {}, ["Acme LLC"]],
    [
      "is not paid where no exclusions file is loaded",
      ["exclusions_unknown", "same_name_unknown"],
      { exclusionsCutDate: "", exclusionsLoad: "" },
      [],
    ],
    [
      "is not paid where the exclusions file is too old",
      ["exclusions_unknown"],
      { exclusionsCutDate: "2026-01-01" },
      [],
    ],
  ])("%s", async (_case, doubts, files, bearing, row = {}) => {
    setFiles(files, bearing);
    const result = await runRow({ identifiers, legalName: "Acme Trading", ...row }, onlyTin);
    expect(told(result)).toEqual([doubts.length > 0 ? "review" : "pay", doubts]);
    expect(tinAsked).toBe(1);
  });

  test("waits while the files can't be read, and no provider is asked", async () => {
    service.entities.schedule.registry = () => Promise.reject(new ServiceError("internal_error"));
    expect((await runRow({ identifiers }, onlyTin)).outcome).toBe(RowOutcome.WAITING);
    delete service.entities.schedule.registry;
    expect(tinAsked).toBe(0);
  });

  test.each([
    ["is paid where the sandbox has nothing", "SANDBXACTVE1", [], { record: { uei: "SANDBXACTVE1" } }],
    ["is not paid where the sandbox has an exclusion", "SANDBXDEBAR1", ["exclusion"], { record: { excluded: true } }],
    ["is not paid where the sandbox has one of its name", "SANDBXSAMEN2", ["same_name"], {}],
    [
      "is not paid where it has no UEI, and the sandbox has one of its name",
      "",
      ["same_name"],
      {},
      "Sandbox Same Name",
    ],
  ])("%s", async (_case, uei, doubts, files, legalName = "Acme Trading") => {
    service.entities.setRegistry(SANDBOX, uei || "0".repeat(12), files);
    const row = { identifiers: { uei, tin: "471829360" }, legalName };
    const result = await runRow(row, onlyTin, SANDBOX);
    expect(told(result)).toEqual([doubts.length > 0 ? "review" : "pay", doubts]);
  });
});

describe("a row that is answered by a stored answer", () => {
  const cached = { checks: [SAM_REGISTRATION], mode: Mode.CACHED };

  test.each<[string, string[], object, readonly string[]]>([
    ["is paid where the files have nothing", [], {}, []],
    ["is not paid where a row bears the name that it gives", ["same_name"], {}, ["Acme Trading"]],
    ["is not paid where a row bears the name in the answer", ["same_name"], {}, ["ACME HOLDING"]],
    ["is not paid where an exclusion is in force since", ["exclusion"], excluded("facility"), []],
    ["is not paid where no exclusions file is loaded", ["same_name_unknown"], { exclusionsLoad: "" }, []],
  ])("%s", async (_case, doubts, files, bearing) => {
    entityName = "Acme Holding";
    samDetails = { legal_name: "ACME HOLDING" };
    expect(told(await runRow({ identifiers: { uei: UEI } }, { checks: [SAM_REGISTRATION] }))).toEqual(["pay", []]);
    setFiles(files, bearing);
    const result = await runRow({ identifiers: { uei: UEI }, legalName: "Acme Trading" }, cached);
    expect(told(result)).toEqual([doubts.length > 0 ? "review" : "pay", doubts]);
  });
});

describe("a direct call that is answered by a stored answer", () => {
  async function verifyCached(legalName: string) {
    entityName = "Acme Holding";
    samDetails = { legal_name: "ACME HOLDING" };
    service.entities.schedule.resolve!({ uei: UEI } as Identifiers, "");
    await verify(service, { organizationId, entityId });
    let reads = 0;
    service.entities.schedule.registry = async () => void reads++;
    const vendor = { identifiers: { uei: UEI }, legalName };
    const call = { mode: Mode.CACHED, ...(legalName && { target: { case: "vendor" as const, value: vendor } }) };
    const { payment } = await verify(service, { organizationId, entityId }, call);
    delete service.entities.schedule.registry;
    return [payment?.doubts, reads];
  }

  test.each<[string, string, readonly string[], string[], number]>([
    ["is not paid where a row bears the name that it gives", "Acme Trading", ["Acme Trading"], ["same_name"], 1],
    ["is paid where no row bears that name", "Acme Trading", [], [], 1],
    ["reads nothing where it gives the registered name", "Acme Holding", [], [], 0],
    ["reads nothing where it gives no name", "", [], [], 0],
  ])("%s", async (_case, legalName, bearing, doubts, reads) => {
    setFiles({}, bearing);
    expect(await verifyCached(legalName)).toEqual([doubts, reads]);
  });

  test("reads nothing where it is not paid anyway", async () => {
    service.entities.schedule.nameAgrees = () => false;
    expect(await verifyCached("Lorwin")).toEqual([["other_name"], 0]);
  });
});

test("a direct call that checks the TIN only says that nobody looked at exclusions", async () => {
  service.entities.schedule.resolve!(undefined, "");
  const { payment } = await verify(service, { organizationId, entityId }, { checks: [TIN_MATCH] });
  expect(payment?.doubts).toEqual(["exclusions_unknown"]);
});
