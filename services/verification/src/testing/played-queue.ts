import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Check } from "@vvs/checks";
import { toCheckType } from "@vvs/checks";
import { loadConfig, z } from "@vvs/config";
import { newId } from "@vvs/ids";
import { Environment } from "@vvs/proto/common/v1/common";
import type { RegistryAnswerSchema } from "@vvs/proto/entity/v1/entity";
import { atEnd, silentLogger } from "@vvs/testing";
import { type PlayedSamGov, playSamGov } from "../../../../test/outside/sam-gov.ts";
import type { VerificationDocument } from "../documents.ts";
import { type ProvidersConfig, providerAccounts, providersSection } from "../providers/config.ts";
import { createLiveProviders } from "../providers/live-providers.ts";
import type { Provider } from "../providers/provider.ts";
import { queueCollections } from "../questions/documents.ts";
import { putVendor, requestedRun } from "./calls.ts";
import { startTestService, type TestService } from "./service.ts";

const DAY_MS = 86_400_000;

/** What the files say about a vendor. */
export type TestFiles = MessageInitShape<typeof RegistryAnswerSchema>;

export type PlayedQueue = Awaited<ReturnType<typeof startPlayedQueue>>;

/** Replicas of the service with a simulated SAM.gov, files and a clock of the test. The queue works only when it says so. */
export async function startPlayedQueue(start: string) {
  const sam: PlayedSamGov = await playSamGov();
  let clock = new Date(start);
  const services: TestService[] = [];

  /** Starts a replica, with variables that differ from those of the first one. */
  async function startReplica(
    variables: NodeJS.ProcessEnv = {},
    options: Partial<Parameters<typeof startTestService>[0]> & { tin?: Provider["ask"] } = {},
  ): Promise<TestService> {
    const env = { SAM_GOV_API_KEY: sam.apiKey, SAM_GOV_BASE_URL: sam.baseUrl, ...variables };
    const config: ProvidersConfig = loadConfig(z.object(providersSection), env);
    const { tin, ...others } = options;
    const now = options.now ?? (() => clock);
    const service = await startTestService({
      prefix: services[0]?.prefix,
      now,
      accounts: providerAccounts(config),
      live: (of) => [
        ...createLiveProviders({
          config,
          ...of,
          now,
          logger: silentLogger,
          onClose: (_name, close) => void atEnd(close),
        }),
        ...(tin ? [{ name: "tin_provider", check: "tin_match" as const, ask: tin }] : []),
      ],
      ...others,
    });
    services.push(service);
    return service;
  }

  const collections = () => queueCollections(services[0]!.databases.live);

  return {
    sam,
    now: () => clock,
    passHours(hours: number): void {
      clock = new Date(clock.getTime() + hours * 3_600_000);
    },
    setTime(time: string): void {
      clock = new Date(time);
    },
    /** Returns the UTC day `days` days before the test's time, YYYY-MM-DD. */
    daysAgo: (days: number) => new Date(clock.getTime() - days * DAY_MS).toISOString().slice(0, 10),
    startReplica,
    /** Sets what the files of all replicas say about a vendor. */
    setFiles(uei: string, files: TestFiles): void {
      for (const { entities } of services) entities.setRegistry(Environment.LIVE, uei, files);
    },
    collections,
    /** Lets any replica ask: the one that asked last would go on asking. */
    async freeAsker(): Promise<void> {
      await collections().asker.updateOne({ _id: "asker" }, { $set: { owner: null, until: new Date(0) } });
    },
    /** Has a replica ask what waits, and verify the runs that are ready. */
    async work(by: TestService): Promise<void> {
      await by.queue.ask();
      await by.queue.resume();
    },
    /** Stops all replicas but the first one, which owns the databases, and removes what they shared about SAM.gov's state. */
    async stopReplicas(): Promise<void> {
      for (const service of services.splice(1).toReversed()) await service.stop();
      await services[0]!.databases.live.collection("provider_state").deleteMany({});
    },
  };
}

/** A monitor of a new organization. Its runs are processed by the replica that is given. */
export function createTestMonitor(
  subject: { uei?: string; cage?: string; tinHash?: Uint8Array },
  { checks = ["sam_registration"], replicas }: { checks?: readonly Check[]; replicas: readonly TestService[] },
) {
  const { organizationId, entityId } = putVendor(replicas, { legalName: "V", uei: "", ...subject });
  const monitorId = newId("mon");
  let runSeq = 0;
  const record = (runSeq: number, canceled = false) =>
    requestedRun({ organizationId, entityId }, { monitorId, runSeq, checks: checks.map(toCheckType), canceled });
  const verificationOf = (seq: number) =>
    replicas[0]!.databases.live
      .collection<VerificationDocument>("verifications")
      .findOne({ run_record_id: `${monitorId}:${seq}` });
  return {
    organizationId,
    entityId,
    monitorId,
    verificationOf,
    /** Processes the record of the newest run again, or that of another one. */
    again: (replica = replicas[0]!, seq = runSeq) => replica.runOf("live")(record(seq)),
    /** Processes the record that its cancellation sends. */
    cancel: (replica = replicas[0]!) => replica.runOf("live")(record(runSeq, true)),
    /** Processes the record of the next run; returns its result, or `parked`. */
    async run(replica = replicas[0]!): Promise<string> {
      runSeq += 1;
      await replica.runOf("live")(record(runSeq));
      return this.result();
    },
    /** The result of a run, the newest where none is named: the first check's status, origin and reason. */
    async result(seq = runSeq): Promise<string> {
      const verification = await verificationOf(seq);
      if (!verification) return "parked";
      const { status, origin, reason } = verification.results[0]!;
      return `${status} ${origin} ${reason}`.trim();
    },
  };
}
