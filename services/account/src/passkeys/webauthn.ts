import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import type { PasskeyDocument } from "../store.ts";

/** For how long a browser asks its user. */
const TIMEOUT_MS = 5 * 60_000;
/** COSE: EdDSA, ES256 and RS256, which between them every authenticator has one of. */
const ALGORITHMS = [-8, -7, -257];

/** Whom passkeys are made for: the dashboard as browsers see it. No other site's page can use one. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/** What a browser answered; everything in it but the challenge is for the library to judge. */
export interface CredentialResponse {
  /** Of the passkey, base64url. */
  readonly credentialId: string;
  readonly challenge: string;
  /** Whom the passkey says it belongs to. */
  readonly userHandle?: string;
  readonly json: unknown;
}

export interface NewCredential {
  readonly credentialId: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
}

type Known = Pick<PasskeyDocument, "credential_id" | "transports">;

export function relyingParty(dashboardUrl: URL): RelyingParty {
  return { id: dashboardUrl.hostname, origin: dashboardUrl.origin };
}

/** PublicKeyCredentialCreationOptionsJSON of a passkey that a device keeps and asks its user for. */
export async function creationOptions(
  rp: RelyingParty,
  options: { challenge: Buffer; user: { id: string; email: string }; known: readonly Known[] },
): Promise<string> {
  const { challenge, user, known } = options;
  const created = await generateRegistrationOptions({
    rpName: "Vendor Verification",
    rpID: rp.id,
    userID: new Uint8Array(Buffer.from(user.id, "utf8")),
    userName: user.email,
    userDisplayName: user.email,
    challenge: new Uint8Array(challenge),
    timeout: TIMEOUT_MS,
    attestationType: "none",
    excludeCredentials: known.map(descriptor),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: ALGORITHMS,
  });
  return JSON.stringify(created);
}

/** PublicKeyCredentialRequestOptionsJSON; of any passkey for this site where none are named. */
export async function requestOptions(
  rp: RelyingParty,
  { challenge, known = [] }: { challenge: Buffer; known?: readonly Known[] },
): Promise<string> {
  const created = await generateAuthenticationOptions({
    rpID: rp.id,
    challenge: new Uint8Array(challenge),
    timeout: TIMEOUT_MS,
    userVerification: "required",
    ...(known.length > 0 && { allowCredentials: known.map(descriptor) }),
  });
  return JSON.stringify(created);
}

/** Reads a browser's answer; undefined where it is none. */
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

/** The passkey that a browser made by our options; undefined where anything about it is not as asked for. */
export async function verifiedCredential(
  rp: RelyingParty,
  response: CredentialResponse,
): Promise<NewCredential | undefined> {
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: response.json as Parameters<typeof verifyRegistrationResponse>[0]["response"],
      expectedChallenge: response.challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) return undefined;
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    return { credentialId: id, publicKey: Buffer.from(publicKey), counter, transports };
  } catch {
    return undefined;
  }
}

/**
 * The counter that a passkey shows with its proof; undefined where the proof is wrong, of another site, without a
 * verified user, or by a counter that did not go on, which a copy of the passkey would show.
 */
export async function verifiedCounter(
  rp: RelyingParty,
  response: CredentialResponse,
  passkey: PasskeyDocument,
): Promise<number | undefined> {
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: response.json as Parameters<typeof verifyAuthenticationResponse>[0]["response"],
      expectedChallenge: response.challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: passkey.counter,
      },
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}

function descriptor({ credential_id, transports }: Known) {
  return { id: credential_id, transports: [...transports] };
}
