import { describe, expect, test } from "@jest/globals";
import { encodeBase32 } from "./base32.ts";
import { deterministicId, firstId, isId, newId, timeOfId } from "./index.ts";

describe("ids", () => {
  test("encode a UUID as the TypeID specification's vectors do", () => {
    const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll("-", ""), "hex"));
    expect(encodeBase32(bytes("00000000-0000-0000-0000-000000000000"))).toBe("00000000000000000000000000");
    expect(encodeBase32(bytes("0188bac7-4afa-78aa-bc3b-bd1eef28d881"))).toBe("01h2xcejqtf2nbrexx3vqjhp41");
    expect(encodeBase32(bytes("ffffffff-ffff-ffff-ffff-ffffffffffff"))).toBe("7zzzzzzzzzzzzzzzzzzzzzzzzz");
  });

  test("sort by creation time", () => {
    const ids = [1, 2, 3].map((ms) => newId("ent", new Date(1_800_000_000_000 + ms)));
    expect([...ids].sort()).toEqual(ids);
  });

  test("of a time are all between the first one of that time and that of the next millisecond", () => {
    const at = new Date("2026-11-21T09:30:00.000Z");
    for (const id of [newId("ver", at), newId("ver", at), deterministicId("ver", at, ["a"])]) {
      expect(firstId("ver", at) <= id && id < firstId("ver", new Date(at.getTime() + 1))).toBe(true);
    }
    expect(newId("ver", new Date(at.getTime() - 1)) < firstId("ver", at)).toBe(true);
  });

  test("contain the time at which they were created", () => {
    const at = new Date("2026-11-21T09:30:00.123Z");
    for (const id of [newId("evd", at), deterministicId("mail", at, ["a"])]) expect(timeOfId(id)).toEqual(at);
  });

  test("are the same for the same parts, and different for different parts", () => {
    const at = new Date("2026-11-21T09:30:00.000Z");
    expect(deterministicId("evt", at, ["mon_1", "ver_1"])).toBe(deterministicId("evt", at, ["mon_1", "ver_1"]));
    expect(deterministicId("evt", at, ["mon_1", "ver_1"])).not.toBe(deterministicId("evt", at, ["mon_1", "ver_2"]));
    expect(deterministicId("evt", at, ["a", "bc"])).not.toBe(deterministicId("evt", at, ["ab", "c"]));
  });

  test("are recognized by their prefix and form", () => {
    expect(isId("ent", newId("ent"))).toBe(true);
    expect(isId("ent", newId("ver"))).toBe(false);
    expect(isId("ent", "ent_8zzzzzzzzzzzzzzzzzzzzzzzzz")).toBe(false);
    expect(isId("ent", "ent_'; drop")).toBe(false);
  });
});
