import { ServiceError } from "@vvs/errors";
import { type Caller, Environment as ProtoEnvironment, type Tenant as ProtoTenant } from "@vvs/proto/common/v1/common";

/** The two worlds of data. Each has its own databases, topics and worker pools. */
export type Environment = "live" | "sandbox";

export const environments: readonly Environment[] = ["live", "sandbox"];

/** Whose data is meant; the first parameter of every repository method. */
export interface Tenant {
  readonly organizationId: string;
  readonly environment: Environment;
}

/** On whose behalf a call is made. */
export interface CallerContext {
  readonly tenant: Tenant;
  readonly actor: string;
  readonly requestId: string;
  /** Where the public call came from, for the audit log. */
  readonly clientAddress?: string;
}

/** The environment of a message. Errors: invalid_request where it names none. */
export function environmentOf(environment: ProtoEnvironment): Environment {
  if (environment === ProtoEnvironment.LIVE) return "live";
  if (environment === ProtoEnvironment.SANDBOX) return "sandbox";
  throw new ServiceError("invalid_request", { message: "The call names no environment." });
}

export function toProtoEnvironment(environment: Environment): ProtoEnvironment {
  return environment === "live" ? ProtoEnvironment.LIVE : ProtoEnvironment.SANDBOX;
}

/** The tenant of a message. Errors: invalid_request where it is incomplete. */
export function tenantOf(tenant: ProtoTenant | undefined): Tenant {
  if (!tenant?.organizationId)
    throw new ServiceError("invalid_request", { message: "The call names no organization." });
  return { organizationId: tenant.organizationId, environment: environmentOf(tenant.environment) };
}

export function toProtoTenant(tenant: Tenant): { organizationId: string; environment: ProtoEnvironment } {
  return { organizationId: tenant.organizationId, environment: toProtoEnvironment(tenant.environment) };
}

/** The caller of a message. Errors: invalid_request where it names no tenant. */
export function callerOf(caller: Caller | undefined): CallerContext {
  return {
    tenant: tenantOf(caller?.tenant),
    actor: caller?.actor ?? "",
    requestId: caller?.requestId ?? "",
    ...(caller?.clientAddress && { clientAddress: caller.clientAddress }),
  };
}

export function toProtoCaller(caller: CallerContext) {
  const { tenant, actor, requestId, clientAddress } = caller;
  return { tenant: toProtoTenant(tenant), actor, requestId, clientAddress };
}
