import { expect, test } from "@jest/globals";
import { startTestApplication } from "../testing/application.ts";
import { createLoads, pausingTransaction } from "../testing/loads.ts";

const app = await startTestApplication();

test("a truncated exclusions file that waited for the first complete one is refused and ends no exclusion", async () => {
  const loads = createLoads(app);
  const whole = Array.from({ length: 1_000 }, (_, index) => ({ uei: `ABCDEFGH${1_000 + index}` }));
  const first = pausingTransaction(app, 1);
  const loading = loads.exclude(whole, "2026-01-10", first.given);
  await first.beginning;
  const waiting = Promise.withResolvers<void>();
  const truncated = loads
    .exclude(whole.slice(0, 10), "2026-01-11", { onWait: () => waiting.resolve() })
    .catch((error: unknown) => error);
  await waiting.promise;
  first.begin();
  first.commit();
  await loading;
  expect(String(await truncated)).toMatch(/has 10 rows.*looks truncated/);
  expect(await app.live.exclusions.countDocuments({ ended_by: { $exists: true } })).toBe(0);
  expect(await app.live.loads.countDocuments({ state: "done" })).toBe(1);
});
