import { create, fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { loadConfig, z } from "@vvs/config";
import { newId } from "@vvs/ids";
import { createLogger } from "@vvs/logging";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { RegistryAnswerSchema } from "@vvs/proto/entity/v1/entity";
import { VerificationCompletedSchema, VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { providersSection } from "../../services/verification/src/providers/config.ts";
import { createLiveProviders } from "../../services/verification/src/providers/live-providers.ts";
import { startTestService, type TestService } from "../../services/verification/src/testing/service.ts";
import { type PlayedSamGov, playSamGov } from "../outside/sam-gov.ts";
import { startChangeDetector, type TestChangeDetector } from "../support/change-detector.ts";

// Runs of a monitor through the verification service and the change detector, each with its database, with a simulated
// SAM.gov and an extract that is three weeks old.

const UEI = "PLAYEDUEI001";
const logger = createLogger({ service: "test", level: "silent" });
const HOUR_MS = 3_600_000;
let clock = new Date("2026-11-22T09:00:00Z");
const daysAgo = (days: number) => new Date(clock.getTime() - days * 24 * HOUR_MS).toISOString().slice(0, 10);

let sam: PlayedSamGov;
let service: TestService;
let detector: TestChangeDetector;
/** Contents of the loaded exclusions file. */
let exclusionsFile: { exclusionsCutDate: string; exclusions: { terminationDate: string }[] };
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  sam = await playSamGov();
  closers.push(() => sam.close());
  const live = createLiveProviders({
    config: loadConfig(z.object(providersSection), { SAM_GOV_API_KEY: sam.apiKey, SAM_GOV_BASE_URL: sam.baseUrl }),
    entities: {
      getRegistryRecord: async () =>
        create(RegistryAnswerSchema, {
          record: { uei: UEI, legalName: "PLAYED VENDOR LLC", extractCode: "A", expirationDate: "2098-12-31" },
          registryCutDate: daysAgo(21),
          registryLoad: "registry:1",
          exclusionsLoad: "exclusions:1",
          ...exclusionsFile,
        }),
    },
    takeCall: async () => undefined,
    now: () => clock,
    logger,
    onClose: (_name, close) => void closers.push(close),
  });
  service = await startTestService({ mongodbUri: process.env.MONGODB_URI!, live, now: () => clock });
  closers.push(() => service.stop());
  detector = await startChangeDetector({ prefix: service.prefix, now: () => clock });
  closers.push(() => detector.close());
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

async function changesOf(monitorId: string): Promise<string[][]> {
  const reports = await detector.reportsOf(monitorId);
  return reports.map(({ changes }) => changes.map(({ field, previous, current }) => `${field} ${previous} ${current}`));
}

/** Creates a monitor of a new organization; `run` takes its next run through both services and returns the result. */
function newMonitor() {
  const [organizationId, entityId, monitorId] = [newId("org"), newId("ent"), newId("mon")];
  const tenant = { organizationId, environment: Environment.LIVE };
  service.entities.put(organizationId, entityId, { subject: { legalName: "Vendor", uei: UEI } });
  let runSeq = 0n;
  return {
    monitorId,
    async run() {
      runSeq += 1n;
      const recordId = `${monitorId}:${runSeq}`;
      const checks = [CheckType.SAM_REGISTRATION];
      await service.runOf("live")(
        create(VerificationRequestedSchema, { recordId, tenant, run: { monitorId, runSeq }, entityId, checks }),
      );
      const outbox = service.databases.live.collection("outbox");
      const row = await outbox.findOne({ key: monitorId, seq: Number(runSeq) });
      const completed = fromBinary(VerificationCompletedSchema, row!.value.buffer);
      await detector.detect(completed);
      const stored = await service.databases.live.collection("verifications").findOne({ run_record_id: recordId });
      const { status, origin } = stored!.results[0];
      return `${status} ${origin} ${completed.checks[0]!.facts.expiration_date}`;
    },
  };
}

/** Uses up SAM.gov's quota for the next hour. */
function useUpQuota(): void {
  const nextAccessTime = new Date(clock.getTime() + HOUR_MS).toISOString();
  sam.misbehave({ kind: "throttled", shape: "flat", nextAccessTime }, { calls: 1 });
}

function passHours(hours: number): void {
  clock = new Date(clock.getTime() + hours * HOUR_MS);
}

beforeEach(() => {
  sam.behave();
  passHours(24 * 30);
  exclusionsFile = { exclusionsCutDate: daysAgo(1), exclusions: [] };
});

test("while the API's quota is used up, its last answer is preferred to an older extract", async () => {
  sam.register({ uei: UEI, expirationDate: "2099-02-11" });
  const monitor = newMonitor();
  expect(await monitor.run()).toBe("pass sam_gov_api 2099-02-11");
  useUpQuota();
  expect(await monitor.run()).toBe("pass sam_gov_api 2099-02-11");
  passHours(2);
  expect(await monitor.run()).toBe("pass sam_gov_api 2099-02-11");
  expect(await changesOf(monitor.monitorId)).toEqual([]);
});

test("an answer of an older extract reports no change", async () => {
  const monitor = newMonitor();
  expect(await monitor.run()).toBe("pass sam_gov_api 2099-02-11");
  await service.databases.live.collection("latest_answers").deleteMany({});
  useUpQuota();
  expect(await monitor.run()).toBe("pass sam_gov_extract 2098-12-31");
  expect(await changesOf(monitor.monitorId)).toEqual([]);
});

test("a new exclusion is reported once, from the file that has it first", async () => {
  const monitor = newMonitor();
  await monitor.run();
  passHours(48);
  exclusionsFile = { exclusionsCutDate: daysAgo(0), exclusions: [{ terminationDate: "indefinite" }] };
  useUpQuota();
  expect(await monitor.run()).toBe("fail sam_gov_api 2099-02-11");
  passHours(2);
  sam.exclude({ uei: UEI });
  expect(await monitor.run()).toBe("fail sam_gov_api 2099-02-11");
  expect(await changesOf(monitor.monitorId)).toEqual([
    [
      "sam_registration.status pass fail",
      "sam_registration.registration_status active debarred",
      "sam_registration.exclusion_effect undefined bar",
    ],
  ]);
});
