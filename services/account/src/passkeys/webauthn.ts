import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import type { PasskeyDocument } from "../store.ts";

/** How long a browser may take to answer a challenge. */
export const CHALLENGE_MS = 5 * 60_000;
/** COSE: EdDSA, ES256 and RS256. Every authenticator supports one of them. */
const ALGORITHMS = [-8, -7, -257];

/** The site of passkeys: the dashboard's public URL. No other site's page can use them. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

export function relyingParty(dashboardUrl: URL): RelyingParty {
  return { id: dashboardUrl.hostname, origin: dashboardUrl.origin };
}

type Known = Pick<PasskeyDocument, "credential_id" | "transports">;

/** Returns PublicKeyCredentialCreationOptionsJSON for a passkey that its device stores and verifies its user for. */
export async function creationOptions(
  rp: RelyingParty,
  { challenge, user, known }: { challenge: Buffer; user: { id: string; email: string }; known: readonly Known[] },
): Promise<string> {
  const created = await generateRegistrationOptions({
    rpName: "Vendor Verification",
    rpID: rp.id,
    userID: new Uint8Array(Buffer.from(user.id, "utf8")),
    userName: user.email,
    userDisplayName: user.email,
    challenge: new Uint8Array(challenge),
    timeout: CHALLENGE_MS,
    attestationType: "none",
    excludeCredentials: known.map(descriptor),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: ALGORITHMS,
  });
  return JSON.stringify(created);
}

/** Returns PublicKeyCredentialRequestOptionsJSON for the known passkeys; for any passkey of this site if none are given. */
export async function requestOptions(
  rp: RelyingParty,
  { challenge, known = [] }: { challenge: Buffer; known?: readonly Known[] },
): Promise<string> {
  const created = await generateAuthenticationOptions({
    rpID: rp.id,
    challenge: new Uint8Array(challenge),
    timeout: CHALLENGE_MS,
    userVerification: "required",
    ...(known.length > 0 && { allowCredentials: known.map(descriptor) }),
  });
  return JSON.stringify(created);
}

function descriptor({ credential_id, transports }: Known) {
  return { id: credential_id, transports: [...transports] };
}

/** What is needed of a browser's answer to find its challenge and passkey. The library checks the rest. */
export interface CredentialResponse {
  /** Id of the passkey, base64url. */
  readonly credentialId: string;
  readonly challenge: string;
  /** The user that the passkey says it belongs to. */
  readonly userHandle?: string;
  readonly json: unknown;
}

/** Reads a browser's answer; undefined if it is none. */
export function readResponse(text: string): CredentialResponse | undefined {
  try {
    const json = JSON.parse(text) as { id: unknown; response: { clientDataJSON: string; userHandle?: unknown } };
    const clientData = JSON.parse(Buffer.from(json.response.clientDataJSON, "base64url").toString("utf8")) as object;
    const challenge = "challenge" in clientData && clientData.challenge;
    if (typeof json.id !== "string" || typeof challenge !== "string") return undefined;
    const { userHandle } = json.response;
    const owner = typeof userHandle === "string" ? Buffer.from(userHandle, "base64url").toString("utf8") : undefined;
    return { credentialId: json.id, challenge, json, ...(owner && { userHandle: owner }) };
  } catch {
    return undefined;
  }
}

/** Returns the passkey that a browser created with our options; undefined if anything about it is not as requested. */
export async function verifiedCredential(rp: RelyingParty, response: CredentialResponse) {
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      ...expectationsOf(rp, response),
      response: response.json as Parameters<typeof verifyRegistrationResponse>[0]["response"],
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) return undefined;
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    return { credential_id: id, public_key: Buffer.from(publicKey), counter, transports };
  } catch {
    return undefined;
  }
}

/**
 * Returns the counter of a passkey's proof; undefined if the proof is wrong, from another site, without a verified user,
 * or if the counter did not increase, which reveals a copied passkey.
 */
export async function verifiedCounter(
  rp: RelyingParty,
  response: CredentialResponse,
  { credential_id, public_key, counter }: PasskeyDocument,
): Promise<number | undefined> {
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...expectationsOf(rp, response),
      response: response.json as Parameters<typeof verifyAuthenticationResponse>[0]["response"],
      credential: { id: credential_id, publicKey: new Uint8Array(public_key), counter },
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}

function expectationsOf(rp: RelyingParty, { challenge }: CredentialResponse) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: rp.origin,
    expectedRPID: rp.id,
    requireUserVerification: true,
  };
}
