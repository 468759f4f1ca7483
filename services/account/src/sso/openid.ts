import { createHmac } from "node:crypto";
import * as openid from "openid-client";
import type { IdentityProvider } from "./identity-providers.ts";

const TIMEOUT_SECONDS = 5;
/** No document of a provider is longer. */
const MAX_BYTES = 262_144;
/** How long a provider's discovery document is believed. */
const DISCOVERY_MS = 60 * 60_000;

/** The provider does not answer, or with what is no answer. */
export class ProviderAwayError extends Error {}

/** The provider, or who came back in its name, said what must not be believed; `reason` is a word for logs. */
export class NotProvenError extends Error {
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super(`the identity is not proven: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** Who somebody is, by their provider. */
export interface ProvenIdentity {
  readonly issuer: string;
  /** The provider's name for the person, which it never gives to another one. */
  readonly subject: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
  /** When they gave their credentials, where the provider says so. */
  readonly authenticatedAt?: Date;
}

/** What one way to a provider and back is bound to. */
export interface Trip {
  /** Known to one browser alone; all that must not be guessed is derived from it. */
  readonly browserToken: string;
  readonly redirectUri: string;
}

export interface OpenId {
  /** Where the browser is to go; `again` has the provider ask for credentials anew. Errors: ProviderAwayError. */
  authorizationUrl(provider: IdentityProvider, trip: Trip & { again: boolean }): Promise<string>;
  /** Who came back, by the query of the address they came back to. Errors: ProviderAwayError, NotProvenError. */
  identityOf(provider: IdentityProvider, trip: Trip & { query: string }): Promise<ProvenIdentity>;
}

/** OpenID Connect: authorization code with PKCE, state and nonce; tokens count by their signature, issuer and audience. */
export function createOpenId(options: { now: () => Date }): OpenId {
  const { now } = options;
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
    async authorizationUrl(provider, { browserToken, redirectUri, again }) {
      const configuration = await configurationOf(provider);
      return openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: "openid email",
        state: derived(browserToken, "state"),
        nonce: derived(browserToken, "nonce"),
        code_challenge: await openid.calculatePKCECodeChallenge(derived(browserToken, "verifier")),
        code_challenge_method: "S256",
        ...(again && { prompt: "login" }),
      }).href;
    },

    async identityOf(provider, { browserToken, redirectUri, query }) {
      const configuration = await configurationOf(provider);
      try {
        const tokens = await openid.authorizationCodeGrant(configuration, new URL(`?${query}`, redirectUri), {
          expectedState: derived(browserToken, "state"),
          expectedNonce: derived(browserToken, "nonce"),
          pkceCodeVerifier: derived(browserToken, "verifier"),
          idTokenExpected: true,
        });
        const claims = tokens.claims()!;
        // Some providers tell the address at another of their doors alone.
        const person =
          claims.email === undefined
            ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)
            : claims;
        return {
          issuer: claims.iss,
          subject: claims.sub,
          email: typeof person.email === "string" ? person.email : "",
          isEmailVerified: person.email_verified === true,
          ...(claims.auth_time !== undefined && { authenticatedAt: new Date(claims.auth_time * 1000) }),
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
      // The code flow alone would believe a token for the connection it came by; its signature is checked as well.
      execute: [
        openid.enableNonRepudiationChecks,
        ...(issuer.protocol === "http:" ? [openid.allowInsecureRequests] : []),
      ],
    });
  } catch (error) {
    throw new ProviderAwayError("the discovery document can't be had", { cause: error });
  }
}

/** By HTTP Basic, the protocol's default, unless the provider takes the secret in the body alone. */
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

/** Nobody who lacks the token can tell what is derived of it, nor one derivation from another. */
function derived(browserToken: string, use: "state" | "nonce" | "verifier"): string {
  return createHmac("sha256", browserToken).update(use).digest("base64url");
}

const NO_ANSWER = new Set(["OAUTH_TIMEOUT", "OAUTH_ABORT", "OAUTH_RESPONSE_IS_NOT_CONFORM"]);

/** What of a failed exchange is the provider's absence, and what is a refusal. */
function explained(error: unknown): Error {
  if (error instanceof openid.AuthorizationResponseError) return new NotProvenError(`provider_${error.error}`, error);
  if (error instanceof openid.ResponseBodyError && error.status < 500)
    return new NotProvenError(`token_${error.error}`, error);
  if (error instanceof openid.ClientError && error.code && !NO_ANSWER.has(error.code))
    return new NotProvenError(reasonOf(error.code), error);
  return new ProviderAwayError("the provider does not answer", { cause: error });
}

const reasonOf = (code: string) => code.replace(/^OAUTH_/, "").toLowerCase();
