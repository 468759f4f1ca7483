import { createHmac } from "node:crypto";
import { z } from "zod";
import { orAbort, withTimeLimit } from "../../time-limit.ts";
import { type ProviderHttp, parseJsonAnswer, readShape, requireOk } from "../http/provider-http.ts";
import { ProviderError } from "../provider.ts";

/** Credentials of an account, from TaxBandits' developer console. */
export interface TaxBanditsCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly userToken: string;
}

/** The account's access token, shared by all calls of this process. */
export interface TaxBanditsTokens {
  /** Returns the current token, or fetches a new one. Errors: ProviderError; `timeout` where the signal aborts first. */
  get(signal: AbortSignal): Promise<string>;
  /** Forgets a token that was refused. */
  drop(token: string): void;
}

/** Time limit for fetching a token, in milliseconds; it does not depend on the callers that wait for it. */
const FETCH_TIMEOUT_MS = 8_000;
// A token is not used in the last tenth of its lifetime, nor in its last minute.
const RESERVE_SHARE = 0.1;
const RESERVE_MS = 60_000;
/** Assumed lifetime of a token that comes without one, in seconds. */
const ASSUMED_LIFETIME_SECONDS = 300;

const tokenAnswer = z.object({
  AccessToken: z.string().min(1),
  ExpiresIn: z.coerce.number().positive().catch(ASSUMED_LIFETIME_SECONDS),
});

/**
 * Returns the signed request for a token: a JWS with HS256 under the client secret, as TaxBandits' OAuth 2.0 documentation
 * requires. `issuedAt` is in Unix seconds.
 */
export function signRequest({ clientId, clientSecret, userToken }: TaxBanditsCredentials, issuedAt: number): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const header = encode({ alg: "HS256", typ: "JWT" });
  const payload = encode({ iss: clientId, sub: clientId, aud: userToken, iat: issuedAt });
  const signed = `${header}.${payload}`;
  return `${signed}.${createHmac("sha256", clientSecret).update(signed).digest("base64url")}`;
}

/** Keeps a token until shortly before it expires. Calls that need a new one at the same time wait for the same one. */
export function createTaxBanditsTokens(options: {
  http: ProviderHttp;
  authUrl: string;
  credentials: TaxBanditsCredentials;
  now: () => Date;
}): TaxBanditsTokens {
  const { http, authUrl, credentials, now } = options;
  let current: { readonly token: string; readonly usableUntil: number } | undefined;
  let fetching: Promise<string> | undefined;

  async function fetchToken(): Promise<string> {
    const requestedAt = now().getTime();
    const authentication = signRequest(credentials, Math.floor(requestedAt / 1_000));
    const headers = { accept: "application/json", authentication };
    // Not limited by the first caller, which may give up: the token is for all callers that wait.
    const response = await withTimeLimit(FETCH_TIMEOUT_MS, undefined, (signal) =>
      http.call({ method: "GET", url: authUrl, headers, signal }),
    );
    const { AccessToken, ExpiresIn } = readShape(tokenAnswer, parseJsonAnswer(requireOk(response)));
    const lifetimeMs = ExpiresIn * 1_000;
    const usableMs = Math.max(lifetimeMs * RESERVE_SHARE, lifetimeMs * (1 - RESERVE_SHARE) - RESERVE_MS);
    current = { token: AccessToken, usableUntil: requestedAt + usableMs };
    return current.token;
  }

  return {
    async get(signal) {
      if (current && now().getTime() < current.usableUntil) return current.token;
      fetching ??= fetchToken().finally(() => {
        fetching = undefined;
      });
      return orAbort(fetching, signal, () => new ProviderError("timeout"));
    },
    drop(token) {
      if (current?.token === token) current = undefined;
    },
  };
}
