export { isPublicAddress } from "./address.ts";
export { AddressRefusedError, EgressProxyError } from "./errors.ts";
export { type ClientIdentity, createGuardedAgent, type GuardedAgentOptions } from "./guarded-agent.ts";
export type { EgressProxy } from "./tunnel.ts";
export { type WebhookUrlRule, webhookUrlProblem } from "./webhook-url.ts";
