import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { IdempotencyStore } from "@vvs/idempotency";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Callers, Handlers } from "@vvs/rpc";
import { callerOf, type Environment, environmentOf, type Tenant } from "@vvs/tenant";
import type { ReadProviderHistory } from "./providers/provider-history.ts";
import { historyRangeOf, toProviderHealth } from "./providers/provider-history-messages.ts";
import type { ProviderReport } from "./providers/provider-report.ts";
import type { VerificationStore } from "./store.ts";
import type { Subjects } from "./subject.ts";
import type { Verifier } from "./verifier.ts";
import { checksOf, modeOf, toCheckType, toEvidence, toVerification } from "./wire.ts";

const edges = ["gateway", "dashboard"] as const;

/** Who may call what. */
export const callers: Callers<typeof VerificationService> = {
  verify: edges,
  getVerification: edges,
  listVerifications: edges,
  getEvidence: edges,
  listProviders: edges,
  getProviderHealth: ["dashboard"],
};

/** The service's rpcs. */
export function createHandlers(options: {
  store: VerificationStore;
  idempotency: Readonly<Record<Environment, IdempotencyStore>>;
  subjects: Pick<Subjects, "resolve">;
  verifier: Verifier;
  report: Pick<ProviderReport, "list">;
  readHistory: ReadProviderHistory;
}): Handlers<typeof VerificationService> {
  const { store, idempotency, subjects, verifier, report, readHistory } = options;

  async function getVerification(tenant: Tenant, id: string) {
    const found = await store.get(tenant, id);
    if (!found) throw new ServiceError("verification_not_found");
    return found;
  }

  return {
    async verify(request) {
      const caller = callerOf(request.caller);
      const { tenant } = caller;
      const checks = checksOf(request.checks);
      const mode = modeOf(request.mode);
      const { value, replayed } = await idempotency[tenant.environment].once({
        tenant,
        idempotency: request.idempotency,
        run: async (complete) => {
          const subject = await subjects.resolve(caller, request.target);
          return verifier.verify({ caller, subject, checks, mode, complete });
        },
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
      const { items, next } = await store.list(tenant, request.entityId, request.page);
      return { verifications: items.map(toVerification), next };
    },
    async getEvidence(request) {
      const { tenant } = callerOf(request.caller);
      const found = await store.evidence(tenant, request.evidenceId);
      if (!found) throw new ServiceError("evidence_not_found");
      return { evidence: toEvidence(found) };
    },
    async listProviders(request) {
      const listed = await report.list(environmentOf(request.environment));
      return {
        providers: listed.map(({ name, checks, condition, quotaRemaining, lastSuccessAt }) => ({
          name,
          checks: checks.map(toCheckType),
          state: condition,
          quotaRemaining: quotaRemaining === undefined ? undefined : BigInt(quotaRemaining),
          lastSuccessAt: lastSuccessAt && timestampFromDate(lastSuccessAt),
        })),
      };
    },
    async getProviderHealth(request) {
      const past = await readHistory(environmentOf(request.environment), historyRangeOf(request));
      return { providers: past.map(toProviderHealth) };
    },
  };
}
