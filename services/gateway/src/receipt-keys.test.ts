import { expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { createReadReceiptKeys } from "./receipt-keys.ts";
import { startTestGateway } from "./testing/gateway.ts";

const gateway = await startTestGateway();
const x = Buffer.alloc(32, 1).toString("base64url");
const jwksOf = (kid: string) =>
  JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", x, kid, use: "sig", alg: "EdDSA" }] });

test("the keys of receipts need no API key, may be kept for five minutes, and are 304 to their ETag", async () => {
  const path = "/.well-known/jwks.json";
  gateway.verification.on("getReceiptKeys", () => Promise.reject(new ServiceError("service_unavailable")));
  expect((await gateway.send("GET", path)).status).toBe(503);
  gateway.verification.on("getReceiptKeys", () => ({ jwks: jwksOf("k1") }));
  const { status, headers, body } = await gateway.send("GET", path);
  expect([status, body]).toEqual([200, JSON.parse(jwksOf("k1"))]);
  expect(headers.get("cache-control")).toBe("public, max-age=300");
  const again = await gateway.send("GET", path, { headers: { "If-None-Match": headers.get("etag")! } });
  expect([again.status, again.body]).toEqual([304, undefined]);
  expect((await gateway.send("POST", path)).status).toBe(405);
});

test("verification is asked once a minute by all requests together, and is not needed while it is unavailable", async () => {
  let [now, asked] = [0, 0];
  let isAvailable = false;
  const ask = async () => {
    asked += 1;
    if (!isAvailable) throw new ServiceError("service_unavailable");
    return { jwks: jwksOf(`k${asked}`) };
  };
  const read = createReadReceiptKeys({ getReceiptKeys: ask as never }, () => now);
  const kid = async () => JSON.parse((await read()).body.toString()).keys[0].kid;
  await expect(read()).rejects.toMatchObject({ code: "service_unavailable" });
  isAvailable = true;
  expect(await Promise.all([kid(), kid()])).toEqual(["k2", "k2"]);
  now = 59_999;
  expect([await kid(), asked]).toEqual(["k2", 2]);
  [now, isAvailable] = [60_000, false];
  expect([await kid(), asked]).toEqual(["k2", 3]);
  isAvailable = true;
  expect([await kid(), asked]).toEqual(["k4", 4]);
});
