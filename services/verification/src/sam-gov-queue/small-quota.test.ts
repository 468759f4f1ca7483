import { expect, test } from "@jest/globals";
import { PRODUCTS_ONLY } from "../../../../test/outside/sam-gov-rows.ts";
import { createTestMonitor, startPlayedQueue } from "../testing/played-queue.ts";

// An account of 10 calls a day, no exclusions file, and a vendor with more rows than a page has.

const QUOTA = "10";

const queue = await startPlayedQueue("2026-11-02T09:00:00Z");
const service = await queue.startReplica({ SAM_GOV_DAILY_QUOTA: QUOTA });

/** Runs a monitor of a vendor on each of these days; returns the day's calls with the run's result. */
async function runDaily(uei: string, days: number): Promise<string[]> {
  const monitor = createTestMonitor({ uei }, { replicas: [service] });
  const results: string[] = [];
  for (let day = 0; day < days; day++) {
    const before = queue.sam.calls().length;
    await monitor.run();
    await queue.work(service);
    results.push(`${queue.sam.calls().length - before} ${await monitor.result()}`);
    queue.passHours(24);
  }
  return results;
}

test("a barred vendor costs a call a day while it is flagged, and a page of its rows a week", async () => {
  const uei = "PLAYEDBAR001";
  queue.sam.register({ uei, exclusionFlag: "Y" });
  for (let row = 0; row < 12; row++) queue.sam.exclude({ uei, name: `Exclusion ${row}` });
  const excluded = "fail sam_gov_api excluded";
  const quiet = `1 ${excluded}`;
  expect(await runDaily(uei, 9)).toEqual([
    ...[`2 ${excluded}`, `2 ${excluded}`, quiet, quiet, quiet, quiet, quiet, quiet],
    `2 ${excluded}`,
  ]);
  const kept = (await queue.collections().publicAnswers.findOne({ _id: `uei:${uei}` }))!;
  expect(kept.parts.exclusions!.exclusions).toHaveLength(10);
});

test("the kept rows are shown, with their evidence, and give way where the flag is gone", async () => {
  const uei = "PLAYEDBAR002";
  queue.setTime("2026-12-02T09:00:00Z");
  queue.sam.register({ uei, exclusionFlag: "Y" });
  for (let row = 0; row < 12; row++) queue.sam.exclude({ uei, name: `Exclusion ${row}` });
  await runDaily(uei, 3);
  const kept = (await queue.collections().publicAnswers.findOne({ _id: `uei:${uei}` }))!;
  expect(kept.parts.exclusions).toMatchObject({ flagged: true, date: new Date("2026-12-04T09:00:00Z") });
  expect(kept.exclusions_asked_at).toEqual(new Date("2026-12-03T09:00:00Z"));
  expect(kept.bodies.map(({ url }) => /entities|exclusions/.exec(url)![0])).toEqual(["entities", "exclusions"]);
  queue.sam.forget(uei);
  queue.sam.register({ uei });
  expect(await runDaily(uei, 1)).toEqual(["2 pass sam_gov_api"]);
});

test("a vendor with restricted products only is read to its last row, and passes; rows beyond the quota count as a bar", async () => {
  const uei = "PLAYEDPRO001";
  queue.setTime("2027-01-02T09:00:00Z");
  queue.sam.register({ uei, exclusionFlag: "Y" });
  for (let row = 0; row < 12; row++)
    queue.sam.exclude({ uei, name: `Product ${row}`, agencyCode: "GSA", comments: PRODUCTS_ONLY });
  const results = await runDaily(uei, 4);
  // First runs have two calls of this quota: the second page is beyond it.
  expect(results.slice(0, 2)).toEqual(["2 fail sam_gov_api excluded", "3 pass sam_gov_api"]);
  expect(results.slice(2)).toEqual(["0 pass sam_gov_api", "0 pass sam_gov_api"]);
});
