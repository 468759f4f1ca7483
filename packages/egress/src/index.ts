export { isPublicAddress, isRange } from "./address.ts";
export { AddressRefusedError, EgressProxyError } from "./errors.ts";
export { createGuardedAgent, type GuardedAgentOptions } from "./guarded-agent.ts";
export type { EgressProxy } from "./tunnel.ts";
export { webhookUrlProblem } from "./webhook-url.ts";
