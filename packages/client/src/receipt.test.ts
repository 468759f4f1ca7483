import { createHmac, createPrivateKey, createPublicKey } from "node:crypto";
import { expect, test } from "@jest/globals";
import { SignJWT, UnsecuredJWT } from "jose";
import { checkReceipt, ReceiptError } from "./receipt.ts";

const TYPE = "verification-receipt+jwt";

/** Returns a key of this seed, and its public part as the service publishes it. */
function keyOf(kid: string, seed: number) {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, seed)]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  return { privateKey, kid, jwk: { kty: "OKP", crv: "Ed25519", x: x!, kid, use: "sig", alg: "EdDSA" } };
}

const [older, newer, stranger] = [keyOf("k1", 1), keyOf("k2", 2), keyOf("k2", 3)];
const keys = { keys: [newer.jwk, older.jwk] };
const claims = { iss: "https://api.example.com", sub: "ver_1", iat: 1_795_246_939, environment: "live", later: 1 };
const sign = ({ privateKey, kid }: ReturnType<typeof keyOf>, header: object = {}) =>
  new SignJWT(claims).setProtectedHeader({ alg: "EdDSA", kid, typ: TYPE, ...header }).sign(privateKey);
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

test("a receipt of the newest key says what it proves, and so does one of a retired key", async () => {
  expect(await checkReceipt(await sign(newer), keys)).toEqual(claims);
  expect(await checkReceipt(`${await sign(older)}\n`, keys)).toEqual(claims);
});

const [header, payload, signature] = (await sign(newer)).split(".");
const hs256 = `${base64url({ alg: "HS256", typ: TYPE, kid: "k2" })}.${payload}`;
const publicBytes = Buffer.from(newer.jwk.x, "base64url");
const forged: readonly [string, ReceiptError["reason"], string][] = [
  ["with an altered payload", "signature", `${header}.${base64url({ ...claims, sub: "ver_2" })}.${signature}`],
  [
    "with an altered header",
    "signature",
    `${base64url({ alg: "EdDSA", typ: TYPE, kid: "k1" })}.${payload}.${signature}`,
  ],
  ["of another key with the same id", "signature", await sign(stranger)],
  ["of an unknown key", "key", await sign(keyOf("k9", 9))],
  ["of another type", "form", await sign(newer, { typ: "JWT" })],
  ["without a signature", "form", new UnsecuredJWT(claims).encode()],
  [
    "signed with the public key as a secret",
    "form",
    `${hs256}.${createHmac("sha256", publicBytes).update(hs256).digest("base64url")}`,
  ],
  ["that is cut off", "form", `${header}.${payload}`],
  ["that is empty", "form", ""],
];

test.each(forged)("a text %s proves nothing", async (_what, reason, text) => {
  const error = await checkReceipt(text, keys).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ReceiptError);
  expect(error).toMatchObject({ reason });
});

test("keys that are no key set are refused", async () => {
  await expect(checkReceipt(await sign(newer), {} as never)).rejects.toThrow(TypeError);
});
