import { expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { createPasswords, NOBODYS_HASH } from "./passwords.ts";

const passwords = createPasswords();
const hashPassword = (password: string) => passwords.hash(password, "known");
const matchesPassword = (hash: string, password: string) => passwords.matches(hash, password, "known");
const long = "correct horse battery ".repeat(10).slice(0, 200);
const parametersOf = (hash: string) => hash.split("$").slice(1, 4);

test("a password is stored as argon2id with 19 MiB, two passes and one lane", async () => {
  const hash = await hashPassword("correct horse");
  expect(parametersOf(hash)).toEqual(["argon2id", "v=19", "m=19456,t=2,p=1"]);
  expect(await matchesPassword(hash, "correct horse")).toBe(true);
  expect(await matchesPassword(hash, "correct horsE")).toBe(false);
});

test("the hash of nobody costs as much as a user's, so that the duration does not reveal accounts", async () => {
  expect(parametersOf(NOBODYS_HASH)).toEqual(parametersOf(await hashPassword("correct horse")));
  expect(await matchesPassword(NOBODYS_HASH, "correct horse")).toBe(false);
});

test("the same characters match however a keyboard composes them", async () => {
  expect(await matchesPassword(await hashPassword("pass wörd"), "pass wo\u0308rd")).toBe(true);
});

test.each([
  ["8 characters", "kv7#Qz!m", true],
  ["200 characters", long, true],
  ["7 characters", "kv7#Qz!", false],
  ["8 characters that are common", "Passw0rd", false],
  ["201 characters", `${long}x`, false],
  ["nothing", "", false],
])("a password of %s is accepted or not as documented", async (_name, password, accepted) => {
  const hashing = hashPassword(password);
  if (accepted) await expect(hashing).resolves.toMatch(/^\$argon2id/);
  else await expect(hashing).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "password" }] });
});

test("strangers' work runs one at a time, and delays no known person's", async () => {
  const { inTurn } = createPasswords();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (asker: "known" | "stranger", name: string) =>
    inTurn(asker, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const all = [begin("stranger", "first"), begin("stranger", "second"), begin("known", "owner")];
  await eventually(() => begun.length === 2);
  expect(begun).toEqual(["first", "owner"]);
  ends.get("first")!();
  await eventually(() => begun.length === 3);
  for (const end of ends.values()) end();
  await Promise.all(all);
  expect(begun).toEqual(["first", "owner", "second"]);
});
