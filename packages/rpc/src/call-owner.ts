import type { CallOwner } from "@vvs/fair-queue";
import type { Caller } from "@vvs/proto/common/v1/common";
import { tenantOf } from "@vvs/tenant";

/**
 * Returns whose turn in the queue a call takes: that of the organization which the request names as its caller, as a person's
 * if the dashboard calls. A request that names none is one of our own.
 */
export function callOwner(service: string, { caller }: { caller?: Caller }): CallOwner {
  if (!caller?.tenant?.organizationId) return { class: "internal", organizationId: "", environment: "" };
  return { class: service === "dashboard" ? "person" : "direct", ...tenantOf(caller.tenant) };
}
