import { describe, expect, test } from "@jest/globals";
import { isExcluded, verdictOf } from "@vvs/registration";
import {
  entityRow,
  exclusionRow,
  type PlayedExclusion,
  type PlayedRegistration,
} from "../../../../../test/outside/sam-gov-rows.ts";
import { exclusionsPart, flaggedPart, readExclusionPage } from "./exclusion.ts";
import { chooseRegistration, readEntityPage, readRegistration, registrationPart } from "./registration.ts";

const TODAY = "2026-11-21";
const NOW = new Date("2026-11-21T09:30:00Z");
const UEI = "PLAYEDUEI001";

const registrations = (...rows: Omit<PlayedRegistration, "uei">[]) =>
  readEntityPage({
    totalRecords: rows.length,
    entityData: rows.map((row) => entityRow({ uei: UEI, ...row })),
  }).rows.map(readRegistration);
const exclusions = (...rows: Partial<PlayedExclusion>[]) =>
  readExclusionPage({
    totalRecords: rows.length,
    excludedEntity: rows.map((row) => exclusionRow({ uei: UEI, ...row })),
  }).rows;
const partOf = (rows: ReturnType<typeof exclusions>) => exclusionsPart({ rows, receivedAt: NOW }, undefined);

describe("what SAM.gov's answers mean, in this order", () => {
  const active = { status: "Active", expirationDate: "2027-03-01" };
  const past = { expirationDate: "2026-11-20" };
  const idOnly = { samRegistered: "No", status: "Active", cage: "null" } as const;
  const over = { terminationDate: "11-20-2026" };
  test.each<[string, Omit<PlayedRegistration, "uei">[], Partial<PlayedExclusion>[], string]>([
    ["flagged as excluded", [{ ...active, exclusionFlag: "Y" }], [], "fail excluded debarred"],
    ["flagged as older versions do", [{ ...active, exclusionFlag: "D" }], [], "fail excluded debarred"],
    [
      "flagged on one of its accounts",
      [active, { eftIndicator: "0001", exclusionFlag: "Y" }],
      [],
      "fail excluded debarred",
    ],
    ["an indefinite exclusion", [active], [{}], "fail excluded debarred"],
    ["an exclusion with a day to go", [active], [{ terminationDate: "11-22-2026" }], "fail excluded debarred"],
    ["an exclusion on its last day", [active], [{ terminationDate: "11-21-2026" }], "fail excluded debarred"],
    ["an exclusion that was over yesterday", [active], [over], "pass active"],
    ["one over, one in force", [active], [over, {}], "fail excluded debarred"],
    ["an exclusion before an expiration", [past], [{}], "fail excluded debarred"],
    ["an exclusion before a missing registration", [idOnly], [{}], "fail excluded debarred"],
    ["an exclusion of a vendor that is otherwise unknown", [], [{}], "fail excluded debarred"],
    ["an id without a registration that says Active", [idOnly], [], "fail not_registered inactive"],
    ["active, expiring later", [active], [], "pass active"],
    ["active, expiring today", [{ ...active, expirationDate: TODAY }], [], "pass active"],
    ["status active, date past", [{ status: "Active", ...past }], [], "fail expired expired"],
    ["status inactive, date past", [{ status: "Inactive", ...past }], [], "fail expired expired"],
    ["any status, date past", [{ status: "Submitted", ...past }], [], "fail expired expired"],
    ["inactive with time left", [{ ...active, status: "Inactive" }], [], "fail inactive inactive"],
    ["status expired, date to come", [{ ...active, status: "Expired" }], [], "fail inactive inactive"],
    ["active without a date", [{ status: "Active", expirationDate: null }], [], "fail inactive inactive"],
    ["no record of either kind", [], [], "fail not_found"],
  ])("%s", (_name, rows, excluded, expected) => {
    const registration = chooseRegistration(registrations(...rows));
    const parts = {
      registration: registrationPart(registration, NOW),
      exclusions: registration?.isFlagged ? flaggedPart(NOW) : partOf(exclusions(...excluded)),
    };
    const verdict = verdictOf(parts, TODAY)!;
    expect([verdict.outcome, verdict.reason, verdict.status].filter(Boolean).join(" ")).toBe(expected);
  });
});

describe("of several rows of one UEI", () => {
  test.each<[string, Omit<PlayedRegistration, "uei">[], string]>([
    [
      "the one without an EFT indicator is chosen",
      [{ eftIndicator: "0001", cage: "AAAA1" }, { cage: "BBBB2" }],
      "BBBB2",
    ],
    [
      "even if it is inactive",
      [
        { eftIndicator: "0001", cage: "AAAA1" },
        { cage: "BBBB2", status: "Inactive" },
      ],
      "BBBB2",
    ],
    [
      "a blank or the word null is not an indicator",
      [
        { eftIndicator: "7", cage: "AAAA1" },
        { eftIndicator: " null ", cage: "BBBB2" },
      ],
      "BBBB2",
    ],
    ["then an active one", [{ status: "Inactive", cage: "AAAA1" }, { cage: "BBBB2" }], "BBBB2"],
    [
      "then the one that expires last",
      [
        { cage: "AAAA1", expirationDate: "2027-01-01" },
        { cage: "BBBB2", expirationDate: "2027-05-01" },
      ],
      "BBBB2",
    ],
  ])("%s", (_name, rows, cage) => {
    expect(chooseRegistration(registrations(...rows))?.listed.cage).toBe(cage);
    expect(chooseRegistration(registrations(...rows.toReversed()))?.listed.cage).toBe(cage);
  });
});

