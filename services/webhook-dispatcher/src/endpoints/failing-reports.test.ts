import { timestampDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { captureLogs } from "@vvs/testing";
import { createTestDeliveries, later, stranger, type TestDeliveries, tenant } from "../testing/deliveries.ts";
import { type Endpoint, endpointId } from "./endpoint.ts";
import { createReportFailing } from "./failing-reports.ts";

const HOUR = 3_600;
const FIRST = 30 * HOUR;
const kept = await createTestDeliveries();
beforeEach(() => kept.clear());

const add = (...args: Parameters<TestDeliveries["addEndpoint"]>) => kept.addEndpoint(...args);

type Notifications = Parameters<typeof createReportFailing>[0]["notifications"];
type Report = Parameters<Notifications["reportNotifications"]>[0];

/** A replica at a time that the test sets, and what it reports to an account that is unavailable a number of times, the first time after a number of reports. */
function replica({ unavailable = 0, after = 0, refused = "" } = {}) {
  const reported: string[] = [];
  const clock = { seconds: FIRST };
  let left = unavailable;
  const reportNotifications = async ({ organizationId, notifications }: Report) => {
    if (reported.length >= after && left-- > 0) throw new ServiceError("service_unavailable");
    for (const { id, about } of notifications!) {
      const { host, failingSince } = about!.value as {
        host: string;
        failingSince: Parameters<typeof timestampDate>[0];
      };
      if (host === refused) throw new ServiceError("invalid_request");
      reported.push(`${organizationId} ${host} ${timestampDate(failingSince).getTime()} ${id}`);
    }
    return {};
  };
  const notifications = { reportNotifications } as unknown as Notifications;
  const { logger } = captureLogs();
  const report = createReportFailing({ db: kept.db, notifications, logger, now: () => later(clock.seconds) });
  return { reported, clock, report };
}

const secret = (host: string) => `https://${host}/hook?token=secret`;
const failing = (seconds: number, lastSeconds: number) => ({
  failing_since: later(seconds),
  last_failure_at: later(lastSeconds),
});

test("an endpoint is reported once it has failed for an hour, with its host only, and once by a replica", async () => {
  const since = FIRST - HOUR;
  await add(secret("a.example"), failing(since, FIRST));
  await add(secret("b.example"), failing(since, FIRST), stranger.organizationId);
  const { reported, report, clock } = replica();
  clock.seconds = FIRST - 1;
  await report();
  expect(reported).toEqual([]);
  clock.seconds = FIRST;
  await report();
  await report();
  expect(reported).toHaveLength(2);
  const id = `${endpointId(tenant.organizationId, secret("a.example"))}:fails:${later(since).getTime()}`;
  expect(reported).toContain(`${tenant.organizationId} a.example ${later(since).getTime()} ${id}`);
  expect(reported.join()).toContain(`${stranger.organizationId} b.example`);
  expect(reported.join()).not.toContain("secret");
});

test("nobody is notified of one that succeeded, failed once, was dismissed, or has failed for longer than a day", async () => {
  await add(secret("fine.example"), {});
  await add(secret("once.example"), failing(FIRST - 2 * HOUR, FIRST - 2 * HOUR + 60));
  await add(secret("dismissed.example"), { ...failing(FIRST - 2 * HOUR, FIRST), dismissed_at: later(FIRST) });
  await add(secret("old.example"), failing(FIRST - 26 * HOUR, FIRST));
  const { reported, report } = replica();
  await report();
  expect(reported).toEqual([]);
});

test("while account is unavailable it is reported again, and so is a failure after a success", async () => {
  const url = secret("a.example");
  await add(url, failing(FIRST - HOUR, FIRST));
  const { reported, report, clock } = replica({ unavailable: 1 });
  await expect(report()).rejects.toMatchObject({ code: "service_unavailable" });
  await report();
  const endpoints = kept.db.collection<Endpoint>("endpoints");
  await endpoints.updateOne({ url }, { $set: failing(FIRST + HOUR, FIRST + 2 * HOUR) });
  clock.seconds = FIRST + 2 * HOUR;
  await report();
  expect(reported).toHaveLength(2);
  expect(new Set(reported).size).toBe(2);
});

test("one that account refuses holds up no other", async () => {
  for (const host of ["a.example", "b.example"]) await add(secret(host), failing(FIRST - HOUR, FIRST));
  const { reported, report } = replica({ refused: "a.example" });
  await report();
  await report();
  expect(reported.map((each) => each.split(" ")[1])).toEqual(["b.example"]);
});

test("each of many is reported once, also where account becomes unavailable among them", async () => {
  const hosts = Array.from({ length: 250 }, (_, index) => `h${index}.example`);
  for (const host of hosts) await add(secret(host), failing(FIRST - HOUR, FIRST));
  const { reported, report } = replica({ unavailable: 1, after: 120 });
  await report().catch(() => undefined);
  expect(reported).toHaveLength(120);
  await report();
  await report();
  expect(reported.map((each) => each.split(" ")[1]).toSorted()).toEqual(hosts.toSorted());
});
