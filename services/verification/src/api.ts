import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toCheckType } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import { type Admit, outside } from "@vvs/fair-queue";
import type { IdempotencyStore } from "@vvs/idempotency";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import { type Callers, callOwner, type Handlers } from "@vvs/rpc";
import { callerOf, type Environment, environmentOf, type Tenant } from "@vvs/tenant";
import { NothingStoredError } from "./checks/conclude.ts";
import type { Subjects } from "./checks/subjects.ts";
import type { Verifier } from "./checks/verifier.ts";
import { checksOf, modeOf, toEvidence, toVerification } from "./messages.ts";
import type { ProviderUsage } from "./provider-budgets/provider-budgets.ts";
import { historyRangeOf, type ReadProviderHistory } from "./provider-health/provider-history.ts";
import type { createShowProviders } from "./provider-health/provider-report.ts";
import { receiptClaims } from "./receipts/claims.ts";
import type { ReceiptSigner } from "./receipts/signer.ts";
import type { JudgeRuns } from "./runs/judge-runs.ts";
import type { ReadCallsReport } from "./sam-gov-queue/calls-report.ts";
import type { VerificationStore } from "./store.ts";

/** Verifications of one organization and the same checks that may ask a provider and have begun: as many as one has connections. */
const MAX_BEGUN = 16;
/** Processor time for sending a verification's record to Kafka, in milliseconds: by a profile of `bench -- verify`. */
const SENDING_MS = 0.13;

const gatewayAndDashboard = ["gateway", "dashboard"] as const;

/** Runs are judged beside all calls, with the weight of a job's row. */
const JUDGING = { owner: { class: "job", organizationId: "", environment: "live" }, kind: "judge runs" } as const;

/** The services that may call each RPC. */
export const callers: Callers<typeof VerificationService> = {
  verify: gatewayAndDashboard,
  getVerification: gatewayAndDashboard,
  listVerifications: gatewayAndDashboard,
  getEvidence: gatewayAndDashboard,
  getReceipt: gatewayAndDashboard,
  getReceiptKeys: gatewayAndDashboard,
  listProviders: gatewayAndDashboard,
  getProviderUsage: ["dashboard"],
  getProviderHealth: ["dashboard"],
  getSamGovCalls: ["dashboard"],
  judgeRuns: ["monitor"],
};

/** Creates the handlers of the service's RPCs. */
export function createHandlers(options: {
  /** The queue of verifications and of judging runs; calls that only read wait in that of all RPCs. */
  admit: Admit;
  store: VerificationStore;
  idempotency: Readonly<Record<Environment, IdempotencyStore>>;
  subjects: Pick<Subjects, "resolve">;
  verifier: Verifier;
  signer: ReceiptSigner;
  report: ReturnType<typeof createShowProviders>;
  /** Returns an organization's calls at the live providers, in the order they are asked. */
  readUsage: (tenant: Tenant) => Promise<ProviderUsage[]>;
  readHistory: ReadProviderHistory;
  readCallsReport: ReadCallsReport;
  judgeRuns: JudgeRuns;
}): Handlers<typeof VerificationService> {
  const { admit, store, idempotency, subjects, verifier, signer, report, readUsage, readHistory, readCallsReport } =
    options;

  async function getVerification(tenant: Tenant, id: string) {
    const found = await store.get(tenant, id);
    if (!found) throw new ServiceError("verification_not_found");
    return found;
  }

  const handlers: Handlers<typeof VerificationService> = {
    async verify(request, context) {
      const began = performance.now();
      const caller = callerOf(request.caller);
      const { tenant } = caller;
      const checks = checksOf(request.checks);
      const mode = modeOf(request.mode);
      const { maxAgeSeconds } = request;
      const owner = callOwner(context.caller, request);
      const asking = { owner, kind: `verify ${checks.toSorted().join(" ")}`, maxBegun: MAX_BEGUN };
      const verifyOnce = () =>
        idempotency[tenant.environment].once({
          tenant,
          idempotency: request.idempotency,
          async run(key) {
            const resolved = await subjects.resolve(caller, request.target, checks);
            const verification = { began, caller, ...resolved, checks, mode, maxAgeSeconds, key };
            if (mode === "realtime") return verifier.verify(verification);
            return verifier.verify({ ...verification, onlyStored: true }).catch((error: unknown) => {
              if (!(error instanceof NothingStoredError)) throw error;
              return outside(() => admit(asking, () => verifier.verify(verification)));
            });
          },
          replay: (id) => getVerification(tenant, id),
        });
      const call = mode === "realtime" ? asking : { owner, kind: "verify cached" };
      const { value, replayed } = await admit({ ...call, laterMs: SENDING_MS }, verifyOnce);
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
    async getReceipt({ caller, verificationId, issuer }) {
      const { tenant } = callerOf(caller);
      const verification = await getVerification(tenant, verificationId);
      const found = await Promise.all(verification.results.map((each) => store.evidence(tenant, each.evidence_id)));
      const evidence = found.filter((each) => each !== null);
      const claims = receiptClaims({ issuer, environment: tenant.environment, verification, evidence });
      return { receipt: await signer.sign(claims) };
    },
    getReceiptKeys: async () => ({ jwks: signer.jwks }),
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
      return { providers: await readHistory(environmentOf(request.environment), historyRangeOf(request)) };
    },
    getSamGovCalls: () => readCallsReport(),
    async judgeRuns({ runs }, { signal }) {
      const { judgements, files } = await admit(JUDGING, () => options.judgeRuns(runs, signal));
      return {
        judgements: [...judgements],
        isOverdue: files.isOutdated,
        registrationAsOf: files.registration && timestampFromDate(files.registration),
        exclusionsAsOf: files.exclusions && timestampFromDate(files.exclusions),
      };
    },
  };
  return handlers;
}
