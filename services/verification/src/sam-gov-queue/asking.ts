import type { Logger } from "@vvs/logging";
import { ProviderError } from "../providers/provider.ts";
import { MAX_VALUES } from "../providers/sam-gov/client.ts";
import type { AskedProvider, FreshVendors } from "../questions/asked.ts";
import type { QuestionDocument } from "../questions/documents.ts";
import type { SettledQuestion } from "../questions/settled.ts";
import { isFreshPriority } from "../questions/watch-frequency.ts";
import { withTimeLimit } from "../time-limit.ts";
import type { AskVendors } from "./ask-vendors.ts";
import { nextCall } from "./planning.ts";
import type { Questions } from "./questions.ts";
import { AskerReplacedError, type CallTime, type Settle } from "./settle.ts";

/** The wait after a call failed, in milliseconds. */
const FAILED_MS = 15_000;
/** Time limit for one call with all its pages, in milliseconds. */
export const CALL_MS = 20_000;

/**
 * Creates the asker of the waiting questions. Each round makes all calls that are due, one after the other, and returns how
 * long to wait for the next round, in milliseconds. Answers that could not be stored are stored by the next round, and not
 * asked for again. Errors: the database's.
 */
export function createAsking(options: {
  questions: Pick<Questions, "waiting" | "putOff">;
  /** The vendors whose data is to be kept fresh. */
  fresh: FreshVendors;
  askVendors: AskVendors;
  settle: Settle;
  provider: Pick<AskedProvider, "callsLeft" | "attempt">;
  /** Takes or renews the right to ask; called before each call. Returns the number of the term; undefined while another process asks. */
  mayAsk: () => Promise<number | undefined>;
  /** How long a question waits for others, in milliseconds. */
  gatherMs: number;
  /** How long to wait while another process asks, in milliseconds. */
  standByMs: number;
  onAsked: (vendors: number) => void;
  now: () => Date;
  logger: Logger;
}): { round: () => Promise<number> } {
  const { questions, fresh, provider, gatherMs, now, logger } = options;
  /** Maximum number of vendors of the next call. */
  let most = MAX_VALUES;
  let unsettled: { readonly settled: readonly SettledQuestion[]; readonly time: CallTime } | undefined;

  async function settle(): Promise<void> {
    if (!unsettled) return;
    const { settled, time } = unsettled;
    try {
      await options.settle(settled, time);
      options.onAsked(settled.length);
    } catch (err) {
      if (!(err instanceof AskerReplacedError)) throw err;
      logger.warn({ vendors: settled.length }, "answers of SAM.gov came too late: another replica asks again");
    }
    unsettled = undefined;
  }

  /** Returns false where the call failed. */
  async function call(asked: readonly QuestionDocument[], term: number): Promise<boolean> {
    try {
      const ask = () => withTimeLimit(CALL_MS, undefined, (signal) => options.askVendors(asked, signal));
      unsettled = { settled: await provider.attempt(asked, ask), time: { at: now(), term } };
      most = MAX_VALUES;
      return true;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      logger.info({ vendors: asked.length, reason: error.reason }, "SAM.gov was asked and gave no answer");
      const mayBeOwn = error.isFault || error.isInputFault;
      // Half as many are asked next, so that the one vendor that makes its calls fail is found, and only it is put off.
      if (mayBeOwn && asked.length > 1) most = Math.ceil(asked.length / 2);
      else if (mayBeOwn) await (isFreshPriority(asked[0]!.priority) ? fresh : questions).putOff(asked[0]!, now());
      return false;
    }
  }

  return {
    async round() {
      for (;;) {
        const term = await options.mayAsk();
        if (term === undefined) return options.standByMs;
        await settle();
        const [waiting, callsLeft] = await Promise.all([questions.waiting(now()), provider.callsLeft()]);
        const filled = await fresh.fillUp(waiting, now());
        const next = nextCall(filled.questions, { now: now(), gatherMs, callsLeft, freshCallsLeft: filled.callsLeft });
        if ("waitMs" in next) return next.waitMs;
        const chosen = next.questions.slice(0, most);
        const asked = await fresh.lookUp(chosen, now());
        // Files answer the others, so there is room for more: for up to a million after a new extract, which runs don't wait for.
        const isForRun = asked.some(({ priority }) => !isFreshPriority(priority));
        if (asked.length < chosen.length && !isForRun) continue;
        if (!(await call(asked, term))) return FAILED_MS;
        await settle();
      }
    },
  };
}
