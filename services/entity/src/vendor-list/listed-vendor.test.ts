import { describe, expect, test } from "@jest/globals";
import type { Check, CheckStatus } from "@vvs/checks";
import {
  afterVerification,
  type ListedVendorDocument,
  NEVER,
  nameKeyOf,
  newVendor,
  UNKNOWN_EXPIRY,
  type VerifiedVendor,
  withLists,
} from "./listed-vendor.ts";

const tenant = { organizationId: "org_1" };
const unverified = newVendor(tenant, "ent_1");
const day = (number: number) => new Date(Date.UTC(2026, 0, number));

function verified(
  at: number,
  status: CheckStatus,
  { facts = {}, reason = "", check = "sam_registration" as Check, id = `ver_${at}` } = {},
): VerifiedVendor {
  return { verificationId: id, at: day(at), results: [{ check, status, reason, facts }] };
}
const passUntil = (at: number, end: string) =>
  verified(at, "pass", { facts: { registration_status: "active", expiration_date: end } });
const excluded = (at: number) =>
  verified(at, "fail", { reason: "excluded", facts: { registration_status: "debarred", expiration_date: "" } });
const error = (at: number) => verified(at, "error", { reason: "providers_failed" });
const all = (...verifications: VerifiedVendor[]) => verifications.reduce(afterVerification, unverified);

/** Returns all orders of some items. */
function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) => ordersOf(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

describe("a vendor after its verifications", () => {
  test("is the same in whatever order their records come, and if each comes twice", () => {
    const some = [
      passUntil(1, "2026-05-01"),
      excluded(2),
      passUntil(3, "2027-05-01"),
      error(4),
      verified(2, "fail", { check: "tin_match", reason: "no_match", id: "ver_2b" }),
    ];
    const inOrder = all(...some);
    expect(inOrder).toMatchObject({ expires_on: "2027-05-01", excluded: false, checked_at: day(4) });
    for (const order of ordersOf(some)) expect(all(...order, ...order)).toEqual(inOrder);
  });

  test("keeps which TIN and name a TIN match was about, and nothing of the kind for other checks", () => {
    const facts = { tin: "****2220", name: "ACME INC" };
    const { checks } = all(verified(1, "pass", { check: "tin_match", facts }), verified(2, "pass", { facts }));
    expect(checks.tin_match).toMatchObject({ newest: facts, answered: facts });
    expect(checks.sam_registration!.newest).not.toHaveProperty("tin");
    expect(all(verified(1, "pass", { check: "tin_match" })).checks.tin_match!.newest).not.toHaveProperty("tin");
  });

  test("of two that were stored at the same moment, the one with the higher id counts, in either order", () => {
    const [lower, higher] = [verified(1, "pass", { id: "ver_a" }), verified(1, "fail", { id: "ver_b" })];
    for (const vendor of [all(lower, higher), all(higher, lower)]) {
      expect(vendor.checks.sam_registration!.newest.verification_id).toBe("ver_b");
    }
  });

  test("keeps the last answer, its expiration date and its exclusion while newer results are errors", () => {
    const vendor = all(excluded(1), error(2), error(3));
    expect(vendor.checks.sam_registration).toMatchObject({
      newest: { status: "error", reason: "providers_failed", at: day(3) },
      answered: { status: "fail", reason: "excluded", at: day(1) },
    });
    expect(vendor.excluded).toBe(true);
  });

  test("has no expiration date once the last answer has none", () => {
    expect(all(passUntil(1, "2026-05-01"), verified(2, "fail", { reason: "not_found" })).expires_on).toBe(
      UNKNOWN_EXPIRY,
    );
  });
});

describe("the filters that find a vendor", () => {
  const of = (vendor: ListedVendorDocument) => [...withLists(vendor).lists].sort();
  const archived = { at: day(1), by: "usr_1" };
  test.each<[string, ListedVendorDocument, string[]]>([
    ["never verified", unverified, ["all", "unmonitored"]],
    ["monitored", { ...unverified, monitors: 2 }, ["all", "monitored"]],
    ["passed", all(passUntil(1, "2026-05-01")), ["all", "unmonitored"]],
    ["excluded", all(excluded(1)), ["all", "excluded", "failed", "unmonitored"]],
    ["an error only", all(error(1)), ["all", "error", "unmonitored"]],
    ["failed, then an error", all(verified(1, "fail"), error(2)), ["all", "error", "failed", "unmonitored"]],
    ["failed, then passed", all(verified(1, "fail"), verified(2, "pass")), ["all", "unmonitored"]],
    [
      "one check passed, the other failed",
      all(verified(1, "fail", { check: "tin_match" }), verified(2, "pass")),
      ["all", "failed", "unmonitored"],
    ],
    ["archived", { ...all(excluded(1)), monitors: 1, archived }, ["archived"]],
  ])("%s", (_name, vendor, expected) => {
    expect(of(vendor)).toEqual(expected);
  });

  test("a vendor that was never verified counts as the longest unverified", () => {
    expect(unverified.checked_at).toEqual(NEVER);
  });
});

test("names are ordered without case, by a bounded prefix that splits no character", () => {
  expect(nameKeyOf("ÉCLAIR Foods LLC")).toBe("éclair foods llc");
  expect(nameKeyOf("😀".repeat(200))).toBe("😀".repeat(100));
});