describe("a registration's facts", () => {
  test("the word null, blanks and null are all absent", () => {
    const [read] = registrations({ cage: "null", structureCode: null, structureDesc: " ", expirationDate: "null" });
    expect(read?.listed).toMatchObject({ cage: "", entity_type: "", expiration_date: "" });
  });

  test.each([
    ["2L", "Corporate Entity Not Tax Exempt", "Corporate Entity (Not Tax Exempt)"],
    ["cy", null, "Country - Foreign Government"],
    ["9X", "A Structure Of Tomorrow", "A Structure Of Tomorrow"],
  ])("the structure %s is worded as the extract words it", (structureCode, structureDesc, expected) => {
    expect(registrations({ structureCode, structureDesc })[0]?.listed.entity_type).toBe(expected);
  });

  test("members that are not needed may be missing or malformed", () => {
    const row = entityRow({ uei: UEI });
    const odd = { ...row, coreData: "none", assertions: 7 };
    const { listed } = readRegistration({ uei: UEI, cage: "", raw: odd });
    expect(listed).toMatchObject({ listed_as: "active", entity_type: "" });
  });
});

describe("a body of an unexpected shape is refused", () => {
  test.each<[string, unknown]>([
    ["null", null],
    ["a list", []],
    ["an error", { status: 500, message: "oops" }],
    ["no count", { entityData: [] }],
    ["no data", { totalRecords: 0 }],
    ["a text for a count", { totalRecords: "0", entityData: [] }],
    ["an element of another shape", { totalRecords: 1, entityData: [{ name: "x" }] }],
    ["no UEI", { totalRecords: 1, entityData: [{ entityRegistration: { ueiSAM: "null" } }] }],
  ])("%s", (_name, body) => {
    expect(() => readEntityPage(body)).toThrow(expect.objectContaining({ reason: "wrong_shape" }) as unknown as Error);
  });

  test.each<[string, Record<string, unknown>]>([
    ["no samRegistered", { samRegistered: null }],
    ["another value of samRegistered", { samRegistered: "Maybe" }],
    ["no status", { registrationStatus: null }],
    ["no name", { legalBusinessName: "null" }],
    ["a date of another form", { registrationExpirationDate: "02-11-2027" }],
    ["a day that does not exist", { registrationExpirationDate: "2027-02-30" }],
    ["another value of the flag", { exclusionStatusFlag: "maybe" }],
  ])("a registration with %s", (_name, change) => {
    const { entityRegistration } = entityRow({ uei: UEI }) as { entityRegistration: object };
    const raw = { entityRegistration: { ...entityRegistration, ...change } };
    expect(() => readRegistration({ uei: UEI, cage: "", raw })).toThrow(
      expect.objectContaining({ reason: "wrong_shape" }) as unknown as Error,
    );
  });

  test.each<[string, (row: Record<string, unknown>) => unknown]>([
    ["no actions", (row) => ({ ...row, exclusionActions: { listOfActions: [] } })],
    ["no identity", ({ exclusionIdentification: _, ...row }) => row],
    [
      "a date that does not exist",
      (row) => ({ ...row, exclusionActions: { listOfActions: [{ terminationDate: "13-45-2027" }] } }),
    ],
  ])("an exclusion with %s", (_name, change) => {
    const body = { totalRecords: 1, excludedEntity: [change(exclusionRow({ uei: UEI }))] };
    expect(() => readExclusionPage(body)).toThrow(
      expect.objectContaining({ reason: "wrong_shape" }) as unknown as Error,
    );
  });
});

describe("an exclusion is in force", () => {
  test.each<[string, Partial<PlayedExclusion>, boolean]>([
    ["when it is indefinite", { terminationType: "Indefinite" }, true],
    ["when it has no end", { terminationType: "Definite" }, true],
    ["until its last day", { terminationDate: "11-21-2026" }, true],
    ["not after it", { terminationDate: "11-20-2026" }, false],
    ["by year before month, unlike the order of the text", { terminationDate: "01-05-2027" }, true],
    ["not by a month that is later in an earlier year", { terminationDate: "12-31-2025" }, false],
    ["not before its first day", { activateDate: "11-22-2026" }, false],
    ["not when its record is inactive", { recordStatus: "Inactive" }, false],
  ])("%s", (_name, played, expected) => {
    expect(isExcluded(partOf(exclusions(played)), TODAY)).toBe(expected);
  });

  test("for a vendor that it names as a further location", () => {
    const [row] = exclusions({ uei: "OTHERUEI0001", moreLocations: [UEI] });
    expect(row?.ueis).toEqual(["OTHERUEI0001", UEI]);
  });
});
