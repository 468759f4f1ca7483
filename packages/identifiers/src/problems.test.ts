import { expect, test } from "@jest/globals";
import { type IdentifierType, normalizeIdentifier } from "./index.ts";
import { identifierProblem } from "./problems.ts";

test.each<[IdentifierType, string, string | undefined]>([
  ["uei", "SANDBXACTVE1", undefined],
  ["uei", "UE9QJD4KKIL6", undefined],
  ["uei", "N0TAPPLICABL", "must be 12 letters and digits: leave it out if there is none"],
  ["uei", "UE9QJD4KK1L", "must be 12 letters and digits"],
  ["cage", "0", "must be 5 letters and digits: leave it out if there is none"],
  ["cage", "4321", "must be 5 letters and digits: a spreadsheet may have dropped leading zeros"],
  ["duns", "12345678", "must be 9 digits: a spreadsheet may have dropped leading zeros"],
  ["duns", "123456789", undefined],
  ["tin", "1234567", "must be 9 digits: a spreadsheet may have dropped leading zeros"],
  ["tin", "12-345678", "must be 9 digits: a spreadsheet may have dropped leading zeros"],
  ["tin", "123456", "must be 9 digits"],
  ["tin", "1234567890", "must be 9 digits"],
  ["tin", "12345678X", "must be 9 digits"],
  ["tin", "00-0000000", "must be 9 digits: leave it out if there is none"],
  ["tin", "99-9999999", "must be a real TIN: this one is a placeholder"],
  ["tin", "111-11-1111", "must be a real TIN: this one is a placeholder"],
  ["tin", "12-3456789", "must be a real TIN: this one is a placeholder"],
  ["tin", "987-65-4321", "must be a real TIN: this one is a placeholder"],
  ["tin", "12-3456780", undefined],
  ["tin", "11-1111112", undefined],
])("%s %j %s", (type, written, problem) => {
  expect(identifierProblem(type, normalizeIdentifier(written))).toBe(problem);
});
