import { MAX_VALUES } from "../providers/sam-gov/client.ts";
import type { QuestionDocument } from "./documents.ts";
import type { QuestionKind } from "./question.ts";
import { DAY_MS, startOfUtcDay } from "./rules.ts";

/** The longest wait, in milliseconds: a new question, or the end of a refusal, can come before the planned time. */
const LOOK_AGAIN_MS = 300_000;
/** How many times longer a known answer that is asked for again waits for others than one in which a lapse may show. */
const REPEATS_WAIT_TIMES = 6;
/** Rows per page. Each page costs a call, and so does an answer without any row. */
const PAGE_ROWS = 10;
/** Calls for exclusions: a page, and another one where one vendor has ten rows or more. */
const EXCLUSION_CALLS = 2;

/** The fields of a question that a plan needs. */
export type PlannedQuestion = Pick<QuestionDocument, "_id" | "priority" | "wanted_at" | "asks_exclusions">;

/** The next call, or how long to wait for it, in milliseconds. */
export type NextCall<Q> =
  | { readonly kind: QuestionKind; readonly questions: readonly Q[] }
  | { readonly waitMs: number };

/**
 * Plans the next call. `waiting`: the first 100 questions of each kind that may be asked, by priority and then by how long
 * they have waited. A call of a kind starts when it is full, or when one of its questions has waited `gatherMs`
 * milliseconds, or six times as long if it asks for a known answer again; among several, the one that begins with the most urgent question. `callsLeft` limits the number of its
 * vendors; undefined where no quota is configured.
 */
export function nextCall<Q extends PlannedQuestion>(
  waiting: ReadonlyMap<QuestionKind, readonly Q[]>,
  { now, gatherMs, callsLeft }: { now: Date; gatherMs: number; callsLeft: number | undefined },
): NextCall<Q> {
  const endOfWait = ({ wanted_at, priority }: Q) =>
    wanted_at.getTime() + gatherMs * (priority === 1 ? 1 : REPEATS_WAIT_TIMES);
  const startsAt = (questions: readonly Q[]) =>
    questions.length >= MAX_VALUES ? 0 : Math.min(...questions.map(endOfWait));
  const kinds = [...waiting].filter(([, questions]) => questions.length > 0);
  const due = kinds.filter(([, questions]) => startsAt(questions) <= now.getTime());
  if (due.length === 0) {
    const next = Math.min(...kinds.map(([, questions]) => startsAt(questions)), now.getTime() + LOOK_AGAIN_MS);
    return { waitMs: next - now.getTime() };
  }
  const [first] = due
    .map(([kind, questions]) => ({ kind, questions: fitting(kind, questions, callsLeft) }))
    .filter(({ questions }) => questions.length > 0)
    .toSorted(({ questions: [a] }, { questions: [b] }) => byUrgency(a!, b!));
  const untilTomorrow = startOfUtcDay(now).getTime() + DAY_MS - now.getTime();
  return first ?? { waitMs: Math.min(untilTomorrow, LOOK_AGAIN_MS) };
}

/** Returns the first questions of a kind that one call can ask without costing more than `callsLeft`. */
function fitting<Q extends PlannedQuestion>(kind: QuestionKind, questions: readonly Q[], callsLeft = Infinity): Q[] {
  const first = questions.slice(0, kind === "single" ? 1 : MAX_VALUES);
  const others = 1 + (first.some((each) => each.asks_exclusions) ? EXCLUSION_CALLS : 0);
  return first.slice(0, Math.max(0, callsLeft - others) * PAGE_ROWS);
}

/** Sorts by priority, then by how long questions have waited. */
function byUrgency(a: PlannedQuestion, b: PlannedQuestion): number {
  return a.priority - b.priority || a.wanted_at.getTime() - b.wanted_at.getTime();
}
