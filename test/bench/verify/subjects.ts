import { newId } from "@vvs/ids";
import { type Caller, CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import type { VerificationStack } from "../../support/verification-stack.ts";

/** Registered vendors of the loaded extract. */
const UEIS = ["ZZNRTHWND001", "ZZOBRIENS007", "ZZABCSRVA005", "ZZABCSRVB006"];
const ORGANIZATIONS = 25;
/** Number of subjects of an organization, which follow each other. */
export const PER_ORGANIZATION = UEIS.length;

/** Caller and entity of one call. */
export interface Subject {
  readonly caller: Pick<Caller, "tenant" | "actor" | "requestId">;
  readonly entityId: string;
}

/** Stores an answer for each of several entities and organizations, and returns these pairs. */
export async function seedSubjects(stack: VerificationStack): Promise<Subject[]> {
  const subjects: Subject[] = [];
  for (let organization = 0; organization < ORGANIZATIONS; organization++) {
    const caller = callerOf(newId("org"));
    for (const uei of UEIS) {
      const { entity } = await stack.entities.lookUp({ caller, identifiers: { uei } });
      const subject = { caller, entityId: entity!.id };
      const { verification } = await stack.verifications.verify(cachedCall(subject));
      if (verification?.overallResult !== CheckStatus.PASS) throw new Error(`${uei} was expected to pass`);
      subjects.push(subject);
    }
  }
  return subjects;
}

/** Returns the request that is measured. */
export function cachedCall({ caller, entityId }: Subject) {
  return {
    caller,
    target: { case: "entityId" as const, value: entityId },
    checks: [CheckType.SAM_REGISTRATION],
    mode: Mode.CACHED,
  };
}

function callerOf(organizationId: string) {
  return {
    tenant: { organizationId, environment: Environment.LIVE },
    actor: newId("key"),
    requestId: newId("req"),
  } as Subject["caller"];
}
