import { eventually } from "@vvs/testing";
import { withAccounts } from "../../deploy/local/seed.ts";
import type { UsageCount } from "../../services/account/src/usage/usage.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { addProviderHistory } from "./provider-history.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAYS = 30;
const BY = { actor: "test", requestId: "test" };

const SANDBOX_UEIS = [
  "SANDBXACTVE1",
  "SANDBXNACTV1",
  "SANDBXEXPRD1",
  "SANDBXDEBAR1",
  "SANDBXERRR01",
  "SANDBXFALLB1",
  "SANDBXCHNGE1",
];
const LIVE_UEIS = ["ZZNRTHWND001", "ZZHARBRLT002", "ZZRENEWED003", "ZZBLKTHRN004"];
const CREATED = ["Cedar & Pine Office Supply LLC", "Lakeshore Mechanical Contractors, Inc.", "Ortega Family Catering"];

/**
 * Creates an organization with the data of a month: keys, usage, verifications of every outcome, monitors with changes,
 * delivered webhooks and failing ones. `subscriber` answers with an error under `/broken`.
 */
export async function realisticOrganization(subscriber: URL): Promise<TestOrganization> {
  const organization = await createOrganization({
    name: "Northgate Foods, Inc.",
    email: "dana.whitfield@northgate-foods.example",
    limitPerMinute: 5_000,
  });
  await addUsage(organization);
  await addProviderHistory(sharedProduct().environment, DAYS);
  const { live, sandbox } = organization;
  const sandboxChecks = { checks: ["sam_registration", "tin_match"], mode: "realtime" };
  for (const [place, uei] of SANDBOX_UEIS.entries()) {
    const identifiers = { uei, tin: `21345678${place}` };
    await sandbox.post("/v1/verify", { identifiers, legal_name: "Riverside Paper Goods LLC", ...sandboxChecks });
  }
  for (const uei of LIVE_UEIS) {
    await live.post("/v1/verify", { identifiers: { uei }, checks: ["sam_registration"], mode: "realtime" });
  }
  const address = { line1: "410 Commerce St", city: "Madison", state: "WI", zip: "53703", country: "USA" };
  for (const legal_name of CREATED) {
    await live.post("/v1/entities", { legal_name, address });
    await sandbox.post("/v1/entities", { legal_name, address });
  }
  for (const [uei, path] of [
    ["SANDBXCHNGE1", "/hooks/vendors"],
    ["SANDBXCHNGE1", "/broken/hooks"],
    ["SANDBXERRR01", "/hooks/vendors"],
    ["SANDBXACTVE1", "/hooks/vendors"],
  ] as const) {
    const found = await sandbox.post("/v1/entities/lookup", { identifiers: { uei } });
    await sandbox.post("/v1/monitors", {
      entity_id: found.body.id,
      checks: ["sam_registration"],
      webhook_url: new URL(path, subscriber).href,
      frequency: "hourly",
    });
  }
  await eventually(async () => (await sandbox.get("/v1/events")).body.events.length >= 4, {
    everyMs: 500,
    timeoutMs: 90_000,
  });
  return organization;
}

/** Adds the usage that gateways would have reported: busy by day, quiet at night and on weekends, with bad hours and refusals. */
async function addUsage({ id: organizationId }: TestOrganization): Promise<void> {
  const { environment: variables } = sharedProduct();
  await withAccounts(variables, async (accounts) => {
    for (const environment of ["live", "sandbox"] as const) {
      const tenant = { organizationId, environment };
      const keys = await Promise.all(
        ["Accounts payable", "Onboarding"].map((name) => accounts.apiKeys.create({ tenant, ...BY }, { name })),
      );
      const counts: UsageCount[] = [];
      const currentHour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
      for (let hour = currentHour - DAYS * 24 * HOUR_MS; hour <= currentHour; hour += HOUR_MS) {
        for (const [place, { key }] of keys.entries()) {
          const requests = requestsAt(new Date(hour), place);
          const of = (status: number, number: number, slower: number): UsageCount => ({
            tenant,
            keyId: key._id,
            hour: new Date(hour),
            status,
            requests: number,
            durations: durationsOf(number, slower),
            lastAt: new Date(hour + HOUR_MS / 2),
          });
          counts.push(of(200, requests, (hour / HOUR_MS) % 3 === 0 ? 1 : 0));
          if (requests > 30) counts.push(of(404, Math.round(requests / 18), 0));
          if ((hour / HOUR_MS) % 97 === 0) counts.push(of(503, Math.ceil(requests / 25), 4), of(429, 12, 0));
        }
      }
      await accounts.usage.report(`screenshots-${organizationId}-${environment}`, counts);
    }
  });
}

function requestsAt(hour: Date, key: number): number {
  const isWeekend = [0, 6].includes(hour.getUTCDay());
  const byDay = Math.max(0, Math.sin(((hour.getUTCHours() - 7) / 14) * Math.PI));
  const varied = 1 + Math.sin(hour.getTime() / 7.3e6) / 4;
  return Math.round((6 + 320 * byDay * (isWeekend ? 0.15 : 1)) * varied * (key === 0 ? 1 : 0.4));
}

/** Returns a histogram of durations: most are 8–64 ms, the rest is in the longer classes. */
function durationsOf(requests: number, slower: number): number[] {
  const shares = [0, 0, 0, 0.05, 0.4, 0.35, 0.14, 0.05, 0.01];
  const durations = Array.from({ length: 16 }, (_, place) => Math.floor(requests * (shares[place - slower] ?? 0)));
  const counted = durations.reduce((sum, number) => sum + number, 0);
  durations[5 + slower] = durations[5 + slower]! + requests - counted;
  return durations;
}
