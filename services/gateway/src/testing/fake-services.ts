import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { create, type DescService, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { generateApiKey, hashApiKey, type Scope, scopes } from "@vvs/api-keys";
import type { SecretKey } from "@vvs/config";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import type { Logger } from "@vvs/logging";
import { type ApiKeyRecord, ApiKeyRecordSchema, ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { Environment } from "@vvs/proto/common/v1/common";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import { JobService } from "@vvs/proto/verification/v1/jobs";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { type Handlers, onlyFor, type RpcServer, serveRpc } from "@vvs/rpc";

/** A call that a service received. */
export interface RecordedCall {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read requests of every kind
  readonly request: any;
}

/** Starts a gRPC server with the real contract that returns the answers set by the test and records its calls. */
export interface FakeService {
  readonly port: number;
  readonly calls: RecordedCall[];
  /** Sets the answer of a method. */
  // biome-ignore lint/suspicious/noExplicitAny: tests answer requests of every kind
  on(method: string, answer: (request: any, context: any) => unknown): void;
  /** Makes every method fail with this error. */
  failAll(error: Error): void;
  close(): Promise<void>;
}

/** Starts a server for each service that answers calls of clients. */
export async function serveFakes(logger: Logger) {
  return {
    entity: await serveFake(EntityService, logger),
    verification: await serveFake(VerificationService, logger),
    jobs: await serveFake(JobService, logger),
    monitor: await serveFake(MonitorService, logger),
  };
}

async function serveFake(service: DescService, logger: Logger): Promise<FakeService> {
  const calls: RecordedCall[] = [];
  const answers = new Map<string, (request: never, context: never) => unknown>();
  const handlers = Object.fromEntries(
    service.methods.map(({ localName }) => [
      localName,
      async (request: unknown, context: unknown) => {
        calls.push({ method: localName, request });
        const answer = answers.get(localName);
        if (!answer) throw new Error(`no answer for ${localName}`);
        return answer(request as never, context as never);
      },
    ]),
  );
  const server = await serveRpc({
    service,
    handlers: handlers as Handlers<DescService>,
    callers: onlyFor(service, "gateway"),
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    logger,
  });
  return {
    port: server.port,
    calls,
    on: (method, answer) => void answers.set(method, answer),
    failAll(error) {
      for (const { localName } of service.methods) answers.set(localName, () => Promise.reject(error));
    },
    close: () => server.close(0),
  };
}

export interface TestKeyOptions {
  readonly environment?: "live" | "sandbox";
  readonly organizationId?: string;
  readonly scopes?: readonly Scope[];
  readonly limitPerMinute?: number;
  readonly suspended?: boolean;
  readonly expiresAt?: Date;
  /** True for a key that account knows, but its watch does not report. */
  readonly unwatched?: boolean;
}

/** Plays account's API keys: the watch, and the call that reads one key. */
export interface FakeAccount {
  readonly port: number;
  /** Returns the number of calls that read one key. */
  reads(): number;
  createKey(options?: TestKeyOptions): { value: string; record: ApiKeyRecord };
  revoke(record: ApiKeyRecord): void;
  /** Sets a key's end, as a roll does. */
  end(record: ApiKeyRecord, at: Date): void;
  /** Ends all watches, as the end of a connection does. */
  endWatches(): void;
  /** Returns for each watch so far whether it was resumed. */
  resumed(): readonly boolean[];
  /** Holds the answers of the calls that read one key until the returned function is called. */
  holdReads(): () => void;
  /** Stops heartbeats and updates but keeps the watch open, like a hanging connection. */
  freeze(frozen: boolean): void;
  close(): Promise<void>;
}

export async function serveFakeAccount(peppers: readonly SecretKey[], logger: Logger, port = 0): Promise<FakeAccount> {
  const records = new Map<string, ApiKeyRecord>();
  const unwatched = new Set<string>();
  let version = 0;
  let reads = 0;
  let held: Promise<void> | undefined;
  let frozen = false;
  let connections = 0;
  /** Begins the positions that this account knows. */
  const own = randomUUID();
  const resumed: boolean[] = [];
  /** The version with which each record changed last, by its id. */
  const changes = new Map<string, number>();

  async function* watchApiKeys({ position }: { position: string }, { signal }: { signal: AbortSignal }) {
    const connection = connections;
    const [of, number] = position.split(":");
    let snapshotDone = of === own;
    let seen = snapshotDone ? Number(number) : -1;
    resumed.push(snapshotDone);
    if (snapshotDone) yield { step: { case: "resumed" as const, value: {} } };
    while (!signal.aborted) {
      if (connection !== connections) return;
      if (!frozen) {
        const since = seen;
        seen = version;
        for (const record of records.values()) {
          const isNew = changes.get(record.id)! > since;
          if (isNew && !unwatched.has(record.id)) yield { step: { case: "key" as const, value: record } };
        }
        yield snapshotDone
          ? { step: { case: "heartbeat" as const, value: { position: `${own}:${seen}` } } }
          : { step: { case: "snapshotDone" as const, value: {} } };
        snapshotDone = true;
      }
      await delay(20);
    }
  }

  async function getApiKey({ hashes }: { hashes: Uint8Array[] }) {
    reads += 1;
    await held;
    const key = hashes.map((hash) => records.get(Buffer.from(hash).toString("hex"))).find((found) => found);
    if (!key) throw new ServiceError("not_found");
    return { key };
  }

  const unused = async () => Promise.reject(new Error("not called by the gateway"));
  const others = Object.fromEntries(ApiKeyService.methods.map(({ localName }) => [localName, unused]));
  const server: RpcServer = await serveRpc({
    service: ApiKeyService,
    handlers: { ...others, watchApiKeys, getApiKey } as unknown as Handlers<typeof ApiKeyService>,
    callers: onlyFor(ApiKeyService, "gateway"),
    host: "127.0.0.1",
    port,
    tls: undefined,
    logger,
  });

  const put = (record: ApiKeyRecord) => {
    records.set(Buffer.from(record.hash).toString("hex"), record);
    version += 1;
    changes.set(record.id, version);
  };
  return {
    port: server.port,
    reads: () => reads,
    createKey(options = {}) {
      const { environment = "live", limitPerMinute = 1_000 } = options;
      const value = generateApiKey(environment);
      const [{ hash, pepperId } = { hash: Buffer.alloc(0), pepperId: "" }] = hashApiKey(peppers, value);
      const init: MessageInitShape<typeof ApiKeyRecordSchema> = {
        id: newId("key"),
        hash,
        pepperId,
        tenant: {
          organizationId: options.organizationId ?? newId("org"),
          environment: environment === "live" ? Environment.LIVE : Environment.SANDBOX,
        },
        scopes: [...(options.scopes ?? scopes)],
        limitPerMinute,
        activeMonitors: 25,
        createdEntities: 250,
        openJobRows: 10_000,
        organizationSuspended: options.suspended ?? false,
        expiresAt: options.expiresAt && timestampFromDate(options.expiresAt),
      };
      const record = create(ApiKeyRecordSchema, init);
      if (options.unwatched) unwatched.add(record.id);
      put(record);
      return { value, record };
    },
    revoke: (record) => put({ ...record, revokedAt: timestampFromDate(new Date()) }),
    end: (record, at) => put({ ...record, expiresAt: timestampFromDate(at) }),
    endWatches: () => void connections++,
    resumed: () => resumed,
    holdReads() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    freeze(value) {
      frozen = value;
    },
    close: () => server.close(0),
  };
}
