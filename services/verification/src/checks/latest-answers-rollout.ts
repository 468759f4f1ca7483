import type { Logger } from "@vvs/logging";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import { type Environment, environments } from "@vvs/tenant";
import type { collectionsOf } from "../store.ts";
import { catchUp } from "./latest-answers.ts";

/** Replicas of an older version, which keep no latest answers, end this soon after a newer one has started. */
const ROLLOUT_MS = 10 * 60_000;

/** Takes over the answers that replicas of an older version store during a rollout, when they have ended. */
export function startCatchingUp(options: {
  collections: Readonly<Record<Environment, ReturnType<typeof collectionsOf>>>;
  now: () => Date;
  stopping: AbortSignal;
  logger: Logger;
}): SupervisedLoop {
  const { collections, now, stopping, logger } = options;
  const since = new Date(now().getTime() - ROLLOUT_MS);
  let rounds = 0;
  return superviseLoop({
    async round() {
      await Promise.all(environments.map((environment) => catchUp(collections[environment], since)));
      rounds += 1;
      return rounds === 1 ? ROLLOUT_MS : "done";
    },
    failure: "the latest answers can't be taken over from an older version; trying until they can",
    recovery: "the latest answers are taken over again",
    stopping,
    logger,
  });
}
