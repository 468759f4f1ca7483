import { beforeEach, describe, expect, test } from "@jest/globals";
import { silentLogger } from "@vvs/testing";
import { createSamGovClient } from "../../../services/verification/src/providers/sam-gov/client.ts";
import { lookUpRegistrations } from "../../../services/verification/src/providers/sam-gov/look-up.ts";
import { readRegistration } from "../../../services/verification/src/providers/sam-gov/registration.ts";
import { ueiOf } from "../registry/identifiers.ts";
import { DAY_MS, dayOfText, textOf } from "./calendar.ts";
import { createPopulation } from "./population.ts";
import { createSamGov, type Outage, type SimulatedSamGov } from "./sam-gov.ts";

const START = dayOfText("2030-10-04");
const population = createPopulation({ seed: 1, vendors: 1_000, absent: 200, startDay: START });
const signal = new AbortController().signal;
const ueis = (from: number, count: number) => Array.from({ length: count }, (_, index) => ueiOf(1, from + index));
let moment: number;
let sam: SimulatedSamGov;

function start(options: { quota?: number; outages?: Outage[] } = {}) {
  const now = () => new Date(moment);
  sam = createSamGov({ population, quota: options.quota ?? 1_000, outages: options.outages ?? [], now });
  const logger = silentLogger;
  const http = { call: async (call: { url: string }) => sam.answer("runs", call) };
  return createSamGovClient({ http, baseUrl: "http://sam.gov", entityVersion: "v3", apiKey: "key", now, logger });
}
beforeEach(() => {
  moment = START * DAY_MS + 1;
});

describe("the simulated SAM.gov counts calls as the real one", () => {
  test.each([
    ["100 registered vendors", 0, 100, 10],
    ["one registered vendor", 0, 1, 1],
    // Half of the absent ones have an id.
    ["100 vendors without a registration", 1_000, 100, 1 + 5],
    ["90 with and 10 without one", 910, 100, 9 + 1],
  ])("%s cost this many calls", async (_name, from, count, calls) => {
    await lookUpRegistrations(start(), ueis(from, count), signal);
    expect(sam.callsOn(START)).toMatchObject({ runs: calls, refused: 0 });
  });

  test("beyond the quota it refuses until midnight UTC", async () => {
    const client = start({ quota: 2 });
    const ask = () => client.entities({ ueiSAM: ueis(0, 1) }, "Yes", signal);
    await ask();
    await ask();
    const shutUntil = new Date((START + 1) * DAY_MS);
    await expect(ask()).rejects.toMatchObject({ reason: "quota_exhausted", shutUntil });
    expect(sam.callsOn(START)).toMatchObject({ runs: 3, refused: 1 });
    moment += DAY_MS;
    await ask();
    expect(sam.callsOn(START + 1)).toMatchObject({ runs: 1, refused: 0 });
  });

  test.each([
    ["http_503", "http_503"],
    ["silent", "timeout"],
  ] as const)("calls in an outage count (%s)", async (kind, reason) => {
    const client = start({ outages: [{ from: moment, until: moment + 1, kind }] });
    await expect(client.entities({ ueiSAM: ueis(0, 1) }, "Yes", signal)).rejects.toMatchObject({ reason });
    expect(sam.callsOn(START)).toMatchObject({ runs: 1, unanswered: 1 });
  });
});

test("it answers with the registration of the moment", async () => {
  const client = start();
  const lapsing = Array.from({ length: 1_000 }, (_, vendor) => vendor).find(
    (vendor) => population.expirationAt(vendor, (START + 4) * DAY_MS) === START + 3,
  )!;
  const listedOn = async (day: number) => {
    moment = day * DAY_MS;
    const { rows } = await client.entities({ ueiSAM: [ueiOf(1, lapsing)] }, "Yes", signal);
    return readRegistration(rows[0]!).listed;
  };
  expect(await listedOn(START + 3)).toMatchObject({ listed_as: "active", expiration_date: textOf(START + 3) });
  expect(await listedOn(START + 4)).toMatchObject({ listed_as: "inactive", expiration_date: textOf(START + 3) });
});

test("it lists the exclusions in force", async () => {
  const client = start();
  const excluded = [...population.exclusions.keys()].filter((vendor) => population.isExcludedAt(vendor, moment));
  const { rows } = await client.exclusions({ ueiSAM: ueis(0, 1_000).slice(0, 100) }, () => false, signal);
  expect(rows.map((row) => row.ueis[0])).toEqual(
    excluded.filter((vendor) => vendor < 100).map((vendor) => ueiOf(1, vendor)),
  );
});
