import { expect, test } from "@jest/globals";
import { isNoIdentifier } from "./none.ts";

test.each([
  "",
  " ",
  "-",
  "N/A",
  "n.a.",
  "#N/A",
  "(none)",
  "NONE",
  "null",
  "Unknown",
  "Not Applicable",
  "NOT-APPLICABLE",
  "N0TAPPLICABL",
  "NOTAVAILABLE",
  "N0TAVA1LABLE",
  "Pending",
  "UNASSIGNED",
  "0",
  "00000",
  "00-0000000",
  "０００００",
  "ｎ／ａ",
])("%j says that there is no identifier", (text) => {
  expect(isNoIdentifier(text)).toBe(true);
});

test.each(["SANDBXACTVE1", "1ABC2", "150483782", "000000001", "0NA00", "NULL1", "10000", "NONE5", "n/a 1ABC2"])(
  "%j is an identifier",
  (text) => {
    expect(isNoIdentifier(text)).toBe(false);
  },
);
