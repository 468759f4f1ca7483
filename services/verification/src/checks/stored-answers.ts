import { createBatcher } from "@vvs/batching";
import type { Check } from "@vvs/checks";
import type { Parts } from "@vvs/registration";
import type { Tenant } from "@vvs/tenant";
import type { Collection } from "mongodb";
import type { AnswerDocument } from "../documents.ts";
import { restsOnParts } from "./check-inputs.ts";

/** The question of a stored answer. */
export interface AnswerKey {
  readonly entityId: string;
  readonly check: Check;
  readonly fingerprint: string;
}

/** Maximum number of answers read in one command. */
const MAX_TOGETHER = 32;
/** Maximum number of commands in flight; further reads wait and share the next one. */
const COMMANDS_AT_ONCE = 2;

/** Calls whose answers were stored within this many milliseconds may have overlapped: it is longer than a call takes. */
const OVERLAP_MS = 60_000;
/** Maximum number of answers that are compared; more calls for one vendor of an organization hardly ever overlap. */
const MAX_OVERLAPPING = 4;

type AnswerFilter = Pick<AnswerDocument, "organization_id" | "entity_id" | "check_type" | "inputs_fingerprint">;

/** Reads a tenant's newest answer to a question; null where it has none. Errors: the database's. */
export type ReadNewestAnswer = (tenant: Tenant, key: AnswerKey) => Promise<AnswerDocument | null>;

/**
 * Creates the reader of one environment's newest answers. Reads at the same moment share a command, in which each has its
 * own branch: an index seek to the newest entries of its key, limited to its tenant.
 */
export function createReadNewestAnswer(answers: Collection<AnswerDocument>): ReadNewestAnswer {
  const read = createBatcher<AnswerFilter, AnswerDocument | null>({
    async run(wanted) {
      // In one batch, since a second one would cost another round trip.
      const options = { batchSize: MAX_TOGETHER * MAX_OVERLAPPING + 1 };
      const pipeline = branches(wanted, answers.collectionName);
      const found = await answers.aggregate<AnswerDocument>(pipeline, options).toArray();
      const byKey = Map.groupBy(found, keyOf);
      return wanted.map((each) => newestOf(byKey.get(keyOf(each)) ?? []) ?? null);
    },
    maxSize: MAX_TOGETHER,
    atOnce: COMMANDS_AT_ONCE,
    // A read fails because of the database, never because of one of the keys.
    failsAll: () => true,
  });
  return ({ organizationId }, { entityId, check, fingerprint }) =>
    read({ organization_id: organizationId, entity_id: entityId, check_type: check, inputs_fingerprint: fingerprint });
}

function branches(wanted: readonly AnswerFilter[], collection: string) {
  const [first, ...others] = new Map(wanted.map((each) => [keyOf(each), newest(each)])).values();
  return [...first!, ...others.map((pipeline) => ({ $unionWith: { coll: collection, pipeline } }))];
}

function newest(wanted: AnswerFilter) {
  const limit = restsOnParts(wanted.check_type) ? MAX_OVERLAPPING : 1;
  return [{ $match: wanted }, { $sort: { created_at: -1, _id: -1 } }, { $limit: limit }];
}

/**
 * Returns the answer that counts among a key's answers, which are given newest first. Usually the last one has the newest
 * parts. Only answers of overlapping calls may be stored in another order, so among those stored shortly before the last
 * one, the one with newer parts counts.
 */
export function newestOf(answers: readonly AnswerDocument[]): AnswerDocument | undefined {
  const [last] = answers;
  return answers
    .filter(({ created_at }) => last!.created_at.getTime() - created_at.getTime() <= OVERLAP_MS)
    .reduce((best: AnswerDocument | undefined, answer) => (best && !isNewer(answer, best) ? best : answer), undefined);
}

/** Is at least one part newer, and none older? */
function isNewer({ parts }: AnswerDocument, than: AnswerDocument): boolean {
  const dates = ({ registration, exclusions }: Parts) =>
    [registration, exclusions].map((part) => part?.date.getTime() ?? 0);
  if (!parts || !than.parts) return false;
  const others = dates(than.parts);
  const differences = dates(parts).map((date, index) => date - others[index]!);
  return differences.every((each) => each >= 0) && differences.some((each) => each > 0);
}

function keyOf({ organization_id, entity_id, check_type, inputs_fingerprint }: AnswerFilter): string {
  return JSON.stringify([organization_id, entity_id, check_type, inputs_fingerprint]);
}
