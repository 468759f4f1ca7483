import type { IncomingMessage } from "node:http";
import { ServiceError } from "@vvs/errors";
import { clientAddress } from "../http/client-address.ts";
import type { RateLimiter } from "../limits/rate-limiter.ts";
import type { ApiKey } from "./api-key.ts";
import type { KeyCheck } from "./key-check.ts";

/** Failed authentications per minute and client address, after which failing ones get 429. */
const MAX_FAILURES = 60;

const BEARER = /^Bearer +(\S+) *$/i;

export interface AuthenticateOptions {
  readonly checkKey: KeyCheck;
  /** Counts failures by client address. */
  readonly failures: RateLimiter;
  readonly trustedProxyHops: number;
}

/**
 * The key that a request comes with. A key that works is never held back by failures from the same address.
 * Errors: unauthorized (one text for every cause), rate_limited, service_unavailable.
 */
export async function authenticate(request: IncomingMessage, options: AuthenticateOptions): Promise<ApiKey> {
  const text = BEARER.exec(request.headers.authorization ?? "")?.[1];
  const key = text === undefined ? undefined : await options.checkKey(text);
  if (key) return key;
  const quota = await options.failures.consume(clientAddress(request, options.trustedProxyHops), MAX_FAILURES);
  if (quota.allowed) throw new ServiceError("unauthorized");
  throw new ServiceError("rate_limited", {
    message: "Too many failed authentications from this address.",
    retryAfterSeconds: quota.resetSeconds,
  });
}
