import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { SecretKey } from "@vvs/config";
import { startScript } from "@vvs/testing";
import { callerFor, secretKey, startTestApplication } from "../testing/application.ts";

const old = { tin: secretKey("t1"), hash: secretKey("h1") };
const young = { tin: secretKey("t2"), hash: secretKey("h2") };
const TIN = "471829360";

const app = await startTestApplication({
  rings: { tinKeys: [old.tin], tinHashKeys: [old.hash] },
});

const ring = (...keys: SecretKey[]) => keys.map(({ id, key }) => `${id}:${key.toString("base64")}`).join(",");

/** Runs the command as an operator does. */
async function run(args: string[], rings: { TIN_KEYS: string; TIN_HASH_KEYS: string }) {
  const env = { MONGODB_URI: process.env.MONGODB_URI, MONGODB_DATABASE_PREFIX: app.prefix, ...rings };
  const { code, stdout, stderr } = await startScript(join(import.meta.dirname, "cli.ts"), args, { env }).ended;
  return { code, printed: stdout + stderr };
}

test("the rotation covers both environments, prints its result and when old keys can go, and prints no TIN or key", async () => {
  for (const environment of ["live", "sandbox"] as const) {
    const caller = callerFor("org_1", environment);
    await app.gateway.createEntity({ caller, legalName: "Vendor LLC", identifiers: { tin: TIN } });
  }
  const rings = { TIN_KEYS: ring(young.tin, old.tin), TIN_HASH_KEYS: ring(young.hash, old.hash) };
  const first = await run(["rotate"], rings);
  expect(first).toMatchObject({ code: 0, printed: expect.stringContaining("live carried TINs: 1 renewed, 0 left") });
  expect(first.printed).toContain("sandbox hashes of contents: 1 renewed, 0 left");
  expect(first.printed).toContain(
    "the others of TIN_HASH_KEYS can be removed, and those of TIN_KEYS once no job needs them",
  );
  for (const secret of [TIN, ...[old, young].flatMap(({ tin, hash }) => [ring(tin), ring(hash)])]) {
    expect(first.printed).not.toContain(secret);
  }
  const again = await run(["rotate"], { TIN_KEYS: ring(young.tin), TIN_HASH_KEYS: ring(young.hash) });
  expect(again).toMatchObject({ code: 0, printed: expect.stringContaining("live carried TINs: 0 renewed, 0 left") });
});

test("the rotation fails without the key of a sealed value, names the document and leaves the rest", async () => {
  const rings = { TIN_KEYS: ring(secretKey("t3")), TIN_HASH_KEYS: ring(secretKey("h3")) };
  const { code, printed } = await run(["rotate"], rings);
  expect(code).toBe(1);
  expect(printed).toMatch(/live entity_identifiers ent_\w+: the ring has no key t\d/);
  expect(printed).toContain("keep the other keys");
});

test("another command and missing variables are explained", async () => {
  expect(await run(["spin"], { TIN_KEYS: "", TIN_HASH_KEYS: "" })).toMatchObject({
    code: 1,
    printed: expect.stringContaining("npm run tins -- rotate"),
  });
  expect(await run(["rotate"], { TIN_KEYS: "", TIN_HASH_KEYS: "" })).toMatchObject({
    code: 1,
    printed: "TIN_KEYS: is required\nTIN_HASH_KEYS: is required\n",
  });
});
