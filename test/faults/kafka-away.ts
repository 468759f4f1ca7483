import { type LoadResult, openLoop } from "../bench/load.ts";
import type { VerificationStack } from "../support/verification-stack.ts";
import { type Outcome, outcome } from "./outbox-state.ts";
import type { OwnBroker } from "./own-broker.ts";
import type { SandboxCaller } from "./sandbox-caller.ts";

export interface KafkaAway {
  /** Calls that began while the broker was unavailable. */
  readonly meanwhile: LoadResult;
  /** Ids of the verifications answered before, during and after the outage. */
  readonly answered: readonly string[];
  /** Time from the broker's return until nothing was left to publish. */
  readonly catchUpMs: number;
  readonly outcome: Outcome;
}

/** Stops the broker for a while under a steady load of verifications, and waits until everything is published. */
export async function takeKafkaAway(options: {
  stack: VerificationStack;
  broker: OwnBroker;
  caller: SandboxCaller;
  awayMs: number;
  perSecond: number;
}): Promise<KafkaAway> {
  const { stack, broker, caller, awayMs, perSecond } = options;
  const answered: string[] = [];
  const call = async () => void answered.push(await caller.verify());
  await openLoop({ perSecond, forMs: 2_000, call });
  await broker.takeAway();
  const meanwhile = await openLoop({ perSecond, forMs: awayMs, call });
  const restored = broker.restore();
  await Promise.all([restored, openLoop({ perSecond, forMs: 2_000, call })]);
  const backAt = performance.now();
  const result = await outcome(stack);
  return { meanwhile, answered, catchUpMs: performance.now() - backAt, outcome: result };
}
