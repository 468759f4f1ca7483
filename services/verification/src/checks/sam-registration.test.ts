import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { loadConfig, z } from "@vvs/config";
import { RegistryAnswerSchema } from "@vvs/proto/entity/v1/entity";
import { recordTelemetry } from "@vvs/telemetry/testing";
import { atEnd, captureLogs } from "@vvs/testing";
import { type PlayedSamGov, playSamGov } from "../../../../test/outside/sam-gov.ts";
import { providersSection } from "../providers/config.ts";
import { createLiveProviders } from "../providers/live-providers.ts";
import { callerOf, putVendor, requestedRun, type TestVendor, verifyResult } from "../testing/calls.ts";
import { startTestService, type TestService } from "../testing/service.ts";

// The service with the live providers of a configuration, which call a played SAM.gov.

const { spans } = recordTelemetry();

const { logger, lines } = captureLogs("trace");

/** The extract as loaded: UEIs of registrations that it knows to be active. */
const extract = new Set<string>();
const CUT_DATE = new Date().toISOString().slice(0, 10);

let sam: PlayedSamGov;
/** Called when the API's provider, or the extract's, begins a question. */
let onQuestion: (() => void) | undefined;
/** Each HTTP call waits for this before it is made. */
let gate: Promise<void> | undefined;
/** Owns the databases. */
const owner = await startTestService({ live: [] });
beforeEach(async () => {
  sam = await playSamGov();
});
afterEach(async () => {
  [onQuestion, gate] = [undefined, undefined];
  await owner.databases.live.collection("provider_state").deleteMany({});
});

/** The service as configured. */
async function start(): Promise<TestService> {
  const env = { SAM_GOV_API_KEY: sam.apiKey, SAM_GOV_BASE_URL: sam.baseUrl };
  const live = createLiveProviders({
    config: loadConfig(z.object(providersSection), env),
    entities: {
      async getRegistryRecord({ uei = "" }) {
        onQuestion?.();
        return create(RegistryAnswerSchema, {
          record: extract.has(uei)
            ? { uei, legalName: "LISTED LLC", extractCode: "A", expirationDate: "2099-01-01" }
            : undefined,
          registryCutDate: CUT_DATE,
          exclusionsCutDate: CUT_DATE,
        });
      },
    },
    takeCall: async () => gate,
    now: () => new Date(),
    logger,
    onClose: (_name, close) => void atEnd(close),
  });
  const service = await startTestService({ logger, prefix: owner.prefix, live });
  return service;
}

let serial = 0;
function newUei(): string {
  serial += 1;
  return `PLAYED${String(serial).padStart(6, "0")}`;
}

const put = (service: TestService, uei: string) => putVendor(service, { uei });
const run = (service: TestService, vendor: TestVendor, runSeq = 1) =>
  service.runOf("live")(requestedRun(vendor, { runSeq }));

describe("sam_registration, live", () => {
  test("rests on SAM.gov's API, and on the extract where that gives no answer", async () => {
    const service = await start();
    const uei = newUei();
    const vendor = put(service, uei);
    sam.register({ uei });
    extract.add(uei);
    expect(await verifyResult(service, vendor)).toMatchObject({
      result: "PASS sam_gov_api",
      attempts: ["sam_gov_api pass"],
    });
    sam.misbehave({ kind: "status", status: 503 });
    const attempts = ["sam_gov_api throw http_503", "sam_gov_extract pass"];
    expect(await verifyResult(service, put(service, uei))).toMatchObject({ result: "PASS sam_gov_extract", attempts });
    // What the API returned to this organization before is newer than the extract.
    expect(await verifyResult(service, vendor)).toMatchObject({ result: "PASS sam_gov_api", attempts });
    sam.behave();
    expect((await verifyResult(service, put(service, uei))).result).toBe("PASS sam_gov_api");
  });

  test("is an error and never a fail where the API does not answer and the extract can't know", async () => {
    const service = await start();
    sam.misbehave({ kind: "counted_without_data" });
    expect(await verifyResult(service, put(service, newUei()))).toMatchObject({
      result: "ERROR none stale_source",
      attempts: ["sam_gov_api throw wrong_shape", "sam_gov_extract throw stale_source"],
    });
  });

  test("organizations that ask at the same time share one call, and each has its own evidence", async () => {
    const service = await start();
    const uei = newUei();
    sam.register({ uei });
    const vendors = Array.from({ length: 10 }, () => put(service, uei));
    const allAsked = Promise.withResolvers<void>();
    gate = allAsked.promise;
    let asked = 0;
    onQuestion = () => {
      asked += 1;
      if (asked === vendors.length) allAsked.resolve();
    };
    const verified = await Promise.all(vendors.map((vendor) => verifyResult(service, vendor)));
    expect(new Set(verified.map(({ result }) => result))).toEqual(new Set(["PASS sam_gov_api"]));
    expect([sam.calls("entities").length, sam.calls("exclusions").length]).toEqual([1, 0]);
    expect(new Set(verified.map(({ evidence }) => evidence.id)).size).toBe(10);
    expect(new Set(verified.map(({ evidence }) => evidence.sha256)).size).toBe(1);
    const { evidence } = verified[0]!;
    await expect(
      service.client.getEvidence({ caller: callerOf(vendors[1]!.organizationId), evidenceId: evidence.id }),
    ).rejects.toMatchObject({ code: "evidence_not_found" });
  });

  test("keys appear in nothing that is stored, logged, traced or put into a URL", async () => {
    const service = await start();
    const uei = newUei();
    sam.register({ uei, legalName: `A VENDOR NAMED ${sam.apiKey}` });
    await verifyResult(service, put(service, uei));
    await run(service, put(service, uei));
    const other = newUei();
    sam.register({ uei: other, legalName: `ANOTHER NAMED ${sam.apiKey}` });
    await run(service, put(service, other), 2);
    await service.queue.ask();
    await service.queue.resume();
    sam.misbehave({ kind: "cut" }, { calls: 1 });
    await verifyResult(service, put(service, uei));
    sam.misbehave({ kind: "status", status: 403, text: `{"invalid":"${sam.apiKey}"}` });
    await verifyResult(service, put(service, uei));
    const stored: unknown[] = [];
    for (const { name } of await service.databases.live.listCollections().toArray()) {
      stored.push(await service.databases.live.collection(name).find().toArray());
    }
    const traced = spans.map(({ name, attributes, status, events }) => ({ name, attributes, status, events }));
    expect(traced.some(({ name }) => name === "ask sam_gov_api")).toBe(true);
    expect(JSON.stringify(lines).includes("SAM.gov refuses the key")).toBe(true);
    const urls = sam.calls().map(({ query }) => query);
    for (const [where, what] of Object.entries({ stored, traced, lines, urls })) {
      expect({ where, found: JSON.stringify(what).includes(sam.apiKey) }).toEqual({ where, found: false });
    }
  });
});
