import { expect, test } from "@jest/globals";
import { recordTelemetry } from "@vvs/telemetry/testing";
import { createTestDomain, HOUR, SECOND, someCaller, someMonitor } from "../testing/domain.ts";
import { observeDueAge } from "./due-age.ts";

const { metric } = recordTelemetry();

test("the longest waiting monitor's age is reported while no run starts, is 0 once it has started, and grows while it cannot be read", async () => {
  const domain = await createTestDomain();
  let isAway = false;
  const oldestDueAt = async (at: Date) => {
    if (isAway) throw new Error("MongoDB is away");
    return domain.store.oldestDueAt(at);
  };
  const options = { environment: domain.environment, oldestDueAt };
  const stop = observeDueAge({ ...options, now: () => domain.clock.at });
  const age = async () => (await metric("monitor_oldest_due_seconds"))!.dataPoints.map(({ value }) => value);
  expect(await age()).toEqual([0]);
  const { value } = await domain.commands.create(someCaller(domain.environment), someMonitor({ frequency: "hourly" }));
  const { open_run: _, ...idle } = value;
  await domain.monitors.replaceOne({ _id: value._id }, { ...idle, claimable_at: domain.clock.at });
  domain.clock.at = new Date(domain.clock.at.getTime() + HOUR + 7 * SECOND);
  expect(await age()).toEqual([3_607]);
  expect((await domain.scheduler.claimDue()).claimed).toBe(1);
  expect(await age()).toEqual([0]);
  isAway = true;
  domain.clock.at = new Date(domain.clock.at.getTime() + HOUR);
  expect(await age()).toEqual([3_600]);
  stop();
});
