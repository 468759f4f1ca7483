import { beforeEach, describe, expect, test } from "@jest/globals";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { recordTelemetry } from "@vvs/telemetry/testing";
import type { CallerContext } from "@vvs/tenant";
import { createTestDomain, HOUR, SECOND, someCaller, someMonitor } from "../testing/domain.ts";
import { completedRun } from "../testing/records.ts";
import type { Frequency } from "./frequency.ts";
import { observeUnanswered } from "./unanswered.ts";

const { metric } = recordTelemetry();
const { PASS, ERROR } = CheckStatus;

const domain = await createTestDomain({ environment: "live" });

let caller: CallerContext;
beforeEach(async () => {
  await domain.monitors.deleteMany({});
  caller = someCaller("live");
});

async function newMonitor(frequency: Frequency) {
  return (await domain.started(caller, someMonitor({ frequency })))._id;
}

/** Ends a run of the monitor now. The first one is claimed; each later one is due. */
async function end(id: string, runSeq: number, overallResult: CheckStatus, reason = "providers_failed") {
  if (runSeq > 1) await domain.scheduler.claimDue();
  const checks = [{ checkType: CheckType.SAM_REGISTRATION, status: overallResult, reason }];
  const ended = { seq: runSeq, at: domain.clock.at, checks, overallResult };
  await domain.records.verificationCompleted(completedRun({ tenant: caller.tenant, id }, ended));
}

const listed = async (by = caller) => {
  const filter = {
    status: "active",
    entityId: "",
    externalId: "",
    lastOutcome: undefined,
    unansweredAt: domain.clock.at,
  } as const;
  return (await domain.store.list(by.tenant, filter, { limit: 10 } as never)).items.map(({ _id }) => _id);
};

const DAY = 24 * HOUR;
const steps: [Frequency, number, number][] = [
  ["hourly", HOUR, 4],
  ["daily", DAY, 2],
  ["weekly", 7 * DAY, 2],
  ["monthly", 30 * DAY, 2],
];

describe("a monitor is unanswered", () => {
  test.each(steps)("%s: once its runs have ended in error for three periods or a day", async (...step) => {
    const [frequency, periodMs, errors] = step;
    const id = await newMonitor(frequency);
    for (let runSeq = 1; runSeq <= errors; runSeq++) {
      expect(await listed()).toEqual([]);
      if (runSeq > 1) domain.pass(periodMs);
      await end(id, runSeq, ERROR);
    }
    expect(await listed()).toEqual([id]);
    expect(await listed(someCaller("live"))).toEqual([]);
    domain.pass(periodMs);
    await end(id, errors + 1, PASS);
    expect(await listed()).toEqual([]);
  });

  test("never after a single error, however old, nor once it is canceled", async () => {
    const id = await newMonitor("monthly");
    await end(id, 1, ERROR);
    domain.pass(29 * DAY);
    expect(await listed()).toEqual([]);
    domain.pass(DAY);
    await end(id, 2, ERROR);
    expect(await listed()).toEqual([id]);
    await domain.commands.cancel(caller, id);
    expect(await listed()).toEqual([]);
    expect(await domain.store.countUnanswered(domain.clock.at, [])).toEqual({ input: 0, source: 0 });
  });
});

test("operators see how many are unanswered, by cause, without suspended organizations, and no old number while it is unknown", async () => {
  let suspended: string[] = [];
  let isAway = false;
  const sources = ["providers_failed", "stale_source"];
  for (const reason of [...sources, "missing_tin", "not_enabled", "not_configured", "too_many_attempts"]) {
    const id = await newMonitor("daily");
    await end(id, 1, ERROR, reason);
    domain.pass(DAY + SECOND);
    await end(id, 2, ERROR, reason);
  }
  const count = async () => {
    if (isAway) throw new Error("MongoDB is away");
    return domain.store.countUnanswered(domain.clock.at, suspended);
  };
  const close = observeUnanswered({ environment: "live", count });
  const points = async () =>
    (await metric("monitor_unanswered"))!.dataPoints.map(({ attributes, value }) => [attributes.cause, value]);
  expect(await points()).toEqual([
    ["input", 4],
    ["source", 2],
  ]);
  suspended = [caller.tenant.organizationId];
  expect(await points()).toEqual([
    ["input", 0],
    ["source", 0],
  ]);
  isAway = true;
  expect(await points()).toEqual([
    ["input", Number.NaN],
    ["source", Number.NaN],
  ]);
  close();
});
