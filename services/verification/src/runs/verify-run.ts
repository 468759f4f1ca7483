import type { Check } from "@vvs/checks";
import type { Admit } from "@vvs/fair-queue";
import type { Tenant } from "@vvs/tenant";
import type { CheckSubject } from "../checks/check-inputs.ts";
import type { Subjects } from "../checks/subjects.ts";
import type { VerificationRequest, Verifier } from "../checks/verifier.ts";
import { asUndefined } from "../own-data.ts";
import type { MonitorRun } from "../providers/provider.ts";
import type { Asking } from "../questions/question.ts";
import { DuplicateRunError } from "../store.ts";

/** A monitor's run, as its record requests it. */
export interface RequestedRun {
  readonly recordId: string;
  readonly tenant: Tenant;
  readonly run: MonitorRun;
  readonly entityId: string;
  readonly checks: readonly Check[];
  readonly requestedAt: Date | undefined;
}

/**
 * Makes the verification of a monitor's run, unless it exists. With `mayAsk`, nothing is stored where asking SAM.gov's API
 * helps, and what to ask is returned. For an entity that no longer exists, a verification with errors is stored. Errors:
 * those of the verifier, apart from DuplicateRunError.
 */
export type VerifyRun = (
  run: RequestedRun,
  options: {
    /** When the run was taken up, by `performance.now()`. */
    began: number;
    mayAsk: boolean;
    complete?: VerificationRequest["complete"];
  },
) => Promise<Asking | undefined>;

export function createVerifyRun(options: {
  admit: Admit;
  subjects: Pick<Subjects, "read">;
  verifier: Verifier;
}): VerifyRun {
  const { admit, subjects, verifier } = options;
  const verifyRun: VerifyRun = async ({ recordId, tenant, run, entityId, checks }, { began, mayAsk, complete }) => {
    const subject = await subjects.read(tenant, entityId).catch(asUndefined("entity_not_found"));
    const request: VerificationRequest = {
      began,
      caller: { tenant, actor: run.monitorId, requestId: "" },
      subject: subject ?? unknownSubject(entityId),
      suppliedTin: "",
      checks,
      mode: "realtime",
      run: { ...run, recordId },
      complete,
    };
    try {
      if (!subject) await verifier.refuse(request, "entity_not_found");
      else if (mayAsk) return await verifier.verifyUnlessAsking(request);
      else await verifier.verify(request);
    } catch (error) {
      if (!(error instanceof DuplicateRunError)) throw error;
    }
    return undefined;
  };
  return (requested, how) =>
    admit({ owner: { class: "run", ...requested.tenant }, kind: "run" }, () => verifyRun(requested, how));
}

function unknownSubject(entityId: string): CheckSubject {
  const unknown = { legalName: "", uei: "", cage: "", tinHash: new Uint8Array(), entityType: "", externalId: "" };
  return { entityId, ...unknown, tinMatchRecorded: false, createdByOrganization: false };
}
