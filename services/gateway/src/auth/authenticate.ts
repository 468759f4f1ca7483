import type { IncomingMessage } from "node:http";
import { parseApiKey } from "@vvs/api-keys";
import { ServiceError } from "@vvs/errors";
import type { ApiKey } from "../http/api-key.ts";
import { clientAddress, networkOf } from "../http/client-address.ts";
import type { Quota, RateLimiter } from "../limits/rate-limiter.ts";
import type { KeyCheck } from "./key-check.ts";

/** Maximum failed authentications per minute and client address. Further failing requests get 429. */
const MAX_FAILURES = 60;
/** Maximum look-ups of unknown keys per minute from an address with that many failures: a new key must work beside a client that fails. */
const MAX_LOOK_UPS = 5;

const BEARER = /^Bearer +(\S+) *$/i;

export interface AuthenticateOptions {
  readonly checkKey: KeyCheck;
  /** Counts failures per client address. */
  readonly failures: RateLimiter;
  readonly trustedProxyHops: number;
}

/**
 * Returns the API key of a request. A valid key is never limited because of failures from the same address, unless this
 * gateway has not known it yet and the address has used up its look-ups. Errors: unauthorized (the same text for every well-formed key that is not valid),
 * rate_limited, service_unavailable.
 */
export async function authenticate(request: IncomingMessage, options: AuthenticateOptions): Promise<ApiKey> {
  const { failures } = options;
  const { authorization } = request.headers;
  const text = BEARER.exec(authorization ?? "")?.[1];
  const network = () => networkOf(clientAddress(request, options.trustedProxyHops));
  const refuseLookUp = async () => {
    const quota = await failures.consume(`look-ups:${network()}`, MAX_LOOK_UPS);
    if (!quota.allowed) throw tooManyFailures(quota);
  };
  const refuseOverLimit = () => (failures.known(network(), MAX_FAILURES).remaining === 0 ? refuseLookUp() : undefined);
  const key = text === undefined ? undefined : await options.checkKey(text, refuseOverLimit);
  if (key) return key;
  const quota = await failures.consume(network(), MAX_FAILURES);
  if (!quota.allowed) throw tooManyFailures(quota);
  throw new ServiceError("unauthorized", { message: reasonOf(authorization, text) });
}

function tooManyFailures({ resetSeconds }: Quota): ServiceError {
  return new ServiceError("rate_limited", {
    message:
      "Too many requests from this address had no valid API key. Check the key, and wait for the seconds in Retry-After.",
    retryAfterSeconds: resetSeconds,
  });
}

function reasonOf(authorization: string | undefined, key: string | undefined): string {
  if (!authorization) return "The request has no Authorization header. Send Authorization: Bearer and an API key.";
  if (key === undefined) return "The Authorization header has another form. Send Authorization: Bearer and an API key.";
  if (!parseApiKey(key)) {
    return "The API key is malformed. A key begins with svc_live_ or svc_test_ and has 47 characters; copy it again.";
  }
  return "The API key is unknown, revoked or expired. The dashboard shows the keys and their state.";
}
