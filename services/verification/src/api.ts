import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toCheckType } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import type { IdempotencyStore } from "@vvs/idempotency";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import { admitted, type Callers, createAdmission, type Handlers } from "@vvs/rpc";
import { callerOf, type Environment, environmentOf, type Tenant } from "@vvs/tenant";
import type { Subjects } from "./checks/subjects.ts";
import type { Verifier } from "./checks/verifier.ts";
import { checksOf, modeOf, toEvidence, toVerification } from "./messages.ts";
import type { ProviderUsage } from "./provider-budgets/provider-budgets.ts";
import { historyRangeOf, type ReadProviderHistory } from "./provider-health/provider-history.ts";
import type { createShowProviders } from "./provider-health/provider-report.ts";
import type { ReadCallsReport } from "./sam-gov-queue/calls-report.ts";
import type { VerificationStore } from "./store.ts";

/**
 * Limits of direct verifications: all of a large burst together would take so long in this process and in entity that calls
 * of other organizations end too late. One organization gets as many as a provider has connections. The time of waiting
 * counts towards the call's time limit.
 */
const VERIFICATIONS = {
  running: 128,
  runningPerOrganization: 16,
  runningBesideOthers: 16,
  waiting: 1_000,
  waitingPerOrganization: 250,
  longestWaitMs: 6_000,
} as const;

/**
 * Limits of the parts of direct verifications that this process, entity and MongoDB do: reading the vendor and storing the
 * result. The limits above also cover waiting for providers. A verification that has begun is never refused here.
 */
const OWN_WORK = {
  running: 32,
  runningPerOrganization: 3,
  runningBesideOthers: 0.12,
  waiting: 2 * VERIFICATIONS.running,
  waitingPerOrganization: 2 * VERIFICATIONS.runningPerOrganization,
  longestWaitMs: 20_000,
} as const;

/** Limits of calls that read what is stored. */
const READS = {
  running: 32,
  runningPerOrganization: 6,
  runningBesideOthers: 1,
  waiting: 1_000,
  waitingPerOrganization: 250,
  longestWaitMs: 2_000,
} as const;

const STAYING = new AbortController().signal;

const gatewayAndDashboard = ["gateway", "dashboard"] as const;

/** The services that may call each RPC. */
export const callers: Callers<typeof VerificationService> = {
  verify: gatewayAndDashboard,
  getVerification: gatewayAndDashboard,
  listVerifications: gatewayAndDashboard,
  getEvidence: gatewayAndDashboard,
  listProviders: gatewayAndDashboard,
  getProviderUsage: ["dashboard"],
  getProviderHealth: ["dashboard"],
  getSamGovCalls: ["dashboard"],
};

/** Creates the handlers of the service's RPCs. */
export function createHandlers(options: {
  store: VerificationStore;
  idempotency: Readonly<Record<Environment, IdempotencyStore>>;
  subjects: Pick<Subjects, "resolve">;
  verifier: Verifier;
  report: ReturnType<typeof createShowProviders>;
  /** Returns an organization's calls at the live providers, in the order they are asked. */
  readUsage: (tenant: Tenant) => Promise<ProviderUsage[]>;
  readHistory: ReadProviderHistory;
  readCallsReport: ReadCallsReport;
}): Handlers<typeof VerificationService> {
  const { store, idempotency, subjects, verifier, report, readUsage, readHistory, readCallsReport } = options;
  // Stored answers do not wait behind those of slow providers.
  const admit = {
    cached: createAdmission("cached verifications", VERIFICATIONS),
    realtime: createAdmission("realtime verifications", VERIFICATIONS),
    ownWork: createAdmission("parts of verifications", OWN_WORK),
  };

  async function getVerification(tenant: Tenant, id: string) {
    const found = await store.get(tenant, id);
    if (!found) throw new ServiceError("verification_not_found");
    return found;
  }

  const handlers: Handlers<typeof VerificationService> = {
    async verify(request, { signal }) {
      const began = performance.now();
      const caller = callerOf(request.caller);
      const { tenant } = caller;
      const checks = checksOf(request.checks);
      const mode = modeOf(request.mode);
      const { maxAgeSeconds } = request;
      const { value, replayed } = await idempotency[tenant.environment].once({
        tenant,
        idempotency: request.idempotency,
        run: (complete) =>
          admit[mode](tenant, signal, async () => {
            const resolved = await admit.ownWork(tenant, signal, () =>
              subjects.resolve(caller, request.target, checks),
            );
            // What providers answered is stored even if the caller has left.
            const storing = (store: () => Promise<void>) => admit.ownWork(tenant, STAYING, store);
            return verifier.verify({ began, caller, ...resolved, checks, mode, maxAgeSeconds, complete, storing });
          }),
        replay: (id) => getVerification(tenant, id),
      });
      return { verification: toVerification(value), replayed };
    },
    async getVerification(request) {
      const { tenant } = callerOf(request.caller);
      return { verification: toVerification(await getVerification(tenant, request.verificationId)) };
    },
    async listVerifications(request) {
      const { tenant } = callerOf(request.caller);
      const { entityId, page } = request;
      const from = request.from && timestampDate(request.from);
      const before = request.before && timestampDate(request.before);
      const { items, next } = await store.list(tenant, { entityId, from, before }, page);
      return { verifications: items.map(toVerification), next };
    },
    async getEvidence(request) {
      const { tenant } = callerOf(request.caller);
      const found = await store.evidence(tenant, request.evidenceId);
      if (!found) throw new ServiceError("evidence_not_found");
      return { evidence: toEvidence(found) };
    },
    async listProviders(request) {
      const listed = await report(environmentOf(request.environment));
      return {
        providers: listed.map(({ name, checks, condition, isOutdated, quotaRemaining, lastSuccessAt }) => ({
          name,
          outdated: isOutdated,
          checks: checks.map(toCheckType),
          state: condition,
          quotaRemaining: quotaRemaining === undefined ? undefined : BigInt(quotaRemaining),
          lastSuccessAt: lastSuccessAt && timestampFromDate(lastSuccessAt),
        })),
      };
    },
    async getProviderUsage(request) {
      return { providers: await readUsage(callerOf(request.caller).tenant) };
    },
    async getProviderHealth(request) {
      const history = await readHistory(environmentOf(request.environment), historyRangeOf(request));
      return {
        providers: history.map(({ check, periods, ...past }) => ({
          ...past,
          checkType: toCheckType(check),
          periods: periods.map(({ at, figures }) => ({ at: timestampFromDate(at), figures })),
        })),
      };
    },
    async getSamGovCalls() {
      const { quota, days, queue, organizations } = await readCallsReport();
      return {
        quota,
        days: [...days],
        queue: {
          waitingRuns: queue.parked.waiting,
          readyRuns: queue.parked.ready,
          oldestAt: queue.oldestParkedAt && timestampFromDate(queue.oldestParkedAt),
          questions: queue.questions,
          plannedTomorrow: queue.callsPlannedTomorrow,
        },
        organizations: organizations.map(({ organizationId, direct, monitors, left }) => ({
          organizationId,
          direct,
          first: monitors,
          directLeft: left?.direct,
          firstLeft: left?.monitors,
        })),
      };
    },
  };
  const reads = createAdmission("reads of verifications", READS);
  return admitted<typeof VerificationService>(handlers, {
    getVerification: reads,
    listVerifications: reads,
    getEvidence: reads,
  });
}
