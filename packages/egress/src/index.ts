export { isPublicAddress, isRange } from "./address.ts";
export { AddressRefusedError, EgressProxyError } from "./errors.ts";
export { createGuardedAgent, type GuardedAgentOptions } from "./guarded-agent.ts";
export { createNames, createSystemLookup } from "./names.ts";
export type { EgressProxy } from "./tunnel.ts";
export { isPrivateHost, webhookUrlProblem } from "./webhook-url.ts";
