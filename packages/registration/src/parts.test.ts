import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { RegistrationPartsSchema } from "@vvs/proto/events/v1/events";
import { partsFromMessage, partsToMessage } from "./messages.ts";
import { isTrusted, newestParts, type Parts } from "./parts.ts";

const source = (date: string, load = "") => ({ origin: "sam_gov_api", date: new Date(date), load });
const texts = { expiration_date: "2027-03-01", legal_name: "ACME LLC", cage: "1AB23", entity_type: "Other" };
const exclusion = { program: "Reciprocal", type: "Ineligible", agency: "GSA", active_date: "2026-11-01" };
const parts = (date: string): Required<Parts> => ({
  registration: { ...source(date), listed_as: "active", id_only: true, ...texts },
  exclusions: {
    ...source(date, "exclusions:1"),
    flagged: true,
    exclusions: [
      { ...exclusion, termination_date: "indefinite" },
      { ...exclusion, termination_date: "2027-01-31", effect: "facility", comment: "THIS FACILITY ONLY" },
    ],
  },
});
const [OLD, NEW] = [parts("2026-11-01T10:00:00Z"), parts("2026-11-02T10:00:00Z")];

describe("the newest parts", () => {
  test.each<[string, Parts, Parts, Parts]>([
    ["are the received ones, if newer", OLD, NEW, NEW],
    ["are the known ones, if newer", NEW, OLD, NEW],
    ["are the received ones, if equally new", parts("2026-11-01T10:00:00Z"), OLD, OLD],
    ["are chosen separately", { ...OLD, exclusions: NEW.exclusions }, { ...NEW, exclusions: OLD.exclusions }, NEW],
    [
      "are the only ones known",
      { registration: OLD.registration },
      { exclusions: NEW.exclusions },
      { ...NEW, ...{ registration: OLD.registration } },
    ],
    ["are none if there are none", {}, {}, {}],
  ])("%s", (_name, known, received, expected) => {
    const newest = newestParts(known, received);
    expect([newest.registration, newest.exclusions]).toEqual([expected.registration, expected.exclusions]);
    if (received.registration && expected.registration === received.registration)
      expect(newest.registration).toBe(received.registration);
  });
});

describe("a part is trusted", () => {
  const options = { now: new Date("2026-11-22T23:00:00Z"), withdrawnLoads: ["registry:bad"] };
  test.each([
    ["with today's date", source("2026-11-22T00:00:00Z"), true],
    ["with tomorrow's date", source("2026-11-23T00:00:00Z", "registry:1"), true],
    ["not with a later date", source("2026-11-24T00:00:00Z", "registry:1"), false],
    ["not from a withdrawn load", source("2026-11-01T00:00:00Z", "registry:bad"), false],
  ])("%s", (_name, part, expected) => {
    expect(isTrusted(part, options)).toBe(expected);
  });
});

describe("in a record", () => {
  const record = (value: Parts) => create(RegistrationPartsSchema, partsToMessage(value, ["registry:bad"]));

  test.each([
    ["both", NEW],
    ["the registration only", { registration: NEW.registration }],
    ["exclusions only", { exclusions: NEW.exclusions }],
  ])("parts are read as they were written: %s", (_name, value) => {
    expect(partsFromMessage(record(value))).toEqual(value);
    expect(record(value).withdrawnLoads).toEqual(["registry:bad"]);
  });

  test("a part without a date, or with an unknown status, is refused", () => {
    const undated = record(NEW);
    undated.exclusions!.source!.date = undefined;
    const unknown = record(NEW);
    unknown.registration!.listedAs = "suspended";
    for (const impossible of [undated, unknown]) expect(() => partsFromMessage(impossible)).toThrow(TypeError);
  });
});
