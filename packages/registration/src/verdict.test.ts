import { describe, expect, test } from "@jest/globals";
import type { RegistrationPart } from "./parts.ts";
import { dayOf } from "./parts.ts";
import { verdictOf } from "./verdict.ts";

const registration = (date: string, expiration_date: string): RegistrationPart => ({
  ...{ origin: "sam_gov_extract", load: "registry:1", date: new Date(`${date}T00:00:00Z`), listed_as: "active" },
  ...{ id_only: false, expiration_date, legal_name: "", cage: "", entity_type: "" },
});

describe("a registration counts until the end of its expiration date, by UTC", () => {
  test.each([
    ["at the end of a month", "2026-11-30", "2026-12-01"],
    ["at the end of a year", "2026-12-31", "2027-01-01"],
    ["at the end of February", "2027-02-28", "2027-03-01"],
    ["before a leap day", "2028-02-28", "2028-02-29"],
    ["on a leap day", "2028-02-29", "2028-03-01"],
    ["where clocks are set forward in Washington", "2027-03-14", "2027-03-15"],
    ["where clocks are set back in Washington", "2026-11-01", "2026-11-02"],
  ])("%s", (_name, lastDay, nextDay) => {
    const known = { registration: registration("2026-09-06", lastDay) };
    const at = (moment: string) => verdictOf(known, dayOf(new Date(moment)));
    expect(at(`${lastDay}T00:00:00.000Z`)?.outcome).toBe("pass");
    expect(at(`${lastDay}T23:59:59.999Z`)?.outcome).toBe("pass");
    // A part from before that day can't know whether it was renewed; one from after it can.
    expect(at(`${nextDay}T00:00:00.000Z`)).toBeUndefined();
    expect(verdictOf({ registration: registration(nextDay, lastDay) }, nextDay)).toMatchObject({ reason: "expired" });
  });
});
