import { describe, expect, test } from "@jest/globals";
import type { Check, CheckStatus } from "@vvs/checks";
import type { ListedVendorDocument } from "../model/listed-vendor.ts";
import {
  isAboutOther,
  NEVER,
  nameKeyOf,
  newVendor,
  noteArchived,
  noteMonitors,
  noteVerification,
  UNKNOWN_EXPIRY,
  type VendorChange,
  type VerifiedVendor,
  withTaken,
} from "./listed-vendor.ts";

const unverified = newVendor({ organizationId: "org_1" }, "ent_1", "Acme");
const day = (number: number) => new Date(Date.UTC(2026, 0, number));

function verified(
  at: number,
  status: CheckStatus,
  {
    facts = {},
    reason = "",
    check = "sam_registration" as Check,
    id = `ver_${at}`,
    tin = undefined as string | undefined,
  } = {},
): VerifiedVendor {
  return { verificationId: id, at: day(at), tin, results: [{ check, status, reason, facts, madeAt: day(at) }] };
}
/** A TIN match of `asked`, after which the vendor's TIN is `tin`. */
const tinMatch = (
  at: number,
  status: CheckStatus,
  { asked = "****6780", tin = "****6780" as string | undefined, name = "Acme Inc", reason = "" } = {},
) => verified(at, status, { check: "tin_match", facts: status === "error" ? {} : { tin: asked, name }, reason, tin });
/** One of a TIN with this fingerprint, after which the vendor's has the fingerprint `own`: all end in the same digits. */
const likeMatch = (at: number, status: CheckStatus, { asked = "one", own = "one" }) => ({
  ...tinMatch(at, status),
  tinFingerprint: own,
  results: tinMatch(at, status).results.map((result) => ({ ...result, tinFingerprint: asked })),
});
const passUntil = (at: number, end: string) =>
  verified(at, "pass", { facts: { registration_status: "active", expiration_date: end } });
const excluded = (at: number) =>
  verified(at, "fail", { reason: "excluded", facts: { registration_status: "debarred", expiration_date: "" } });
const error = (at: number) => verified(at, "error", { reason: "providers_failed" });
/** Returns a vendor after changes. */
const after = (changes: readonly VendorChange[], vendor = unverified): ListedVendorDocument =>
  changes.reduce((before, change) => change(before), vendor);
const all = (...verifications: VerifiedVendor[]) => after(verifications.map((each) => noteVerification(each, "")));

