import { checkDefinitions } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import { type Admit, outside } from "@vvs/fair-queue";
import { CERTAIN_CONFIDENCE } from "@vvs/identifiers/certain-match";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import { Frequency, type MonitorService } from "@vvs/proto/monitor/v1/monitor";
import type { Client } from "@vvs/rpc";
import { type CallerContext, type Environment, toProtoCaller } from "@vvs/tenant";
import type { ResolvedSubject, Subjects } from "../checks/subjects.ts";
import type { Verifier, Waiting } from "../checks/verifier.ts";
import { RowEndedError } from "../store.ts";
import type { JobDocument, RowDocument, RowInput, RowResult } from "./documents.ts";
import { canBeMended, candidateOf, isLastTry, problemsOf, refusedRow, verifiedRow } from "./row-rules.ts";

/** Rows with tin_match of one organization that have begun: as many as a TIN provider has connections for it. */
const MAX_TIN_BEGUN = 16;

/** What became of a try: it was stored with its verification, or it has this result, or it must wait. */
export type RowTry =
  | { readonly kind: "stored" }
  | { readonly kind: "ended"; readonly result: RowResult }
  | ({ readonly kind: "waiting"; readonly about: WaitingFor } & Waiting);

/** What is known of a row that waits: its vendor, and the vendor's monitor. */
type WaitingFor = Pick<RowResult, "monitor_id" | "problems"> & { readonly entity_id: string };

/** A started job. */
export type StartedJob = JobDocument & Required<Pick<JobDocument, "checks" | "mode">>;

/**
 * Tries to verify a row whose TIN, if it has one, is given in clear. Errors: service_unavailable and others that say nothing about
 * the row; it stays as it is.
 */
export type VerifyRow = (job: StartedJob, row: RowDocument, tin: string) => Promise<RowTry>;

/** Creates the function that verifies the rows of an environment's jobs, as direct calls are verified. */
export function createVerifyRow(options: {
  environment: Environment;
  admit: Admit;
  entities: Pick<Client<typeof EntityService>, "lookUp">;
  subjects: Pick<Subjects, "resolve">;
  verifier: Pick<Verifier, "verifyRow">;
  monitors: Pick<Client<typeof MonitorService>, "createMonitor">;
}): VerifyRow {
  const { environment, admit, entities, subjects, verifier, monitors } = options;

  /** Returns the vendor that a row means, or the row's result where it means none. */
  async function resolve(caller: CallerContext, { checks }: StartedJob, input: RowInput, tin: string) {
    const { entity_id: entityId = "", identifiers = {}, legal_name: legalName = "", address = "" } = input;
    const isNamed = entityId !== "" || tin !== "" || Object.keys(identifiers).length > 0;
    let meant = entityId;
    if (!isNamed) {
      const found = await outside(() =>
        entities.lookUp({ caller: toProtoCaller(caller), legalName, address, fuzzy: true }),
      );
      const { entity, confidence } = found;
      if (!entity || confidence < CERTAIN_CONFIDENCE) {
        const candidates = entity ? [{ ...entity, confidence }] : found.candidates;
        const result = { outcome: "ambiguous", decision: "review", candidates: candidates.map(candidateOf) } as const;
        return { result: result satisfies RowResult };
      }
      meant = entity.id;
    }
    const vendor = { identifiers: { ...identifiers, ...(tin && { tin }) }, legalName, entityId: meant };
    return subjects.resolve(caller, { case: "vendor", value: vendor as never }, checks);
  }

  /**
   * Makes sure that the vendor has its monitor; not again where an earlier try of the row did, since it may have been canceled. If it
   * is refused, the row's problems say why, and its result stands.
   */
  async function monitorOf(caller: CallerContext, job: StartedJob, entityId: string, { input, result }: RowDocument) {
    const { monitor } = job;
    if (!monitor) return {};
    if (result?.monitor_id && result.entity_id === entityId) return { monitor_id: result.monitor_id };
    try {
      const created = await outside(() =>
        monitors.createMonitor({
          caller: toProtoCaller(caller),
          entityId,
          checks: job.checks.map((check) => checkDefinitions[check].type),
          webhookUrl: monitor.webhook_url,
          frequency: Frequency[monitor.frequency.toUpperCase() as keyof typeof Frequency],
          activeLimit: monitor.active_limit,
          externalId: input.external_id,
          unlessExists: true,
        }),
      );
      return { monitor_id: created.monitor!.id };
    } catch (error) {
      const isRefused = error instanceof ServiceError && ["limit_exceeded", "invalid_request"].includes(error.code);
      if (!isRefused) throw error;
      return { problems: problemsOf(error, "monitor") };
    }
  }

  async function tryRow(job: StartedJob, row: RowDocument, tin: string): Promise<RowTry> {
    const began = performance.now();
    const { organization_id: organizationId, actor, request_id: requestId, created_entities: createdEntities } = job;
    const tenant = { organizationId, environment };
    const caller = { tenant, actor, requestId, ...(createdEntities && { createdEntities }), isJob: true };
    const { input } = row;
    let resolved: ResolvedSubject | { result: RowResult };
    try {
      resolved = await resolve(caller, job, input, tin);
    } catch (error) {
      const result = error instanceof ServiceError ? refusedRow(error) : undefined;
      if (!result) throw error;
      return { kind: "ended", result };
    }
    if ("result" in resolved) return { kind: "ended", result: resolved.result };
    const { subject } = resolved;
    const monitor = await monitorOf(caller, job, subject.entityId, row);
    const isLast = isLastTry(environment, row);
    const legalName = subject.entityName ?? "";
    try {
      const tried = await verifier.verifyRow(
        {
          began,
          caller,
          ...resolved,
          checks: job.checks,
          mode: job.mode,
          maxAgeSeconds: job.max_age_seconds,
          row: { id: row._id, wasParked: isLast || row.was_parked === true },
          completeRow: (verification) => ({ row, result: verifiedRow(verification, { legalName, monitor }) }),
        },
        (reason) => !isLast && canBeMended(reason),
      );
      const about = { entity_id: subject.entityId, ...monitor };
      return "_id" in tried ? { kind: "stored" } : { kind: "waiting", about, ...tried };
    } catch (error) {
      // Another replica completed it, or the job was canceled.
      if (error instanceof RowEndedError) return { kind: "stored" };
      throw error;
    }
  }

  return (job, row, tin) => {
    const { organization_id: organizationId, checks } = job;
    const bound = checks.includes("tin_match") && { maxBegun: MAX_TIN_BEGUN };
    const kind = `job ${checks.toSorted().join(" ")}`;
    return admit({ owner: { class: "job", organizationId, environment }, kind, ...bound }, () => tryRow(job, row, tin));
  };
}
