import { startOfUtcDay } from "@vvs/registration";
import { MAX_VALUES } from "../providers/sam-gov/client.ts";
import type { QuestionDocument } from "../questions/documents.ts";
import type { QuestionKind } from "../questions/question.ts";
import { DAY_MS } from "../questions/rules.ts";
import { gatherFreshMs, isFreshPriority } from "../questions/watch-frequency.ts";

/** The longest wait, in milliseconds: a new question, or the end of a refusal, can come before the planned time. */
const LOOK_AGAIN_MS = 300_000;
/** How many times longer a known answer that is asked for again waits for others than one in which a lapse may show. */
const REPEATS_WAIT_TIMES = 6;
/** Rows per page. Each page costs a call, and so does an answer without any row. */
const PAGE_ROWS = 10;
/** Calls for exclusions: a page, and another one where one vendor has ten rows or more. */
const EXCLUSION_CALLS = 2;

/** The fields of a question that a plan needs. */
export type PlannedQuestion = Pick<QuestionDocument, "_id" | "priority" | "wanted_at" | "turn" | "asks_exclusions">;

/** HTTP calls that are left today, for runs and only to keep data fresh. */
interface CallsLeft {
  readonly callsLeft: number | undefined;
  readonly freshCallsLeft?: number;
}

/** The next call, or how long to wait for it, in milliseconds. */
export type NextCall<Q> =
  | { readonly kind: QuestionKind; readonly questions: readonly Q[] }
  | { readonly waitMs: number };

/**
 * Plans the next call. `waiting`: the first 100 questions of each kind that may be asked, by priority and then by
 * turn. A call of a kind starts when it is full, or when one of its questions has waited `gatherMs` milliseconds,
 * or six times as long if it asks for a known answer again, or until old data must be asked for; among several, the one that
 * begins with the most urgent question. `callsLeft` limits the number of its vendors; undefined where no quota is configured.
 * `freshCallsLeft` limits that of a call with vendors that no run waits for.
 */
export function nextCall<Q extends PlannedQuestion>(
  waiting: ReadonlyMap<QuestionKind, readonly Q[]>,
  { now, gatherMs, ...left }: { now: Date; gatherMs: number } & CallsLeft,
): NextCall<Q> {
  const waitOf = ({ priority }: Q) =>
    isFreshPriority(priority) ? gatherFreshMs(priority) : gatherMs * (priority === 1 ? 1 : REPEATS_WAIT_TIMES);
  const endOfWait = (question: Q) => question.wanted_at.getTime() + waitOf(question);
  const startsAt = (questions: readonly Q[]) =>
    questions.length >= MAX_VALUES ? 0 : Math.min(...questions.map(endOfWait));
  const kinds = [...waiting].filter(([, questions]) => questions.length > 0);
  const due = kinds.filter(([, questions]) => startsAt(questions) <= now.getTime());
  if (due.length === 0) {
    const next = Math.min(...kinds.map(([, questions]) => startsAt(questions)), now.getTime() + LOOK_AGAIN_MS);
    return { waitMs: next - now.getTime() };
  }
  const [first] = due
    .map(([kind, questions]) => ({ kind, questions: fitting(kind, questions, left) }))
    .filter(({ questions }) => questions.length > 0)
    .toSorted(({ questions: [a] }, { questions: [b] }) => byUrgency(a!, b!));
  const untilTomorrow = startOfUtcDay(now).getTime() + DAY_MS - now.getTime();
  return first ?? { waitMs: Math.min(untilTomorrow, LOOK_AGAIN_MS) };
}

/** Returns the first questions of a kind that one call can ask without costing more than what is left. */
function fitting<Q extends PlannedQuestion>(
  kind: QuestionKind,
  questions: readonly Q[],
  { callsLeft = Infinity, freshCallsLeft = 0 }: CallsLeft,
): Q[] {
  const first = questions.slice(0, kind === "single" ? 1 : MAX_VALUES);
  const others = 1 + (first.some((each) => each.asks_exclusions) ? EXCLUSION_CALLS : 0);
  const vendorsFor = (calls: number) => Math.max(0, calls - others) * PAGE_ROWS;
  const ofRuns = first.filter(({ priority }) => !isFreshPriority(priority)).length;
  return first.slice(0, Math.min(vendorsFor(callsLeft), Math.max(ofRuns, vendorsFor(freshCallsLeft))));
}

/** Sorts by priority, then by turn. */
function byUrgency(a: PlannedQuestion, b: PlannedQuestion): number {
  return a.priority - b.priority || a.turn.getTime() - b.turn.getTime();
}
