import { ProviderError } from "../../../services/verification/src/providers/provider.ts";
import { createSamGovExtract } from "../../../services/verification/src/providers/sam-gov/sam-gov-extract.ts";
import type { PublicAnswer } from "../../../services/verification/src/questions/documents.ts";
import { DAY_MS, dayAt, textOf } from "./calendar.ts";
import type { RegistryFiles } from "./loaded-files.ts";
import type { Population } from "./population.ts";
import { entityOf, subjectOf, vendorOf } from "./subjects.ts";

/** What the product keeps of an answer of SAM.gov. */
export type Kept = Omit<PublicAnswer, "_id">;

export type Rule = ReturnType<typeof createRule>;

/** Creates the product's rule of a monitor's later run: what is known first, and what to ask where that does not suffice. */
export function createRule({
  population,
  files,
  now,
}: {
  population: Population;
  files: RegistryFiles;
  now: () => Date;
}) {
  const entities = { getRegistryRecord: async ({ uei = "" }) => files.of(vendorOf(population, uei), now()) };
  const provider = createSamGovExtract({ entities, hasApi: true, laterRuns: "only", now });
  const tin = () => Promise.reject(new Error("no TIN is needed"));
  return {
    /** The part of the entity service that it reads. */
    entities,
    provider,
    /** Returns the outcome of a run: pass, the reason of its fail, error, or `ask` where SAM.gov must be asked. */
    async decide(vendor: number, kept: Kept | undefined): Promise<string> {
      const { uei, cage, legalName, entityType } = subjectOf(population, entityOf(vendor));
      const question = { tenant: TENANT, uei, cage, legalName, entityType, tin, run: RUN, stored: kept?.parts, kept };
      try {
        const answer = await provider.ask(question, { signal: NEVER });
        return answer.reason || answer.outcome;
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        return error.asking ? "ask" : "error";
      }
    },
  };
}

const TENANT = { organizationId: "org_0", environment: "live" } as const;
const RUN = { monitorId: "mon_0", runSeq: 2 };
const NEVER = new AbortController().signal;

/**
 * Returns what the rule reads of a kept answer on a day: the registration's status, its expiration date where that is past,
 * the day of the answer (for its age, and for its order among the files), and when it is asked again. Returns undefined
 * where that is not all: the answer has exclusions, or it is asked again within a day.
 */
export function likenessOf({ parts, asked_at, ask_again_at }: Kept, today: number): string | undefined {
  const { registration, exclusions } = parts;
  if (!registration || exclusions || (ask_again_at && ask_again_at.getTime() % DAY_MS !== 0)) return undefined;
  const { listed_as, id_only, expiration_date } = registration;
  const end = expiration_date < textOf(today) ? expiration_date : "later";
  return [listed_as, id_only, end, dayAt(asked_at.getTime()), ask_again_at?.getTime()].join(" ");
}
