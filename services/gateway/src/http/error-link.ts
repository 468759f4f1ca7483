import type { ErrorCode } from "@vvs/errors";

/** Returns the id of the place on the reference page that explains an error. */
export function errorAnchor(code: ErrorCode): string {
  return `error-${code}`;
}

/** Returns the URL of that place. `baseUrl` is the address of the service for clients. */
export function errorDocUrl(baseUrl: string, code: ErrorCode): string {
  return `${baseUrl}/docs#${errorAnchor(code)}`;
}
