import { MongoClient } from "mongodb";
import { migrate } from "../../../services/verification/src/migrate.ts";
import { startVerificationStack } from "../../support/verification-stack.ts";
import type { Benchmark, Figures, RowBench } from "../benchmark.ts";
import { median, openLoop, percentile, sorted } from "../load.ts";
import { memoryOf } from "../lookup/process-figures.ts";
import { round } from "../round.ts";
import { cachedCall, seedSubjects, writeRegistry } from "../verify/subjects.ts";
import { insertRaw } from "./raw-inserts.ts";
import { runJob } from "./run-job.ts";

/** With this many times fewer rows, memory is measured again. */
const FEWER = 10;
/** Calls beside a job: one organization that verifies steadily. */
const DIRECT_PER_SECOND = 20;
const QUIET_MS = 10_000;

/** Jobs through real processes, against bulk writes of what they stored. */
export const jobsBenchmark: Benchmark = {
  name: "jobs",
  about: "a job whose vendors the files answer, against bare bulk writes of the documents that it stored",
  conditions: {
    baseline:
      "insertMany of 1,000 documents at a time: rows with results, verifications, evidence, bodies, answers and outbox rows; same indexes, majority writes",
    vendors: "each another one of a made-up registry a day old; sam_registration, realtime",
    direct_calls: `${DIRECT_PER_SECOND} cached verifications a second of another organization, without a job and beside one`,
    processes: "verification, entity, relay to a real broker, MongoDB, all on this machine with the caller",
  },
  rows: [
    {
      name: "files",
      sizes: { rows: { long: 10_000, short: 3_000 }, rounds: { long: 3, short: 2 } },
      targets: {
        ratio_to_bare: { at_least: 0.4 },
        first_100_seconds: { at_most: 5 },
        direct_p99_ratio: { at_most: 2 },
        memory_growth: { at_most: 1.1 },
      },
      measure,
    },
  ],
};

type Sizes = Readonly<Record<"rows" | "rounds", number>>;

async function measure({ servers, prefix, folder, log, onClose }: RowBench, { rows, rounds }: Sizes): Promise<Figures> {
  const client = await new MongoClient(servers.mongodbUri, { writeConcern: { w: "majority" } }).connect();
  onClose(() => client.close());
  const profileDir = process.env.BENCH_PROFILE_DIR;
  const stack = await startVerificationStack({
    ...{ servers, prefix, folder, log },
    registry: await writeRegistry(folder, rows),
    nodeOptions: profileDir ? ["--cpu-prof", `--cpu-prof-dir=${profileDir}`] : [],
  });
  onClose(() => stack.stop());
  const { one } = await seedSubjects(stack);
  let next = 0;
  const direct = () => stack.verifications.verify(cachedCall(one[next++ % one.length]!));
  const peakMb = () => memoryOf(stack.pids.verification).peakMb;

  log("Warming up ...");
  const few = Math.ceil(rows / FEWER);
  for (let index = 0; index < FEWER; index++) await runJob(stack, few);
  const before = peakMb();
  const quiet = await openLoop({ perSecond: DIRECT_PER_SECOND, forMs: QUIET_MS, call: direct });

  const jobs: Awaited<ReturnType<typeof runJob>>[] = [];
  for (let index = 1; index <= rounds; index++) {
    const job = await runJob(stack, rows);
    log(`${rows} rows in ${job.seconds.toFixed(1)} s`);
    jobs.push(job);
  }
  const growth = peakMb() / before;
  log("With direct calls beside it ...");
  const latenciesMs: number[] = [];
  let isOver = false;
  const beside = (async () => {
    while (!isOver) {
      const slice = await openLoop({ perSecond: DIRECT_PER_SECOND, forMs: 1_000, call: direct });
      latenciesMs.push(...slice.latenciesMs);
    }
  })();
  const busy = await runJob(stack, rows);
  isOver = true;
  await beside;

  log("Inserting the same documents ...");
  const rawPrefix = `${prefix}raw_`;
  await migrate({ client, prefix: rawPrefix });
  const live = (each: string) => client.db(`${each}verification_live`);
  const bare: number[] = [];
  for (const { organizationId, jobId } of jobs) {
    bare.push((await insertRaw(live(prefix), live(rawPrefix), { organizationId, jobId })).seconds);
  }
  const seconds = median(jobs.map((each) => each.seconds));
  const [quietP99, besideP99] = [quiet.latenciesMs, latenciesMs].map((each) => percentile(sorted(each), 99));
  return {
    job_seconds: round(seconds, 1),
    job_rows_per_second: round(rows / seconds, 0),
    seconds_per_10000_rows: round((seconds * 10_000) / rows, 1),
    bulk_write_seconds: round(median(bare), 2),
    ratio_to_bare: round(median(jobs.map((each, index) => bare[index]! / each.seconds)), 3),
    first_100_seconds: round(median(jobs.map((each) => each.first100Seconds)), 2),
    direct_quiet_p99_ms: round(quietP99!, 1),
    direct_beside_p99_ms: round(besideP99!, 1),
    direct_p99_ratio: round(besideP99! / quietP99!, 2),
    job_beside_direct_seconds: round(busy.seconds, 1),
    peak_rss_mb: peakMb(),
    memory_growth: round(growth, 2),
  };
}
