export { apiKeyHint, generateApiKey, parseApiKey } from "./format.ts";
export { type ApiKeyHash, hashApiKey } from "./hash.ts";
export { isScope, type Scope, scopes } from "./scopes.ts";
