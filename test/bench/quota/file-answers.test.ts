import { expect, test } from "@jest/globals";
import { publicAnswerAfter } from "../../../services/verification/src/questions/rules.ts";
import { DAY_MS, dayAt, dayOfText, textOf } from "./calendar.ts";
import { createClock } from "./clock.ts";
import { createFileAnswers } from "./file-answers.ts";
import { createRegistryFiles } from "./loaded-files.ts";
import { createPopulation, type VendorRecord } from "./population.ts";
import { createRule, type Kept, likenessOf } from "./rule.ts";

const START = dayOfText("2030-10-04");
const VENDORS = 6_000;
const population = createPopulation({ seed: 1, vendors: VENDORS, absent: 200, startDay: START });

type RegistrationPart = NonNullable<Kept["parts"]["registration"]>;

function listedAs(record: VendorRecord, day: number): RegistrationPart["listed_as"] {
  if (record.kind === "none") return "not_found";
  return record.kind === "id_only" || record.expirationDay >= day ? "active" : "inactive";
}

/** What the product would keep of SAM.gov's answer about a vendor at a moment. */
function answerAt(vendor: number, moment: number) {
  const askedAt = new Date(moment);
  const record = population.recordAt(vendor, moment);
  const end = record.kind === "registered" ? record.expirationDay : undefined;
  const registration = {
    origin: "sam_gov_api",
    date: askedAt,
    load: "",
    listed_as: listedAs(record, dayAt(moment)),
    id_only: record.kind === "id_only",
    expiration_date: end === undefined ? "" : textOf(end),
    legal_name: "",
    cage: "",
    entity_type: "",
  } satisfies RegistrationPart;
  return publicAnswerAfter(undefined, { key: "uei:", parts: { registration }, bodies: [], askedAt });
}

test("each run has the outcome that the product's rule gives for its vendor by itself", async () => {
  const clock = createClock(START * DAY_MS);
  const files = createRegistryFiles(population);
  const rule = createRule({ population, files, now: clock.now });
  const answers = createFileAnswers({ population, files, decide: rule.decide, likenessOf });
  const seen = new Set<string>();
  // Before and after a day begins, the exclusions file and the extract are loaded, and a kept answer becomes old.
  for (const hour of [1, 9, 11, 23, 25, 61, 63, 73, 90, 200, 230]) {
    const moment = START * DAY_MS + hour * 3_600_000;
    clock.set(moment);
    files.load(moment);
    answers.clear();
    for (let vendor = 0; vendor < population.size; vendor++) {
      const outcome = await answers.outcomeOf(vendor, moment);
      const expected = await rule.decide(vendor, answers.keptOf(vendor));
      if (outcome !== expected) throw new Error(`vendor ${vendor} at hour ${hour}: ${outcome}, not ${expected}`);
      seen.add(outcome);
      // Some answers are kept of vendors that the files know, so that registrations expire after their answer.
      const isAsked = outcome === "ask" ? vendor % 3 > 0 : hour === 1 && vendor % 4 === 0;
      if (isAsked) answers.keep(vendor, answerAt(vendor, moment));
    }
  }
  expect([...seen].sort()).toEqual(["ask", "excluded", "expired", "not_found", "not_registered", "pass"]);
});
