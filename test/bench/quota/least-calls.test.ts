import { expect, test } from "@jest/globals";
import { dayOfText } from "./calendar.ts";
import { leastCalls, leastQuestions } from "./least-calls.ts";
import type { Population, VendorRecord } from "./population.ts";

const START = dayOfText("2030-10-04");
const OLD_CUT = dayOfText("2030-09-01");

/** A population of one vendor, with its record from each day on. */
function populationOf(
  records: readonly [fromDay: number, record: VendorRecord][],
  excludedFrom = Number.POSITIVE_INFINITY,
) {
  const recordAt = (_vendor: number, moment: number) =>
    records.findLast(([from]) => moment >= from * 86_400_000)?.[1] ?? { kind: "none" };
  return { recordAt, isExcludedAt: (_: number, moment: number) => moment >= excludedFrom } as unknown as Population;
}

const until = (expirationDay: number): VendorRecord => ({ kind: "registered", expirationDay });
const nothing: VendorRecord = { kind: "none" };

function questions(population: Population, days: number, extractCutOn = (_day: number) => OLD_CUT) {
  const asked = leastQuestions({ population, vendors: [0], startDay: START, days, extractCutOn });
  return asked.flatMap((count, day) => (count > 0 ? [day] : []));
}

const everyDay = (count: number) => Array.from({ length: count }, (_, day) => day);

test.each<[string, number[], number[]]>([
  [
    "is never asked about while the extract shows it unexpired",
    questions(populationOf([[0, until(START + 9)]]), 10),
    [],
  ],
  [
    "is asked about once after a renewal that the extract does not show",
    questions(
      populationOf([
        [0, until(START + 1)],
        [START + 2, until(START + 300)],
      ]),
      10,
    ),
    [2],
  ],
  [
    "that renews days after its expiration is asked about daily until then",
    questions(
      populationOf([
        [0, until(START - 1)],
        [START + 3, until(START + 300)],
      ]),
      10,
    ),
    [0, 1, 2, 3],
  ],
  [
    "that lapsed is asked about daily for 30 days and then weekly",
    questions(populationOf([[0, until(START - 25)]]), 20),
    [...everyDay(7), 13],
  ],
  [
    "without a registration is asked about daily for the 30 days after the first answer, then weekly",
    questions(populationOf([[0, nothing]]), 40),
    [...everyDay(31), 37],
  ],
  [
    "that is excluded is not asked about",
    questions(populationOf([[0, nothing]], (START + 2) * 86_400_000), 10),
    [0, 1],
  ],
  [
    "that lapsed is not asked about on the day after an extract was cut, which shows it",
    questions(populationOf([[0, until(START - 100)]]), 12, (day) => (day > START + 6 ? START + 6 : OLD_CUT)),
    [0, 8],
  ],
  [
    "is not asked about after an extract that shows the renewal",
    questions(
      populationOf([
        [0, until(START + 1)],
        [START + 2, until(START + 300)],
      ]),
      6,
      (day) => (day > START + 3 ? START + 3 : OLD_CUT),
    ),
    [2],
  ],
])("a vendor %s", (_name, asked, expected) => {
  expect(asked).toEqual(expected);
});

test.each([
  [0, 0],
  [1, 1],
  [100, 11],
  [101, 12],
  [2_500, 275],
])("%d vendors cost at least %d calls", (vendors, calls) => {
  expect(leastCalls(vendors)).toBe(calls);
});
