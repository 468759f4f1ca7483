import { describe, expect, test } from "@jest/globals";
import { filePartsOf } from "../../../services/verification/src/providers/sam-gov/file-parts.ts";
import { judge } from "../../../services/verification/src/providers/sam-gov/judge.ts";
import { indexOfUei, ueiOf } from "../registry/identifiers.ts";
import { DAY_MS, dayAt, dayOfText, newestCut, textOf } from "./calendar.ts";
import { filesOf, listedExpiration, loadedAt } from "./files.ts";
import { createPopulation } from "./population.ts";

const START = dayOfText("2030-10-04");
const VENDORS = 40_000;
const population = createPopulation({ seed: 1, vendors: VENDORS, absent: 1_000, startDay: START });
const everyVendor = Array.from({ length: VENDORS }, (_, vendor) => vendor);
const shareOf = (holds: (vendor: number) => boolean) => everyVendor.filter(holds).length / VENDORS;
const at = (day: number, hour: number) => day * DAY_MS + hour * 3_600_000;

describe("the vendors of the simulated month", () => {
  test("are lapsed in about one case of a hundred, on the first day and on the last", () => {
    for (const day of [START, START + 29]) {
      const lapsed = shareOf((vendor) => population.expirationAt(vendor, at(day, 0)) < day);
      expect(lapsed).toBeGreaterThan(0.008);
      expect(lapsed).toBeLessThan(0.015);
    }
  });

  test("expire evenly over the year", () => {
    const within = (from: number, days: number) =>
      shareOf((vendor) => {
        const expires = population.expirationAt(vendor, at(START, 0)) - START;
        return expires >= from && expires < from + days;
      });
    for (const from of [65, 200, 250]) expect(within(from, 50)).toBeCloseTo(50 / 365, 1);
    // Most of those that are due within two months have renewed already.
    expect(within(0, 60)).toBeLessThan(0.12);
  });

  test("are excluded in about one case of a thousand", () => {
    expect(shareOf((vendor) => population.isExcludedAt(vendor, at(START, 0)))).toBeCloseTo(0.001, 3);
  });
});

test.each([
  ["before the extract of its day is loaded", "2030-10-06", 13, "2030-09-01", "2030-10-06"],
  ["after it", "2030-10-06", 14, "2030-10-06", "2030-10-06"],
  ["before the day's exclusions file is loaded", "2030-10-07", 9, "2030-10-06", "2030-10-06"],
])("%s, the newest files are those", (_name, day, hour, extract, exclusions) => {
  const loaded = loadedAt(at(dayOfText(day), hour));
  expect([loaded.extractCut, loaded.exclusionsCut].map(textOf)).toEqual([extract, exclusions]);
});

test("an extract is cut on the first Sunday of each month", () => {
  const cuts = ["2030-10-05", "2030-10-06", "2030-11-02", "2030-11-03"].map((day) => textOf(newestCut(dayOfText(day))));
  expect(cuts).toEqual(["2030-09-01", "2030-10-06", "2030-10-06", "2030-11-03"]);
});

describe("the product's rules read the files as the vendors are", () => {
  const moment = at(START + 10, 12);
  const loaded = loadedAt(moment);
  const verdictOf = (vendor: number) => {
    const now = new Date(moment);
    try {
      return judge(filePartsOf(filesOf(population, vendor, loaded, moment), now).parts, { now, hasApi: true });
    } catch {
      return undefined;
    }
  };

  test("a vendor passes exactly where its extract shows it unexpired and no exclusions file names it", () => {
    for (const vendor of everyVendor.slice(0, 5_000)) {
      const listed = listedExpiration(population, vendor, loaded.extractCut);
      const excluded = population.isExcludedAt(vendor, loaded.exclusionsCut * DAY_MS);
      const expected = listed !== undefined && listed >= dayAt(moment) && !excluded;
      expect(verdictOf(vendor)?.outcome === "pass").toBe(expected);
    }
  });

  test("an excluded vendor fails, and passes again after the exclusion ended", () => {
    const ended = everyVendor.filter((vendor) => {
      const end = population.exclusions.get(vendor)?.until ?? Number.POSITIVE_INFINITY;
      return end < loaded.exclusionsCut * DAY_MS && end > loaded.extractCut * DAY_MS;
    });
    const excluded = everyVendor.filter((vendor) => population.isExcludedAt(vendor, loaded.exclusionsCut * DAY_MS));
    expect(excluded.map((vendor) => verdictOf(vendor)?.reason)).toEqual(excluded.map(() => "excluded"));
    expect(ended.map((vendor) => verdictOf(vendor)?.reason)).not.toContain("excluded");
  });
});

test("a UEI leads back to its row", () => {
  for (const index of [0, 1, 32, 33, 899_999, 904_999]) expect(indexOfUei(7, ueiOf(7, index))).toBe(index);
});
