import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** What the browser and its device do otherwise than they should. */
export interface Misbehaviour {
  readonly origin?: string;
  readonly rpId?: string;
  /** Did the device verify its user? */
  readonly verified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
}

/** A browser with a device that makes passkeys (ES256, no attestation) and answers by them, as WebAuthn says. */
export interface TestAuthenticator {
  /** RegistrationResponseJSON to PublicKeyCredentialCreationOptionsJSON. */
  create(optionsJson: string, misbehaviour?: Misbehaviour): string;
  /** AuthenticationResponseJSON by the passkey that was made, to PublicKeyCredentialRequestOptionsJSON. */
  get(optionsJson: string, misbehaviour?: Misbehaviour): string;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest();
const uint = (value: number, bytes: number) => Buffer.from(value.toString(16).padStart(bytes * 2, "0"), "hex");

export function testAuthenticator(origin: string): TestAuthenticator {
  const id = randomBytes(16);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x, y } = publicKey.export({ format: "jwk" });
  let userHandle = "";
  let uses = 0;

  const clientData = (type: string, challenge: string, { origin: other = origin }: Misbehaviour) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: other, crossOrigin: false }));

  const authenticatorData = ({ rpId, verified = true, counter }: Misbehaviour, credential = Buffer.alloc(0)) => {
    const flags = USER_PRESENT | (verified ? USER_VERIFIED : 0) | (credential.length > 0 ? HAS_CREDENTIAL : 0);
    const rpIdHash = sha256(rpId ?? new URL(origin).hostname);
    return Buffer.concat([rpIdHash, uint(flags, 1), uint(counter ?? ++uses, 4), credential]);
  };

  const answer = (response: Record<string, Buffer>) =>
    JSON.stringify({
      id: id.toString("base64url"),
      rawId: id.toString("base64url"),
      type: "public-key",
      clientExtensionResults: {},
      response: Object.fromEntries(Object.entries(response).map(([name, data]) => [name, data.toString("base64url")])),
    });

  return {
    create(optionsJson, misbehaviour = {}) {
      const { challenge, user } = JSON.parse(optionsJson) as { challenge: string; user: { id: string } };
      userHandle = user.id;
      // CBOR: {1: 2, 3: -7, -1: 1, -2: x, -3: y}.
      const key = [
        Buffer.from("a5010203262001215820", "hex"),
        Buffer.from(x!, "base64url"),
        Buffer.from("225820", "hex"),
        Buffer.from(y!, "base64url"),
      ];
      const data = authenticatorData(misbehaviour, Buffer.concat([Buffer.alloc(16), uint(id.length, 2), id, ...key]));
      // CBOR: {fmt: "none", attStmt: {}, authData: bytes}.
      const head = Buffer.from("a363666d74646e6f6e656761747453746d74a068617574684461746159", "hex");
      return answer({
        clientDataJSON: clientData("webauthn.create", challenge, misbehaviour),
        attestationObject: Buffer.concat([head, uint(data.length, 2), data]),
      });
    },

    get(optionsJson, misbehaviour = {}) {
      const { challenge } = JSON.parse(optionsJson) as { challenge: string };
      const data = authenticatorData(misbehaviour);
      const clientDataJSON = clientData("webauthn.get", challenge, misbehaviour);
      const signature = sign("sha256", Buffer.concat([data, sha256(clientDataJSON)]), privateKey);
      const owner = misbehaviour.userHandle
        ? Buffer.from(misbehaviour.userHandle)
        : Buffer.from(userHandle, "base64url");
      return answer({ clientDataJSON, authenticatorData: data, signature, userHandle: owner });
    },
  };
}
