import { createHmac } from "node:crypto";
import { z } from "zod";
import { orAbort, startTimeLimit } from "../time-limit.ts";
import { ProviderError } from "./provider.ts";
import { type ProviderHttp, parseJsonAnswer, requireOk } from "./provider-http.ts";

/** What TaxBandits' developer console gives an account. */
export interface TaxBanditsCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly userToken: string;
}

/** The access token of the account, shared by all calls of this process. */
export interface TaxBanditsTokens {
  /** The current one, or a new one. Errors: ProviderError; `timeout` where the signal aborts first. */
  get(signal: AbortSignal): Promise<string>;
  /** This one was refused: it is not given out again. */
  drop(token: string): void;
}

/** Asking for a token may take this long, whoever waits for it. */
const FETCH_TIMEOUT_MS = 8_000;
/** A token is not used in the last tenth of its life, nor in its last minute. */
const RESERVE_SHARE = 0.1;
const RESERVE_MS = 60_000;
/** The life of a token that comes without one, in seconds. */
const ASSUMED_LIFE_SECONDS = 300;

const tokenAnswer = z.object({
  AccessToken: z.string().min(1),
  ExpiresIn: z.coerce.number().positive().catch(ASSUMED_LIFE_SECONDS),
});

/**
 * The signed request for a token: a JWS by HS256 under the client secret, as TaxBandits' OAuth 2.0 documentation says.
 * `issuedAt` is in unix seconds.
 */
export function signRequest({ clientId, clientSecret, userToken }: TaxBanditsCredentials, issuedAt: number): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const header = encode({ alg: "HS256", typ: "JWT" });
  const payload = encode({ iss: clientId, sub: clientId, aud: userToken, iat: issuedAt });
  const signed = `${header}.${payload}`;
  return `${signed}.${createHmac("sha256", clientSecret).update(signed).digest("base64url")}`;
}

/** Keeps a token until shortly before it expires. Calls that need a new one at once wait for the same. */
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
    // A limit of its own: the token is for all who wait, and whoever asked first may give up.
    const limit = startTimeLimit(FETCH_TIMEOUT_MS);
    try {
      const askedAt = now().getTime();
      const response = await http.call({
        method: "GET",
        url: authUrl,
        headers: { accept: "application/json", authentication: signRequest(credentials, Math.floor(askedAt / 1_000)) },
        signal: limit.signal,
      });
      const parsed = tokenAnswer.safeParse(parseJsonAnswer(requireOk(response)));
      if (!parsed.success) throw new ProviderError("wrong_shape");
      const lifeMs = parsed.data.ExpiresIn * 1_000;
      const usableMs = Math.max(lifeMs * RESERVE_SHARE, lifeMs * (1 - RESERVE_SHARE) - RESERVE_MS);
      current = { token: parsed.data.AccessToken, usableUntil: askedAt + usableMs };
      return current.token;
    } finally {
      limit.release();
    }
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
