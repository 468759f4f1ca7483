import { createBatcher } from "@vvs/batching";
import type { Tenant } from "@vvs/tenant";
import type { Collection } from "mongodb";
import type { Check } from "./checks.ts";
import type { AnswerDocument } from "./documents.ts";

/** What a stored answer answers. */
export interface AnswerKey {
  readonly entityId: string;
  readonly check: Check;
  readonly fingerprint: string;
}

/** Answers asked for in one command. */
const MAX_TOGETHER = 32;
/** While so many commands are under way, what comes waits and shares the next one. */
const COMMANDS_AT_ONCE = 2;

type Wanted = Pick<AnswerDocument, "organization_id" | "entity_id" | "check_type" | "inputs_fingerprint">;

/** Reads a tenant's newest answer to a key; null where it has none. Errors: the database's. */
export type ReadNewestAnswer = (tenant: Tenant, key: AnswerKey) => Promise<AnswerDocument | null>;

/**
 * Newest answers of one environment. Those who ask at the same moment share a command, in which each has a branch of
 * its own: a seek in the index to the one entry that is wanted, within the tenant that asked.
 */
export function createNewestAnswers(answers: Collection<AnswerDocument>): ReadNewestAnswer {
  const ask = createBatcher<Wanted, AnswerDocument | null>({
    async run(wanted) {
      const found = await answers.aggregate<AnswerDocument>(branches(wanted, answers.collectionName)).toArray();
      const byKey = new Map(found.map((answer) => [keyOf(answer), answer]));
      return wanted.map((each) => byKey.get(keyOf(each)) ?? null);
    },
    maxSize: MAX_TOGETHER,
    atOnce: COMMANDS_AT_ONCE,
    // A read fails for the database's sake, never for what one of them asked.
    failsAll: () => true,
  });
  return ({ organizationId }, { entityId, check, fingerprint }) =>
    ask({ organization_id: organizationId, entity_id: entityId, check_type: check, inputs_fingerprint: fingerprint });
}

function branches(wanted: readonly Wanted[], collection: string) {
  const [first, ...others] = new Map(wanted.map((each) => [keyOf(each), newest(each)])).values();
  return [...first!, ...others.map((pipeline) => ({ $unionWith: { coll: collection, pipeline } }))];
}

function newest(wanted: Wanted) {
  return [{ $match: wanted }, { $sort: { created_at: -1, _id: -1 } }, { $limit: 1 }];
}

function keyOf({ organization_id, entity_id, check_type, inputs_fingerprint }: Wanted): string {
  return JSON.stringify([organization_id, entity_id, check_type, inputs_fingerprint]);
}
