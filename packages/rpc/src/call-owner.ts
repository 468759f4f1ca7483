import type { CallOwner } from "@vvs/fair-queue";
import type { SessionCaller } from "@vvs/proto/account/v1/sessions";
import type { Caller } from "@vvs/proto/common/v1/common";
import { tenantOf } from "@vvs/tenant";

/**
 * Returns whose turn in the queue a call takes: that of the organization which the request names as its caller, as a person's
 * if the dashboard calls. From the dashboard, a request that names none is a person's whose session is yet to be checked, or a
 * stranger's; from another service it is our own.
 */
export function callOwner(service: string, { caller }: { caller?: Caller | SessionCaller }): CallOwner {
  const isDashboard = service === "dashboard";
  if (caller && "tenant" in caller && caller.tenant?.organizationId)
    return { class: isDashboard ? "person" : caller.isJob ? "job" : "direct", ...tenantOf(caller.tenant) };
  if (!isDashboard) return { class: "internal", organizationId: "", environment: "" };
  const session = caller && "sessionToken" in caller ? caller.sessionToken : "";
  return { class: session ? "person" : "stranger", organizationId: session, environment: "" };
}
