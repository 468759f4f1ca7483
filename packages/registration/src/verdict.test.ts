import { describe, expect, test } from "@jest/globals";
import { addDays, registryDay, startOfRegistryDay } from "./days.ts";
import type { RegistrationPart } from "./parts.ts";
import { verdictOf } from "./verdict.ts";

const texts = { legal_name: "", cage: "", entity_type: "" };
const fromFile = (cutDate: string, expiration_date: string): RegistrationPart => ({
  ...{ origin: "sam_gov_extract", load: "registry:1", date: new Date(`${cutDate}T00:00:00Z`), listed_as: "active" },
  ...{ id_only: false, expiration_date, ...texts },
});
const fromApi = (date: Date, expiration_date: string): RegistrationPart => ({
  ...{ origin: "sam_gov_api", load: "", date, listed_as: "active", id_only: false, expiration_date, ...texts },
});

describe("a registration counts until its expiration date is over in Washington", () => {
  test.each([
    ["on an ordinary day", "2026-11-24", "2026-11-25"],
    ["at the end of a month", "2026-11-30", "2026-12-01"],
    ["at the end of a year", "2026-12-31", "2027-01-01"],
    ["at the end of February", "2027-02-28", "2027-03-01"],
    ["before a leap day", "2028-02-28", "2028-02-29"],
    ["on a leap day", "2028-02-29", "2028-03-01"],
    ["where clocks are set forward", "2027-03-14", "2027-03-15"],
    ["where clocks are set back", "2026-11-01", "2026-11-02"],
  ])("%s", (_name, lastDay, nextDay) => {
    const midnight = startOfRegistryDay(nextDay).getTime();
    const [before, after] = [new Date(midnight - 1), new Date(midnight)];
    const on = (registration: RegistrationPart, moment: Date) => verdictOf({ registration }, registryDay(moment));
    for (const known of [fromFile("2026-09-06", lastDay), fromApi(before, lastDay)]) {
      for (const hour of ["00:00:00", "01:30:00", "03:59:59"]) {
        expect(on(known, new Date(`${nextDay}T${hour}Z`))?.outcome).toBe("pass");
      }
      expect(on(known, before)?.outcome).toBe("pass");
      // A part from before the end of that day can't know whether it was renewed.
      expect(on(known, after)).toBeUndefined();
    }
    // A part from after that day can. A file's cut date is a date: it does not begin in Washington's evening before.
    expect(on(fromApi(after, lastDay), after)).toMatchObject({ reason: "expired" });
    expect(on(fromFile(nextDay, lastDay), after)).toMatchObject({ reason: "expired" });
    expect(on(fromFile(lastDay, lastDay), after)).toBeUndefined();
    expect(on(fromFile(nextDay, addDays(lastDay, 1)), after)).toMatchObject({ outcome: "pass" });
  });
});
