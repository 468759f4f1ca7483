import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { newId } from "@vvs/ids";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { eventually } from "@vvs/testing";
import { startHelper } from "../../support/helper-process.ts";
import { startVerificationStack, type VerificationStack } from "../../support/verification-stack.ts";
import type { Row } from "../benchmark.ts";
import { type LoadResult, openLoop, percentile, sorted } from "../load.ts";
import { round } from "../round.ts";
import { openRuns, type Vendor } from "./runs.ts";

const ORGANIZATIONS = 25;
/** A registered vendor of the loaded extract. */
const UEI = "ZZNRTHWND001";
const SAM_PER_SECOND = 40;
const ROUND_MS = 10_000;
const ANSWER_MS = 8_000;
const TIN_SLOTS = 64;
/** More than all slots take and 12 partitions hold. */
const TIN_RUNS = 2_600;
const DRAIN_MS = 300_000;

/** How late runs of sam_registration are while many runs wait for a slow TIN provider, against without these. */
export const slowTin: Row<"slow-tin-rounds"> = {
  name: "slow-tin",
  sizes: { "slow-tin-rounds": { long: 8, short: 2 } },
  conditions: {
    slow_tin_provider: `answers after ${ANSWER_MS / 1_000} s; ${TIN_RUNS} runs of tin_match, the first ${TIN_SLOTS} spread over this time, wait when a round begins`,
    slow_tin_sam_runs: `${SAM_PER_SECOND} a second from the loaded files, timed from before the request is sent until the result is read from Kafka`,
    slow_tin_rounds: `of ${ROUND_MS / 1_000} s with and without the TIN runs, alternating; percentiles over all rounds`,
  },
  targets: { slow_tin_p99_ratio: { at_most: 1.2 } },
  async measure({ servers, prefix, folder, log, onClose }, { "slow-tin-rounds": count }) {
    const vendor = await startHelper({
      name: "slow-tin-vendor",
      script: join(import.meta.dirname, "slow-tin-vendor.ts"),
    });
    onClose(() => vendor.stop());
    const ask = async (path: string) => Number(await (await fetch(`${vendor.line}${path}`)).text());
    const stack = await startVerificationStack({
      servers,
      prefix,
      folder,
      environment: {
        TIN_MATCH_PROVIDERS: "compliancely",
        COMPLIANCELY_API_KEY: "played-compliancely-key",
        COMPLIANCELY_BASE_URL: vendor.line,
        LIVE_TIN_RUNS_AT_ONCE: String(TIN_SLOTS),
      },
      log,
    });
    onClose(() => stack.stop());
    const runs = await openRuns({ brokers: servers.kafkaBrokers, prefix: `${prefix}.` });
    onClose(() => runs.close());
    const vendors = await createVendors(stack);
    const some = (list: readonly Vendor[], count: number) =>
      Array.from({ length: count }, (_, index) => list[index % list.length]!);

    let next = 0;
    const samRun = () => runs.request(CheckType.SAM_REGISTRATION, [vendors.sam[next++ % vendors.sam.length]!]).ends[0]!;
    const samRuns = () => openLoop({ perSecond: SAM_PER_SECOND, forMs: ROUND_MS, call: samRun });
    async function besideTinRuns(): Promise<LoadResult> {
      let passed = 0;
      let failed = 0;
      const tinRuns = (requested: readonly Vendor[]) => {
        const { sent, ends } = runs.request(CheckType.TIN_MATCH, requested);
        for (const end of ends)
          end.then(
            () => passed++,
            () => failed++,
          );
        return sent;
      };
      await ask(`/delay?ms=${ANSWER_MS}`);
      // Slots that were taken in the same moment would become free together again and again.
      for (const each of some(vendors.tin, TIN_SLOTS)) {
        void tinRuns([each]);
        await wait(ANSWER_MS / TIN_SLOTS);
      }
      await tinRuns(some(vendors.tin, TIN_RUNS - TIN_SLOTS));
      await eventually(areSlotsTaken);
      const result = await samRuns();
      if (!(await areSlotsTaken())) throw new Error("the TIN runs did not last for the round");
      await ask("/delay?ms=0");
      await eventually(() => passed + failed === TIN_RUNS, { timeoutMs: DRAIN_MS });
      return { ...result, failed: result.failed + failed };
    }
    /** A run also holds a slot before and after it asks. */
    const areSlotsTaken = async () => (await ask("/waiting")) > TIN_SLOTS / 2;

    log("Warming up ...");
    await samRuns();
    await Promise.all(runs.request(CheckType.TIN_MATCH, some(vendors.tin, TIN_SLOTS)).ends);
    const rounds: { alone: LoadResult; beside: LoadResult }[] = [];
    for (let index = 1; index <= count; index++) {
      const each = { alone: await samRuns(), beside: await besideTinRuns() };
      rounds.push(each);
      const p99 = ({ latenciesMs }: LoadResult) => round(percentile(latenciesMs, 99), 1);
      log(`round ${index}: p99 ${p99(each.alone)} ms without TIN runs, ${p99(each.beside)} ms with them`);
    }
    const all = (key: "alone" | "beside") => sorted(rounds.flatMap((each) => each[key].latenciesMs));
    const [alone, beside] = [all("alone"), all("beside")];
    return {
      slow_tin_without_p50_ms: round(percentile(alone, 50), 1),
      slow_tin_without_p99_ms: round(percentile(alone, 99), 1),
      slow_tin_with_p50_ms: round(percentile(beside, 50), 1),
      slow_tin_with_p99_ms: round(percentile(beside, 99), 1),
      slow_tin_p99_ratio: round(percentile(beside, 99) / percentile(alone, 99), 2),
      slow_tin_failed_runs: rounds.reduce((sum, each) => sum + each.alone.failed + each.beside.failed, 0),
    };
  },
};

/** Returns vendors of several organizations: registered ones, and own ones with a TIN. */
async function createVendors({ entities }: VerificationStack): Promise<{ sam: Vendor[]; tin: Vendor[] }> {
  const vendors = { sam: [] as Vendor[], tin: [] as Vendor[] };
  for (let index = 0; index < ORGANIZATIONS; index++) {
    const organizationId = newId("org");
    const caller = { tenant: { organizationId, environment: Environment.LIVE }, actor: newId("key") };
    const registered = await entities.lookUp({ caller, identifiers: { uei: UEI } });
    const own = await entities.createEntity({
      caller,
      legalName: `Vendor ${index}`,
      identifiers: { tin: String(411_000_000 + index) },
    });
    vendors.sam.push({ organizationId, entityId: registered.entity!.id });
    vendors.tin.push({ organizationId, entityId: own.entity!.id });
  }
  return vendors;
}
