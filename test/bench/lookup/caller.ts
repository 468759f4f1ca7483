import { newId } from "@vvs/ids";
import { type Caller, Environment } from "@vvs/proto/common/v1/common";

/** Returns a caller from a new organization, in live. */
export function newCaller(): Pick<Caller, "tenant" | "actor" | "requestId"> {
  const tenant = { organizationId: newId("org"), environment: Environment.LIVE } as Caller["tenant"];
  return { tenant, actor: newId("key"), requestId: newId("req") };
}
