import { createHmac } from "node:crypto";
import { expect, test } from "@jest/globals";
import { UnsecuredJWT } from "jose";
import { receiptKey } from "../../../test/support/receipts.ts";
import { checkReceipt, ReceiptError } from "./receipt.ts";
import type { ReceiptKeys } from "./types.ts";

const TYPE = "verification-receipt+jwt";

const [older, newer, stranger] = [receiptKey("k1"), receiptKey("k2"), receiptKey("k2")];
const keys = { keys: [newer.jwk, older.jwk] as ReceiptKeys["keys"] };
const claims = { iss: "https://api.example.com", sub: "ver_1", iat: 1_795_246_939, environment: "live", later: 1 };
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

test("a receipt of the newest key says what it proves, and so does one of a retired key", async () => {
  expect(await checkReceipt(newer.sign(claims), keys)).toEqual(claims);
  expect(await checkReceipt(`${older.sign(claims)}\n`, keys)).toEqual(claims);
});

const [header, payload, signature] = newer.sign(claims).split(".");
const hs256 = `${base64url({ alg: "HS256", typ: TYPE, kid: "k2" })}.${payload}`;
const publicBytes = Buffer.from(newer.jwk.x!, "base64url");
const forged: readonly [string, ReceiptError["reason"], string][] = [
  ["with an altered payload", "signature", `${header}.${base64url({ ...claims, sub: "ver_2" })}.${signature}`],
  [
    "with an altered header",
    "signature",
    `${base64url({ alg: "EdDSA", typ: TYPE, kid: "k1" })}.${payload}.${signature}`,
  ],
  ["of another key with the same id", "signature", stranger.sign(claims)],
  ["of an unknown key", "key", receiptKey("k9").sign(claims)],
  ["of another type", "form", newer.sign(claims, { typ: "JWT" })],
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
  await expect(checkReceipt(newer.sign(claims), {} as never)).rejects.toThrow(TypeError);
});
