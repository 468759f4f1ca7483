import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { GetOrganizationSettingsResponseSchema } from "@vvs/proto/account/v1/organization_status";
import { captureLogs } from "@vvs/testing";
import { createOrganizationSettings } from "./organization-settings.ts";

/** A simulated account service. `perDay`: the budget that it answers, or the error that it throws. */
function start({ keptMs, retryMs = 0 }: { keptMs: number; retryMs?: number }) {
  const account = { perDay: 100 as number | Error, asked: [] as string[] };
  const { logger, lines } = captureLogs("info");
  const settings = createOrganizationSettings({
    async ask(organizationId) {
      account.asked.push(organizationId);
      if (account.perDay instanceof Error) throw account.perDay;
      const providerBudgets = [{ provider: "sam_gov_api", perMinute: 10, perDay: account.perDay }];
      return create(GetOrganizationSettingsResponseSchema, { providerBudgets });
    },
    logger,
    keptMs,
    retryMs,
  });
  const perDay = async (organizationId = "org_1") =>
    (await settings.get(organizationId))?.providerBudgets.get("sam_gov_api")?.perDay;
  return { account, lines, perDay };
}

test("account is asked once for calls at the same moment and while settings are fresh, for each organization", async () => {
  const { account, perDay } = start({ keptMs: 60_000 });
  expect(await Promise.all([perDay(), perDay(), perDay("org_2")])).toEqual([100, 100, 100]);
  account.perDay = 200;
  expect([await perDay(), await perDay("org_2")]).toEqual([100, 100]);
  expect(account.asked).toEqual(["org_1", "org_2"]);
});

test("a change takes effect once the kept settings are too old", async () => {
  const { account, perDay } = start({ keptMs: 0 });
  expect(await perDay()).toBe(100);
  account.perDay = 200;
  expect(await perDay()).toBe(200);
});

test("while account does not answer, the last known settings apply; there are none before its first answer", async () => {
  const { account, lines, perDay } = start({ keptMs: 0 });
  account.perDay = new ServiceError("service_unavailable");
  expect(await perDay()).toBeUndefined();
  account.perDay = 100;
  expect(await perDay()).toBe(100);
  account.perDay = new ServiceError("service_unavailable");
  expect([await perDay(), await perDay()]).toEqual([100, 100]);
  expect(lines.map(({ msg }) => msg)).toEqual([
    "settings of organizations are unavailable; the last known ones apply",
    "settings of organizations are available again",
    "settings of organizations are unavailable; the last known ones apply",
  ]);
});

test("an account service that does not answer is not asked by every call", async () => {
  const { account, perDay } = start({ keptMs: 0, retryMs: 60_000 });
  account.perDay = new ServiceError("service_unavailable");
  await perDay();
  await perDay();
  expect(account.asked).toHaveLength(1);
});

test("an unknown organization has no settings, and is no outage", async () => {
  const { account, lines, perDay } = start({ keptMs: 60_000 });
  account.perDay = new ServiceError("not_found");
  expect(await perDay()).toBeUndefined();
  expect(lines).toEqual([]);
});
