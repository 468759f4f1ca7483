import { createHmac } from "node:crypto";
import { outside } from "@vvs/fair-queue";
import * as openid from "openid-client";
import type { IdentityProvider } from "./identity-providers.ts";

const TIMEOUT_SECONDS = 5;
/** Maximum size of a provider's answer. */
const MAX_BYTES = 262_144;
/** How long a provider's discovery document is cached. */
const DISCOVERY_MS = 60 * 60_000;

/** The provider does not answer, or its answer is not one of the protocol. */
export class ProviderAwayError extends Error {}

/** The answer, of the provider or of a browser that returned from it, is not to be trusted. `reason` is for logs. */
export class NotProvenError extends Error {
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super(`the identity is not proven: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** A person, as their provider describes them. */
export interface ProvenIdentity {
  readonly issuer: string;
  /** The provider's id of the person, which it never gives to another person. */
  readonly subject: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
  /** When they entered their credentials, if the provider says so. */
  readonly authenticatedAt?: Date;
  /** The claims of the signed ID token. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** One sign-in with a provider. */
export interface Trip {
  /** Known only to one browser. The nonce and the PKCE verifier are derived from it. */
  readonly browserToken: string;
  /** Comes back with the browser. */
  readonly state: string;
  readonly redirectUri: string;
}

export type OpenId = ReturnType<typeof createOpenId>;

/** OpenID Connect: authorization code with PKCE, state and nonce. The signature, issuer and audience of tokens are checked. */
export function createOpenId({ now }: { now: () => Date }) {
  const known = new Map<string, { configuration: Promise<openid.Configuration>; until: number }>();

  function configurationOf(provider: IdentityProvider): Promise<openid.Configuration> {
    const at = now().getTime();
    const found = known.get(provider.id);
    if (found && found.until > at) return found.configuration;
    const configuration = discover(provider);
    known.set(provider.id, { configuration, until: at + DISCOVERY_MS });
    configuration.catch(() => known.delete(provider.id));
    return configuration;
  }

  return {
    /**
     * Returns where to send the browser. `again` makes the provider ask for credentials and say when it did.
     * Errors: ProviderAwayError.
     */
    async authorizationUrl(
      provider: IdentityProvider,
      { browserToken, state, redirectUri, again }: Trip & { again: boolean },
    ): Promise<string> {
      const configuration = await outside(() => configurationOf(provider));
      return openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: "openid email",
        state,
        nonce: derived(browserToken, "nonce"),
        code_challenge: await openid.calculatePKCECodeChallenge(derived(browserToken, "verifier")),
        code_challenge_method: "S256",
        ...(again && { prompt: "login", max_age: "0" }),
      }).href;
    },

    /** Returns who came back, from the query of their URL. Errors: ProviderAwayError, NotProvenError. */
    async identityOf(
      provider: IdentityProvider,
      { browserToken, state, redirectUri, query }: Trip & { query: string },
    ): Promise<ProvenIdentity> {
      const configuration = await outside(() => configurationOf(provider));
      try {
        const returned = new URL(`?${query}`, redirectUri);
        const expected = {
          expectedState: state,
          expectedNonce: derived(browserToken, "nonce"),
          pkceCodeVerifier: derived(browserToken, "verifier"),
          idTokenExpected: true,
        };
        const tokens = await outside(() => openid.authorizationCodeGrant(configuration, returned, expected));
        const claims = tokens.claims()!;
        // Some providers return the address only from their userinfo endpoint.
        const person =
          claims.email === undefined
            ? await outside(() => openid.fetchUserInfo(configuration, tokens.access_token, claims.sub))
            : claims;
        return {
          issuer: claims.iss,
          subject: claims.sub,
          email: typeof person.email === "string" ? person.email : "",
          isEmailVerified: person.email_verified === true,
          ...(claims.auth_time !== undefined && { authenticatedAt: new Date(claims.auth_time * 1000) }),
          claims,
        };
      } catch (error) {
        throw explained(error);
      }
    },
  };
}

async function discover(provider: IdentityProvider): Promise<openid.Configuration> {
  const issuer = new URL(provider.issuer);
  try {
    return await openid.discovery(issuer, provider.client_id, undefined, clientAuthentication(provider.client_secret), {
      timeout: TIMEOUT_SECONDS,
      [openid.customFetch]: boundedFetch,
      // The code flow trusts a token because of its connection; this checks its signature as well.
      execute: [
        openid.enableNonRepudiationChecks,
        ...(issuer.protocol === "http:" ? [openid.allowInsecureRequests] : []),
      ],
    });
  } catch (error) {
    throw new ProviderAwayError("the discovery document can't be read", { cause: error });
  }
}

/** HTTP Basic, the protocol's default, unless the provider only accepts the secret in the body. */
function clientAuthentication(secret: string): openid.ClientAuth {
  const [basic, post] = [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)];
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    return (methods.includes("client_secret_basic") ? basic : post)(server, ...request);
  };
}

const boundedFetch: openid.CustomFetch = async (url, { body, ...options }) => {
  const response = await fetch(url, { ...options, body: body as RequestInit["body"], redirect: "manual" });
  let size = 0;
  const parts: Uint8Array[] = [];
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > MAX_BYTES) throw new Error("the answer is too long");
    parts.push(part);
  }
  return new Response(size > 0 ? Buffer.concat(parts) : null, { status: response.status, headers: response.headers });
};

/** Without the token no derived value can be guessed, not even from another derived value. */
function derived(browserToken: string, use: "nonce" | "verifier"): string {
  return createHmac("sha256", browserToken).update(use).digest("base64url");
}

const NO_ANSWER = new Set(["OAUTH_TIMEOUT", "OAUTH_ABORT", "OAUTH_RESPONSE_IS_NOT_CONFORM"]);

/** Returns whether a failed exchange means that the provider is unavailable, or that it refused. */
function explained(error: unknown): Error {
  if (error instanceof openid.AuthorizationResponseError) return new NotProvenError(`provider_${error.error}`, error);
  if (error instanceof openid.ResponseBodyError && error.status < 500)
    return new NotProvenError(`token_${error.error}`, error);
  if (error instanceof openid.ClientError && error.code && !NO_ANSWER.has(error.code))
    return new NotProvenError(reasonOf(error.code), error);
  return new ProviderAwayError("the provider does not answer", { cause: error });
}

const reasonOf = (code: string) => code.replace(/^OAUTH_/, "").toLowerCase();
