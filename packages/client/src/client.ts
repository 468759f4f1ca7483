import { readAll } from "./pages.ts";
import {
  type CallOptions,
  createTransport,
  DEFAULT_LIMITS,
  type Operation,
  type TransportOptions,
} from "./transport.ts";
import type {
  CreateEntityRequest,
  CreateJobRequest,
  CreateMonitorRequest,
  CreateVerificationRequest,
  Entity,
  EntityPage,
  EventPage,
  Evidence,
  ForwardEventPage,
  Job,
  JobPage,
  JobResult,
  JobResultPage,
  LookupRequest,
  LookupResult,
  Monitor,
  MonitorPage,
  MonitorRunPage,
  Provider,
  ReceiptKeys,
  SnapshotPage,
  UpdateMonitorRequest,
  Verification,
  VerificationPage,
  VerifyRequest,
} from "./types.ts";

export type ClientOptions = TransportOptions;

/** Options of a POST that has an effect. */
export interface PostOptions extends CallOptions {
  /**
   * A key of your own, 1–255 printable ASCII characters, so that the same call takes effect only once even if your
   * process is restarted. Without one, each call makes its own, which protects its retries.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Which page of a list. */
export type PageQuery = {
  /** Maximum number of items, 1–100. 25 by default. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
};

export type ExternalIdQuery = PageQuery & {
  /** Only those with this number of yours. */
  readonly external_id?: string | undefined;
};

export type VerificationQuery = PageQuery & {
  /** Only those of this entity. */
  readonly entity_id?: string | undefined;
};

/** Which monitors: those that fit all of it. */
export type MonitorQuery = VerificationQuery & ExternalIdQuery;

export type JobResultQuery = PageQuery & {
  /** Only rows with this outcome. */
  readonly outcome?: JobResult["outcome"] | undefined;
};

/** Where to go on reading events. */
export interface ForwardQuery {
  /** The `next_cursor` of an earlier answer, `start` for the oldest event kept, or `now` for only new events. */
  readonly after: string;
  /** How long the service waits for the first event, 0–20 seconds. 0 by default. */
  readonly wait?: number | undefined;
  /** Maximum number of events, 1–100. 25 by default. */
  readonly limit?: number | undefined;
}

/** Time beyond its wait that an attempt to read events gets, in milliseconds. */
const WAIT_MARGIN_MS = 10_000;
const LONGEST_WAIT_SECONDS = 20;

export type Client = ReturnType<typeof createClient>;

/**
 * Returns a client of the service. Every method can throw ApiError, ConnectionError or TimeoutError. Reads and canceling
 * are retried, and so is every POST, because it carries an Idempotency-Key; updateMonitor and setExternalId only after 429.
 * Errors: TypeError for unusable options.
 */
export function createClient(options: ClientOptions) {
  const call = createTransport(options);
  const get = <T>(path: string, query?: Operation["query"], callOptions?: CallOptions) =>
    call<T>({ method: "GET", path, query }, callOptions);
  const getText = (path: string, callOptions?: CallOptions) =>
    call<string>({ method: "GET", path, text: "application/jwt" }, callOptions);
  const post = <T>(path: string, body: object, { idempotencyKey, ...callOptions }: PostOptions = {}) =>
    call<T>({ method: "POST", path, body, idempotencyKey: idempotencyKey ?? crypto.randomUUID() }, callOptions);

  const listEntities = (query: ExternalIdQuery = {}, callOptions?: CallOptions) =>
    get<EntityPage>("/v1/entities", query, callOptions);
  const listSnapshots = (entityId: string, query: PageQuery = {}, callOptions?: CallOptions) =>
    get<SnapshotPage>(`/v1/entities/${segment(entityId)}/snapshots`, query, callOptions);
  const listVerifications = (query: VerificationQuery = {}, callOptions?: CallOptions) =>
    get<VerificationPage>("/v1/verifications", query, callOptions);
  const listJobs = (query: PageQuery = {}, callOptions?: CallOptions) => get<JobPage>("/v1/jobs", query, callOptions);
  const listJobResults = (jobId: string, query: JobResultQuery = {}, callOptions?: CallOptions) =>
    get<JobResultPage>(`/v1/jobs/${segment(jobId)}/results`, query, callOptions);
  const listMonitors = (query: MonitorQuery = {}, callOptions?: CallOptions) =>
    get<MonitorPage>("/v1/monitors", query, callOptions);
  const listMonitorRuns = (monitorId: string, query: PageQuery = {}, callOptions?: CallOptions) =>
    get<MonitorRunPage>(`/v1/monitors/${segment(monitorId)}/runs`, query, callOptions);
  const listMonitorEvents = (monitorId: string, query: PageQuery = {}, callOptions?: CallOptions) =>
    get<EventPage>(`/v1/monitors/${segment(monitorId)}/events`, query, callOptions);
  const listEvents = (query: PageQuery = {}, callOptions?: CallOptions) =>
    get<EventPage>("/v1/events", query, callOptions);
  const readEvents = ({ after, wait, limit }: ForwardQuery, callOptions: CallOptions = {}) => {
    const attemptTimeoutMs = Math.max(
      callOptions.attemptTimeoutMs ?? options.attemptTimeoutMs ?? DEFAULT_LIMITS.attemptTimeoutMs,
      (wait ?? 0) * 1_000 + WAIT_MARGIN_MS,
    );
    return get<ForwardEventPage>("/v1/events", { after, wait, limit }, { ...callOptions, attemptTimeoutMs });
  };

  return {
    /**
     * Finds an entity by identifiers, name or address; never creates one. Returns the entity, or `{ candidates }` if a
     * fuzzy look-up cannot decide. Errors: entity_not_found, ambiguous_match (with `candidates`).
     */
    lookup: (body: LookupRequest, { explain, ...callOptions }: CallOptions & { explain?: boolean | undefined } = {}) =>
      call<LookupResult>({ method: "POST", path: "/v1/entities/lookup", query: { explain }, body }, callOptions),

    /** Creates an entity of your organization. Errors: entity_exists (with `entityId`). */
    createEntity: (body: CreateEntityRequest, callOptions?: PostOptions) =>
      post<Entity>("/v1/entities", body, callOptions),

    /** Returns an entity. Errors: entity_not_found. */
    getEntity: (entityId: string, callOptions?: CallOptions) =>
      get<Entity>(`/v1/entities/${segment(entityId)}`, undefined, callOptions),

    /** Returns a page of the entities that your organization created, newest first. */
    listEntities,
    /** Iterates over all of them. */
    allEntities: (query: ExternalIdQuery = {}, callOptions?: CallOptions) =>
      readAll("entities", query, (page) => listEntities(page, callOptions)),

    /** Returns a page of an entity's snapshots, newest first. Errors: entity_not_found. */
    listSnapshots,
    /** Iterates over all of them. */
    allSnapshots: (entityId: string, query: PageQuery = {}, callOptions?: CallOptions) =>
      readAll("snapshots", query, (page) => listSnapshots(entityId, page, callOptions)),

    /** Gives any visible entity your own number, or removes it with null. Errors: entity_not_found. */
    setExternalId: (entityId: string, externalId: string | null, callOptions?: CallOptions) => {
      const path = `/v1/entities/${segment(entityId)}/external_id`;
      const body = { external_id: externalId };
      return call<Entity>({ method: "PUT", path, body, repeatable: "if-refused" }, callOptions);
    },

    /**
     * Verifies an entity, or the vendor with these identifiers, which is created if nobody has it.
     * Errors: entity_not_found, entity_exists (with `entityId`), ambiguous_match (with `candidates`).
     */
    verify: (body: VerifyRequest, callOptions?: PostOptions) => post<Verification>("/v1/verify", body, callOptions),

    /** Verifies an entity. Errors: entity_not_found. */
    createVerification: (body: CreateVerificationRequest, callOptions?: PostOptions) =>
      post<Verification>("/v1/verifications", body, callOptions),

    /** Returns a verification. Errors: verification_not_found. */
    getVerification: (verificationId: string, callOptions?: CallOptions) =>
      get<Verification>(`/v1/verifications/${segment(verificationId)}`, undefined, callOptions),

    /**
     * Returns the receipt of a verification: a signed text that `checkReceipt` checks without the service.
     * Errors: verification_not_found; not_found where the operator has configured no keys.
     */
    getReceipt: (verificationId: string, callOptions?: CallOptions) =>
      getText(`/v1/verifications/${segment(verificationId)}/receipt`, callOptions),

    /** Returns the public keys that receipts are checked with. Keep them beside receipts. */
    getReceiptKeys: (callOptions?: CallOptions) => get<ReceiptKeys>("/.well-known/jwks.json", undefined, callOptions),

    /** Returns a page of verifications, newest first. */
    listVerifications,
    /** Iterates over all of them. */
    allVerifications: (query: VerificationQuery = {}, callOptions?: CallOptions) =>
      readAll("verifications", query, (page) => listVerifications(page, callOptions)),

    /** Returns the evidence of a result by its id or by the `evidence_uri`. Errors: evidence_not_found. */
    getEvidence: (idOrUri: string, callOptions?: CallOptions) =>
      get<Evidence>(`/v1/evidence/${segment(idOrUri.replace(/^https?:.*\//, ""))}`, undefined, callOptions),

    /** Returns the data providers of the key's environment with their state. */
    listProviders: (callOptions?: CallOptions) =>
      get<{ providers: Provider[] }>("/v1/providers", undefined, callOptions).then(({ providers }) => providers),

    /** Verifies up to 10,000 vendors in the background. Errors: invalid_request, too_many_rows. */
    createJob: (body: CreateJobRequest, callOptions?: PostOptions) => post<Job>("/v1/jobs", body, callOptions),

    /** Returns a job with the numbers of its rows by outcome. Errors: job_not_found. */
    getJob: (jobId: string, callOptions?: CallOptions) =>
      get<Job>(`/v1/jobs/${segment(jobId)}`, undefined, callOptions),

    /** Returns a page of jobs, newest first. */
    listJobs,
    /** Iterates over all of them. */
    allJobs: (query: PageQuery = {}, callOptions?: CallOptions) =>
      readAll("jobs", query, (page) => listJobs(page, callOptions)),

    /** Returns a page of the rows of a job that have an outcome, in the order given. Errors: job_not_found. */
    listJobResults,
    /** Iterates over all of them. */
    allJobResults: (jobId: string, query: JobResultQuery = {}, callOptions?: CallOptions) =>
      readAll("results", query, (page) => listJobResults(jobId, page, callOptions)),

    /**
     * Returns the receipt of a job, which `checkReceipt<JobReceipt>` checks without the service. Errors: job_not_found; not_found
     * where the operator has configured no keys.
     */
    getJobReceipt: (jobId: string, callOptions?: CallOptions) =>
      getText(`/v1/jobs/${segment(jobId)}/receipt`, callOptions),

    /** Cancels a job: what is done stays. Errors: job_not_found, job_finished. */
    cancelJob: (jobId: string, callOptions?: CallOptions) =>
      call<Job>({ method: "DELETE", path: `/v1/jobs/${segment(jobId)}` }, callOptions),

    /** Creates a monitor. Errors: entity_not_found, limit_exceeded. */
    createMonitor: (body: CreateMonitorRequest, callOptions?: PostOptions) =>
      post<Monitor>("/v1/monitors", body, callOptions),

    /** Returns a monitor of any status. Errors: monitor_not_found. */
    getMonitor: (monitorId: string, callOptions?: CallOptions) =>
      get<Monitor>(`/v1/monitors/${segment(monitorId)}`, undefined, callOptions),

    /** Returns a page of the active monitors, newest first. */
    listMonitors,
    /** Iterates over all of them. */
    allMonitors: (query: MonitorQuery = {}, callOptions?: CallOptions) =>
      readAll("monitors", query, (page) => listMonitors(page, callOptions)),

    /** Changes a monitor and keeps its baseline. Errors: monitor_not_found, monitor_canceled. */
    updateMonitor: (monitorId: string, body: UpdateMonitorRequest, callOptions?: CallOptions) =>
      call<Monitor>(
        { method: "PATCH", path: `/v1/monitors/${segment(monitorId)}`, body, repeatable: "if-refused" },
        callOptions,
      ),

    /** Cancels a monitor; no effect if it is canceled already. Errors: monitor_not_found. */
    cancelMonitor: (monitorId: string, callOptions?: CallOptions) =>
      call<Monitor>({ method: "DELETE", path: `/v1/monitors/${segment(monitorId)}` }, callOptions),

    /** Returns a page of a monitor's runs that have ended, newest first. Errors: monitor_not_found. */
    listMonitorRuns,
    /** Iterates over all of them. */
    allMonitorRuns: (monitorId: string, query: PageQuery = {}, callOptions?: CallOptions) =>
      readAll("runs", query, (page) => listMonitorRuns(monitorId, page, callOptions)),

    /** Returns a page of a monitor's events, newest first. Errors: monitor_not_found. */
    listMonitorEvents,
    /** Iterates over all of them. */
    allMonitorEvents: (monitorId: string, query: PageQuery = {}, callOptions?: CallOptions) =>
      readAll("events", query, (page) => listMonitorEvents(monitorId, page, callOptions)),

    /** Returns a page of the events of all monitors, newest first. */
    listEvents,
    /** Iterates over all of them. */
    allEvents: (query: PageQuery = {}, callOptions?: CallOptions) =>
      readAll("events", query, (page) => listEvents(page, callOptions)),

    /**
     * Returns the events after a cursor, oldest first, and the cursor of the next page. Waits for the first one if asked to.
     * With `now` and a wait, events are missed if the answer does not arrive: read the first cursor without a wait.
     * Errors: cursor_expired if the events after this cursor are no longer kept.
     */
    readEvents,

    /**
     * Reads events forward for ever: one page after the other, oldest first, also empty ones. Store a page's
     * `next_cursor` after you have handled its events; a later call with it as `after` skips none and repeats none.
     * Ends only when the loop is left, the signal is aborted or a call fails.
     */
    async *followEvents(
      { after, limit = 100 }: { after: string; limit?: number | undefined },
      callOptions?: CallOptions,
    ): AsyncGenerator<ForwardEventPage, never> {
      for (let cursor = after; ; ) {
        // A call that is repeated would begin with a later `now`, so the first one only reads the cursor.
        const wait = cursor === "now" ? 0 : LONGEST_WAIT_SECONDS;
        const page = await readEvents({ after: cursor, wait, limit }, callOptions);
        yield page;
        cursor = page.next_cursor;
      }
    },
  };
}

/** Returns an id as one segment of a path. */
function segment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new TypeError(`"${id}" is not an id`);
  return encodeURIComponent(id);
}
