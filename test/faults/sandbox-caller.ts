import { newId } from "@vvs/ids";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import type { VerificationStack } from "../support/verification-stack.ts";

/** An organization that verifies in the sandbox. */
export interface SandboxCaller {
  readonly tenant: { readonly organizationId: string; readonly environment: Environment };
  /** Returns the id of the entity with one of the sandbox's UEIs. */
  entity(uei: string): Promise<string>;
  /** Verifies an active vendor; returns the verification's id. Fails if there is no answer. */
  verify(): Promise<string>;
}

export function sandboxCaller({ entities, verifications }: VerificationStack): SandboxCaller {
  const tenant = { organizationId: newId("org"), environment: Environment.SANDBOX };
  const caller = { tenant, actor: newId("key"), requestId: newId("req") };
  const entity = async (uei: string) => (await entities.lookUp({ caller, identifiers: { uei } })).entity!.id;
  let active: Promise<string> | undefined;
  return {
    tenant,
    entity,
    async verify() {
      active ??= entity("SANDBXACTVE1");
      const { verification } = await verifications.verify({
        caller,
        target: { case: "entityId", value: await active },
        checks: [CheckType.SAM_REGISTRATION],
        mode: Mode.REALTIME,
      });
      return verification!.id;
    },
  };
}
