import { ServiceError } from "@vvs/errors";
import { type Caller, Environment as ProtoEnvironment, type Tenant as ProtoTenant } from "@vvs/proto/common/v1/common";

/** The two environments. Each has its own databases, topics and worker pools. */
export type Environment = "live" | "sandbox";

export const environments: readonly Environment[] = ["live", "sandbox"];

/** Creates one value for each environment. */
export function perEnvironment<T>(create: (environment: Environment) => T): Readonly<Record<Environment, T>> {
  return { live: create("live"), sandbox: create("sandbox") };
}

/** The owner of data; the first parameter of every repository method. */
export interface Tenant {
  readonly organizationId: string;
  readonly environment: Environment;
}

/** The tenant and the actor on whose behalf a call is made. */
export interface CallerContext {
  readonly tenant: Tenant;
  readonly actor: string;
  readonly requestId: string;
  /** IP address of the public call, for the audit log. */
  readonly clientAddress?: string;
  /** Maximum number of entities that the organization can create here, by its plan; absent where unknown. */
  readonly createdEntities?: number;
  /** The call is part of a job: it waits with a job's weight where calls queue. */
  readonly isJob?: boolean;
}

/** Returns the environment of a message. Errors: invalid_request if it is missing. */
export function environmentOf(environment: ProtoEnvironment): Environment {
  if (environment === ProtoEnvironment.LIVE) return "live";
  if (environment === ProtoEnvironment.SANDBOX) return "sandbox";
  throw new ServiceError("invalid_request", { message: "The call names no environment." });
}

export function toProtoEnvironment(environment: Environment): ProtoEnvironment {
  return environment === "live" ? ProtoEnvironment.LIVE : ProtoEnvironment.SANDBOX;
}

/** Returns the tenant of a message. Errors: invalid_request if it is incomplete. */
export function tenantOf(tenant: ProtoTenant | undefined): Tenant {
  if (!tenant?.organizationId)
    throw new ServiceError("invalid_request", { message: "The call names no organization." });
  return { organizationId: tenant.organizationId, environment: environmentOf(tenant.environment) };
}

export function toProtoTenant(tenant: Tenant): { organizationId: string; environment: ProtoEnvironment } {
  return { organizationId: tenant.organizationId, environment: toProtoEnvironment(tenant.environment) };
}

/** Returns the caller of a message. Errors: invalid_request if its tenant is incomplete. */
export function callerOf(caller: Caller | undefined): CallerContext {
  return {
    tenant: tenantOf(caller?.tenant),
    actor: caller?.actor ?? "",
    requestId: caller?.requestId ?? "",
    ...(caller?.clientAddress && { clientAddress: caller.clientAddress }),
    ...(caller?.createdEntities && { createdEntities: caller.createdEntities }),
    ...(caller?.isJob && { isJob: true }),
  };
}

export function toProtoCaller(caller: CallerContext) {
  const { tenant, ...rest } = caller;
  return { tenant: toProtoTenant(tenant), ...rest };
}
