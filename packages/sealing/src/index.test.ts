import { expect, test } from "@jest/globals";
import { keyedHashes, open, type Place, seal } from "./index.ts";

const old = { id: "k1", key: Buffer.alloc(32, 1) };
const current = { id: "k2", key: Buffer.alloc(32, 2) };
const place: Place = ["org_1", "live", "entity_identifiers", "ent_1", "tin"];

test("values sealed with an old key still open after a rotation, and new ones are sealed with the new key", () => {
  const before = seal([old], place, "123456789");
  expect(open([current, old], place, before)).toBe("123456789");
  expect(seal([current, old], place, "123456789").key_id).toBe("k2");
});

test("a sealed value that was moved to another place, or changed, does not open", () => {
  const sealed = seal([current], place, "123456789");
  expect(() => open([current], ["org_2", "live", "entity_identifiers", "ent_1", "tin"], sealed)).toThrow();
  const changed = Buffer.from(sealed.box);
  changed[NONCE_END]! ^= 1;
  expect(() => open([current], place, { ...sealed, box: changed })).toThrow();
  expect(() => open([old], place, sealed)).toThrow("no key k2");
});

test("a keyed hash is computed with every key of the ring", () => {
  const [stored] = keyedHashes([old], "123456789");
  expect(keyedHashes([current, old], "123456789").map(({ hash }) => hash.toString("hex"))).toContain(
    stored!.hash.toString("hex"),
  );
});

const NONCE_END = 12;
