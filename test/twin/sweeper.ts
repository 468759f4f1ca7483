import { shardOf } from "@vvs/outbox";
import type { VerificationCompleted } from "@vvs/proto/events/v1/events";
import { createJudge } from "../../services/monitor/src/sweep/judge.ts";
import { createSweep } from "../../services/monitor/src/sweep/sweep.ts";
import { RUN_TIMEOUT_MS, type TestDomain } from "../../services/monitor/src/testing/domain.ts";
import type { Product } from "./product.ts";

/** Where a replica can be killed. */
export const killedAt = ["judging", "ending", "moving", "moved"] as const;

/** A replica of monitor that sweeps. Its verification judges by some version of the rules. */
export function createSweeper(
  domain: TestDomain,
  { judging, checked }: Pick<Product, "judging"> & { checked: (findings: readonly string[]) => void },
) {
  const { clock, suspended, standing, positions } = domain;
  let kill: (typeof killedAt)[number] | undefined;
  let leaseLooks = Number.POSITIVE_INFINITY;
  const sweeper = { domain, rules: 1, sweepAll, killAt, loseLease };

  /** Fails once, where it is to be killed. */
  async function step<T>(at: (typeof killedAt)[number], result: T | Promise<T>): Promise<T> {
    if (kill !== at) return result;
    kill = undefined;
    throw new Error("killed");
  }

  const judge = createJudge({
    judgeRuns: async (request, options) => {
      const runs = (request.runs ?? []).map(({ organizationId, entityId, digest }) => ({
        ...{ organizationId, entityId, digest: ofRules(digest!, sweeper.rules) },
      }));
      await step("judging", undefined);
      return judging.judgeRuns({ runs }, options);
    },
  });
  const sweep = createSweep({
    standing: {
      ...standing,
      end: async (ended) => {
        if (ended.length > 0) await step("ending", undefined);
        return standing.end(ended);
      },
    },
    positions: {
      ...positions,
      async move(seen, next) {
        await step("moving", undefined);
        return step("moved", await positions.move(seen, next));
      },
    },
    judge,
    runTimeoutMs: RUN_TIMEOUT_MS,
    metrics: { checked },
    isSuspended: (organizationId) => suspended.has(organizationId),
    leases: { held: () => (leaseLooks-- > 0 ? [shardOf("sweep")] : []) },
    now: () => clock.at,
  });

  /** Makes all checks that are due, or those before it is killed or loses its lease. */
  async function sweepAll(): Promise<void> {
    try {
      while (await sweep());
    } catch (error) {
      if ((error as Error).message !== "killed") throw error;
    }
    kill = undefined;
    leaseLooks = Number.POSITIVE_INFINITY;
  }

  function killAt(at: (typeof killedAt)[number]): void {
    kill = at;
  }

  /** Takes the lease away after it was looked at some times. */
  function loseLease(looks: number): void {
    leaseLooks = looks;
  }

  return sweeper;
}

/** Makes the digest of a run one of this version of the rules that judge; the other way round, too. */
function ofRules(digest: Uint8Array, rules: number): Buffer {
  return Buffer.from(digest.map((byte) => byte ^ rules));
}

/** Makes the digests of a run those of a version of verification. */
export function completedBy(record: VerificationCompleted, rules: number): void {
  for (const check of record.checks) check.digest = new Uint8Array(ofRules(check.digest, rules));
}
