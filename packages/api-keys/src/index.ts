export { apiKeyHint, generateApiKey, parseApiKey } from "./format.ts";
export { hashApiKey } from "./hash.ts";
export { isScope, type Scope, scopes } from "./scopes.ts";
