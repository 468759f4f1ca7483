import type { Environment } from "@vvs/tenant";
import { type ApiCall, curlCommand } from "../ui/curl.ts";

/** A sandbox vendor that passes all checks, as listed in the API's documentation. */
export const SANDBOX_UEI = "SANDBXACTVE1";

/**
 * Returns a curl command for the first call with a new API key: one that its scopes allow and that changes no real data.
 * `key` can be the name of a variable of the shell.
 */
export function firstCall(options: {
  baseUrl: URL;
  key: string;
  environment: Environment;
  scopes: readonly string[];
}): string {
  return curlCommand(pickCall(options.environment, options.scopes), options);
}

function pickCall(environment: Environment, scopes: readonly string[]): ApiCall {
  const identifiers = { uei: SANDBOX_UEI };
  if (environment === "sandbox" && scopes.includes("verifications:write")) {
    return { path: "/v1/verify", body: { identifiers, checks: ["sam_registration"], mode: "realtime" } };
  }
  if (environment === "sandbox" && scopes.includes("entities:read")) {
    return { path: "/v1/entities/lookup", body: { identifiers } };
  }
  if (scopes.includes("entities:read")) return { path: "/v1/entities" };
  if (scopes.includes("verifications:read")) return { path: "/v1/providers" };
  if (scopes.includes("monitors:read")) return { path: "/v1/monitors" };
  return { path: "/v1/health" };
}