/** Returns all orders of some items. */
function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) => ordersOf(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

describe("a vendor after its verifications", () => {
  test("is the same in any order of their records, and also if each comes twice", () => {
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

  test("of an own entity and one of a registry entity that it takes over are one as if all had been the own one's", () => {
    const some = [
      passUntil(1, "2026-05-01"),
      excluded(2),
      error(3),
      tinMatch(4, "fail"),
      tinMatch(5, "pass"),
      verified(6, "error", { check: "tin_match", tin: "****6780" }),
    ];
    for (let own = 0; own < 1 << some.length; own++) {
      const isOwn = (_: unknown, index: number) => (own & (1 << index)) !== 0;
      const taken = some.filter((each, index) => !isOwn(each, index));
      expect(withTaken(all(...some.filter(isOwn)), all(...taken))).toEqual(all(...some));
    }
  });

  test("keeps which TIN and name a TIN match was about, and nothing of the kind for other checks", () => {
    const facts = { tin: "****2220", name: "ACME INC" };
    const { checks } = all(verified(1, "pass", { check: "tin_match", facts }), verified(2, "pass", { facts }));
    expect(checks.tin_match).toMatchObject({ newest: facts, answered: facts });
    expect(checks.sam_registration!.newest).not.toHaveProperty("tin");
    const { checks: unsaid } = all(verified(1, "pass", { check: "tin_match" }));
    expect(unsaid.tin_match!.newest).not.toHaveProperty("tin");
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

  test("shows the match of another TIN only while its own TIN has none, in any order of arrival", () => {
    const [own, other] = [tinMatch(1, "pass"), tinMatch(2, "fail", { asked: "****2222" })];
    for (const order of ordersOf([own, other, tinMatch(3, "fail", { asked: "****3333" })])) {
      const { checks, checked_at } = all(...order, ...order);
      expect(checks.tin_match).toMatchObject({ newest: { tin: "****6780" }, answered: { tin: "****6780" } });
      expect(checked_at).toEqual(day(3));
    }
    const vendor = all(other);
    expect(vendor.checks.tin_match!.answered).toMatchObject({ tin: "****2222", status: "fail" });
    expect(isAboutOther(vendor, vendor.checks.tin_match!.answered!)).toBe(true);
    // Another TIN that matches is the vendor's from then on.
    const replaced = all(own, tinMatch(2, "pass", { asked: "****2220", tin: "****2220" }));
    expect(replaced.checks.tin_match!.answered).toMatchObject({ tin: "****2220" });
  });

  test("shows no match of another TIN with the same last four digits as its own, in any order of arrival", () => {
    const [own, other] = [likeMatch(1, "pass", {}), likeMatch(2, "fail", { asked: "other" })];
    for (const order of ordersOf([own, other])) {
      const vendor = all(...order, ...order);
      expect(vendor.checks.tin_match).toMatchObject({ newest: { status: "pass" }, answered: { status: "pass" } });
      expect(isAboutOther(vendor, vendor.checks.tin_match!.answered!)).toBe(false);
    }
    const replaced = all(own, likeMatch(3, "error", { asked: "other", own: "other" }));
    expect(isAboutOther(replaced, replaced.checks.tin_match!.answered!)).toBe(true);
  });

  test("has only masked TINs compared where a fingerprint is not known", () => {
    const own = likeMatch(1, "pass", {});
    const unknown = [likeMatch(2, "pass", { asked: "" }), likeMatch(2, "error", { own: "" })];
    for (const vendor of unknown.map((each) => all(own, each))) {
      expect(isAboutOther(vendor, vendor.checks.tin_match!.answered!)).toBe(false);
    }
    const replaced = all(own, { ...likeMatch(2, "error", { own: "" }), tin: "****2222" });
    expect(isAboutOther(replaced, replaced.checks.tin_match!.answered!)).toBe(true);
  });

  test("has no expiration date once the last answer has none", () => {
    const vendor = all(passUntil(1, "2026-05-01"), verified(2, "fail", { reason: "not_found" }));
    expect(vendor.expires_on).toBe(UNKNOWN_EXPIRY);
  });
});

describe("the filters that find a vendor", () => {
  const noted = (...verifications: VerifiedVendor[]) => verifications.map((each) => noteVerification(each, ""));
  const named = (...verifications: VerifiedVendor[]) => verifications.map((each) => noteVerification(each, "Acme Inc"));
  const archived = noteArchived({ at: day(1), by: "usr_1" });
  test.each<[string, VendorChange[], string[]]>([
    ["never verified", [], ["all", "unmonitored"]],
    ["monitored", [noteMonitors(2)], ["all", "monitored"]],
    ["no longer monitored", [noteMonitors(2), noteMonitors(0)], ["all", "unmonitored"]],
    ["passed", noted(passUntil(1, "2026-05-01")), ["all", "unmonitored"]],
    ["excluded", noted(excluded(1)), ["all", "excluded", "failed", "unmonitored"]],
    ["an error only", noted(error(1)), ["all", "error", "unmonitored"]],
    ["failed, then an error", noted(verified(1, "fail"), error(2)), ["all", "error", "failed", "unmonitored"]],
    ["failed, then passed", noted(verified(1, "fail"), verified(2, "pass")), ["all", "unmonitored"]],
    [
      "one check passed, the other failed",
      noted(verified(1, "fail", { check: "tin_match" }), verified(2, "pass")),
      ["all", "failed", "unmonitored"],
    ],
    ["failed with its own TIN", noted(tinMatch(1, "fail")), ["all", "failed", "unmonitored"]],
    ["failed with another TIN", noted(tinMatch(1, "fail", { asked: "****2222" })), ["all", "unmonitored"]],
    [
      "failed with a TIN that it no longer has",
      noted(tinMatch(1, "fail"), tinMatch(2, "error", { tin: "****2222" })),
      ["all", "error", "unmonitored"],
    ],
    [
      "failed with a TIN that another one with the same last four digits replaced",
      noted(likeMatch(1, "fail", {}), likeMatch(2, "error", { own: "other" })),
      ["all", "error", "unmonitored"],
    ],
    ["failed, its TIN not known", noted(tinMatch(1, "fail", { tin: undefined })), ["all", "failed", "unmonitored"]],
    ["failed with its own name", named(tinMatch(1, "fail", { name: "ACME, INC." })), ["all", "failed", "unmonitored"]],
    ["failed with another name", named(tinMatch(1, "fail", { name: "Other LLC" })), ["all", "unmonitored"]],
    [
      "not issued, with another name",
      named(tinMatch(1, "fail", { name: "Other LLC", reason: "not_issued" })),
      ["all", "failed", "unmonitored"],
    ],
    ["archived", [...noted(excluded(1)), noteMonitors(1), archived], ["archived"]],
    ["taken back", [archived, noteArchived(undefined)], ["all", "unmonitored"]],
  ])("%s", (_name, changes, expected) => {
    const vendor = after(changes);
    expect([...vendor.lists].sort()).toEqual(expected);
    const hasFailed = Object.values(vendor.checks).some(
      ({ answered }) => answered?.status === "fail" && !isAboutOther(vendor, answered),
    );
    if (!vendor.archived) expect(vendor.lists.includes("failed")).toBe(hasFailed);
  });

  test("a vendor that is archived twice stays archived by the first", () => {
    const again = noteArchived({ at: day(2), by: "usr_2" });
    expect(after([archived, again]).archived).toEqual({ at: day(1), by: "usr_1" });
  });

  test("a vendor that was never verified counts as the longest unverified", () => {
    expect(unverified.checked_at).toEqual(NEVER);
  });
});

test("a name that begins with a dollar sign is a name; without one the name stays", () => {
  const named = after([noteVerification(verified(1, "pass"), "$Acme"), noteVerification(verified(2, "pass"), "")]);
  expect(named.name_key).toBe("$acme");
});

test("names are ordered without case, by a bounded prefix that splits no character", () => {
  expect(nameKeyOf("ÉCLAIR Foods LLC")).toBe("éclair foods llc");
  expect(nameKeyOf("😀".repeat(200))).toBe("😀".repeat(100));
});
