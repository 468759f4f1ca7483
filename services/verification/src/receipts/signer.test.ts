import { createHmac } from "node:crypto";
import { expect, test } from "@jest/globals";
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, UnsecuredJWT } from "jose";
import { createReceiptSigner } from "./signer.ts";

const keyOf = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });
const [older, newer] = [keyOf("k1", 1), keyOf("k2", 2)];
const claims = { sub: "ver_1", iat: 1 };
const RECEIPT = { algorithms: ["EdDSA"], typ: "verification-receipt+jwt" };
const check = async (text: string, jwks: string) =>
  (await jwtVerify(text, createLocalJWKSet(JSON.parse(jwks)), RECEIPT)).payload;

test("the first key signs, and receipts of the keys behind it can still be checked", async () => {
  const before = await createReceiptSigner([older]).sign(claims);
  const signer = createReceiptSigner([newer, older]);
  const after = await signer.sign(claims);
  expect(decodeProtectedHeader(after)).toEqual({ alg: "EdDSA", typ: "verification-receipt+jwt", kid: "k2" });
  expect([await check(before, signer.jwks), await check(after, signer.jwks)]).toEqual([claims, claims]);
  await expect(check(after, createReceiptSigner([older]).jwks)).rejects.toThrow("no applicable key");
});

test("the same claims give the same receipt", async () => {
  const signer = createReceiptSigner([older]);
  expect(await signer.sign(claims)).toBe(await signer.sign(claims));
});

test("only public parts of keys are published, by the vector of RFC 8032", () => {
  const key = Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex");
  const x = Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex").toString(
    "base64url",
  );
  expect(JSON.parse(createReceiptSigner([{ id: "k1", key }]).jwks)).toEqual({
    keys: [{ kty: "OKP", crv: "Ed25519", x, kid: "k1", use: "sig", alg: "EdDSA" }],
  });
});

test("without a key nothing is signed, and the set of keys is empty", async () => {
  const signer = createReceiptSigner([]);
  expect(signer.jwks).toBe('{"keys":[]}');
  await expect(signer.sign(claims)).rejects.toMatchObject({ code: "not_found" });
});

test("published keys accept no receipt that was altered or made by somebody else", async () => {
  const signer = createReceiptSigner([older]);
  const [header, , signature] = (await signer.sign(claims)).split(".");
  const payload = Buffer.from(JSON.stringify({ ...claims, sub: "ver_2" })).toString("base64url");
  const stranger = await createReceiptSigner([keyOf("k1", 9)]).sign(claims);
  const hs256 = Buffer.from(JSON.stringify({ alg: "HS256", typ: RECEIPT.typ, kid: "k1" })).toString("base64url");
  const [{ x }] = JSON.parse(signer.jwks).keys;
  const mac = createHmac("sha256", Buffer.from(x, "base64url")).update(`${hs256}.${payload}`).digest("base64url");
  const forged = [
    `${header}.${payload}.${signature}`,
    stranger,
    new UnsecuredJWT(claims).encode(),
    `${hs256}.${payload}.${mac}`,
  ];
  for (const text of forged) await expect(check(text, signer.jwks)).rejects.toThrow();
});
