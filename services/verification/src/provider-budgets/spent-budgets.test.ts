import { beforeEach, describe, expect, test } from "@jest/globals";
import { loadConfig, z } from "@vvs/config";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { atEnd, eventually, silentLogger } from "@vvs/testing";
import { type PlayedSamGov, playSamGov } from "../../../../test/outside/sam-gov.ts";
import type { ProviderBudget } from "../organization-settings/organization-settings.ts";
import { providersSection } from "../providers/config.ts";
import { createLiveProviders, type LiveProvidersOptions } from "../providers/live-providers.ts";
import { type Provider, ProviderError } from "../providers/provider.ts";
import {
  callerOf,
  passing,
  putVendor,
  requestedRun,
  resultOf,
  testProvider,
  verify as verifyVendor,
} from "../testing/calls.ts";
import { tinHashOf } from "../testing/entities.ts";
import { startTestService, type TestService, unlimited } from "../testing/service.ts";
import { organizationCallsOf } from "./budget-store.ts";

const { SAM_REGISTRATION, TIN_MATCH } = CheckType;
const TIN = "471829360";
/** The service's clock, which tests move. */
let time: Date;
/** The budgets that account answers, by organization and provider. */
let budgets: Map<string, ReadonlyMap<string, ProviderBudget>>;
beforeEach(() => {
  time = new Date("2026-11-21T09:30:00Z");
  budgets = new Map();
});

async function start(options: Partial<Parameters<typeof startTestService>[0]>): Promise<TestService> {
  const settings = {
    get: async (organizationId: string) => ({
      ...unlimited,
      providerBudgets: budgets.get(organizationId) ?? new Map(),
    }),
  };
  const service = await startTestService({
    settings,
    now: () => time,
    ...options,
  });
  return service;
}

/** Makes an organization with these budgets. */
function organization(provided: Readonly<Record<string, ProviderBudget>>): string {
  const id = newId("org");
  budgets.set(id, new Map(Object.entries(provided)));
  return id;
}

interface Asking {
  readonly check: CheckType;
  readonly uei?: string;
  readonly legalName?: string;
  /** Number of the monitor's run; a direct call where absent. */
  readonly runSeq?: number;
  readonly actor?: string;
}

/** Checks a new vendor of the organization; returns the outcome with its attempts. */
async function verify(
  service: TestService,
  organizationId: string,
  { check, uei = "PLAYEDUEI001", legalName = "Acme LLC", runSeq, actor }: Asking,
) {
  const vendor = putVendor(service, { organizationId, legalName, uei, tinHash: tinHashOf(TIN), tin: TIN });
  if (runSeq === undefined) await verifyVendor(service, vendor, { checks: [check], actor });
  else await service.runOf("live")(requestedRun(vendor, { runSeq, checks: [check] }));
  const [caller, page] = [callerOf(organizationId), { limit: 1 }];
  const { verifications } = await service.client.listVerifications({ caller, entityId: vendor.entityId, page });
  const { result, attempts } = await resultOf(service, { organizationId, results: verifications[0]!.results });
  return { result, attempts };
}

async function spent(service: TestService, organizationId: string): Promise<Record<string, string>> {
  const found = await organizationCallsOf(service.databases.live).find({ organization_id: organizationId }).toArray();
  return Object.fromEntries(found.map(({ provider, direct, monitors }) => [provider, `${direct}/${monitors}`]));
}

describe("the paid calls of TIN providers", () => {
  /** Organizations that each provider was asked for. */
  let asked: Record<string, string[]>;
  const tinProvider = (name: string) =>
    testProvider(name, "tin_match", async ({ tin, tenant }, { signal }) => {
      await tin(signal);
      asked[name]!.push(tenant.organizationId);
      return passing();
    });
  const live = [tinProvider("taxbandits"), tinProvider("compliancely")];
  beforeEach(() => {
    asked = { taxbandits: [], compliancely: [] };
  });
  const PASS = "PASS taxbandits";
  const NONE = {
    result: "ERROR none providers_failed",
    attempts: ["taxbandits throw budget_spent", "compliancely throw budget_spent"],
  };

  test("of one organization's burst, its budget is made on both replicas together; then the next provider is asked, then none; dashboard calls count", async () => {
    const one = await start({ live });
    const other = await start({ live, prefix: one.prefix });
    const attacker = organization({
      taxbandits: { perMinute: 100, perDay: 8 },
      compliancely: { perMinute: 3, perDay: 100 },
    });
    const burst = Array.from({ length: 20 }, (_, index) =>
      verify([one, other][index % 2]!, attacker, { check: TIN_MATCH, actor: index < 10 ? "key_1" : "usr_1" }),
    );
    const results = await Promise.all(burst);
    expect([asked.taxbandits!.length, asked.compliancely!.length]).toEqual([4, 3]);
    expect(results.filter(({ result }) => result === "PASS compliancely")[0]!.attempts).toEqual([
      "taxbandits throw budget_spent",
      "compliancely pass",
    ]);
    expect(results.filter(({ result }) => result.startsWith("ERROR"))).toEqual(Array.from({ length: 13 }, () => NONE));

    const beside = organization({ taxbandits: { perMinute: 100, perDay: 8 } });
    expect(await verify(other, beside, { check: TIN_MATCH })).toEqual({ result: PASS, attempts: ["taxbandits pass"] });
    expect(await spent(one, attacker)).toEqual({ taxbandits: "4/0", compliancely: "3/0" });
    expect(await spent(one, beside)).toEqual({ taxbandits: "1/0" });
    const caller = callerOf(attacker, Environment.LIVE, "usr_1");
    expect((await other.clientFor("dashboard").getProviderUsage({ caller })).providers).toMatchObject([
      { provider: "taxbandits", direct: 4, directLeft: 0, monitors: 0, monitorsLeft: 4, perDay: 8 },
      { provider: "compliancely", direct: 3, directLeft: 47, monitors: 0, monitorsLeft: 70, perMinute: 3 },
    ]);
    await expect(one.client.getProviderUsage({ caller })).rejects.toMatchObject({ code: "forbidden" });
  });

  test("a spent budget touches neither the circuit nor the history of a provider, and takes no probe", async () => {
    let isDown = false;
    const ask: Provider["ask"] = async () => {
      if (isDown) throw new ProviderError("http_503");
      return passing();
    };
    const service = await start({
      live: [testProvider("taxbandits", "tin_match", ask)],
      circuit: { faultsInRow: 1, openMs: 1_000 },
    });
    const spender = organization({ taxbandits: { perMinute: 100, perDay: 1 } });
    const beside = organization({ taxbandits: { perMinute: 100, perDay: 100 } });
    const result = async (id: string) => (await verify(service, id, { check: TIN_MATCH })).attempts;
    const stateNow = async () =>
      (await service.client.listProviders({ environment: Environment.LIVE })).providers[0]!.state;
    const refused = ["taxbandits throw budget_spent"];
    expect([await result(spender), await result(spender)]).toEqual([["taxbandits pass"], refused]);
    expect(await stateNow()).toBe("available");

    isDown = true;
    for (const legalName of ["Northwind LLC", "Contoso LLC"]) {
      await verify(service, beside, { check: TIN_MATCH, legalName });
    }
    const states = service.databases.live.collection<{ _id: string; circuit: object }>("provider_state");
    const opened = await eventually(() => states.findOne({ "circuit.open_until": { $exists: true } }));
    time = new Date(time.getTime() + 2_000);
    isDown = false;
    expect([await result(spender), await stateNow()]).toEqual([refused, "degraded"]);
    expect(await states.findOne({ _id: "taxbandits" })).toEqual(opened);
    expect(await result(beside)).toEqual(["taxbandits pass"]);
  });

  test("where our own data can't be read, no call was made and none is counted", async () => {
    const service = await start({ live });
    const caller = organization({ taxbandits: { perMinute: 100, perDay: 2 } });
    service.entities.schedule.reveal = async () => {
      throw new ServiceError("service_unavailable");
    };
    for (let calls = 0; calls < 3; calls++) {
      await expect(verify(service, caller, { check: TIN_MATCH })).rejects.toMatchObject({
        code: "service_unavailable",
      });
    }
    expect(await spent(service, caller)).toEqual({ taxbandits: "0/0" });
    service.entities.schedule.reveal = undefined;
    expect((await verify(service, caller, { check: TIN_MATCH })).result).toBe(PASS);
  });
});

describe("SAM.gov's quota", () => {
  let sam: PlayedSamGov;
  beforeEach(async () => {
    sam = await playSamGov();
  });

  const QUOTA = 100;
  /** Each HTTP call waits for this before it is made. */
  let gate: Promise<void> | undefined;
  const startWithSam = () => {
    gate = undefined;
    const logger = silentLogger;
    const env = {
      SAM_GOV_API_KEY: sam.apiKey,
      SAM_GOV_BASE_URL: sam.baseUrl,
      SAM_REGISTRATION_PROVIDERS: "sam_gov_api",
    };
    const config = loadConfig(z.object(providersSection), env);
    const onClose = (_name: string, close: () => unknown) => void atEnd(close);
    const live = ({ takeCall, entities }: Pick<LiveProvidersOptions, "takeCall" | "entities">) => {
      const afterGate: typeof takeCall = async (...call) => {
        await gate;
        await takeCall(...call);
      };
      return createLiveProviders({ config, entities, takeCall: afterGate, now: () => time, logger, onClose });
    };
    return start({ live, accounts: { sam_gov_api: { fingerprint: "key1", quota: QUOTA } } });
  };

  test("one organization can use up only its share of the quota on any plan; another is answered by the API beside it, and its monitors' first runs too", async () => {
    const service = await startWithSam();
    const budget = { sam_gov_api: { perMinute: 1_000, perDay: 5_000 } };
    const [attacker, beside] = [organization(budget), organization(budget)];
    // Each vendor is unknown to SAM.gov, which costs three calls: the registration, the id, the exclusions.
    const results = [];
    for (let vendor = 0; vendor < 10; vendor++) {
      results.push(
        await verify(service, attacker, {
          check: SAM_REGISTRATION,
          uei: `PLAYEDABS${String(vendor).padStart(3, "0")}`,
        }),
      );
    }
    expect(results.map(({ result }) => result).slice(0, 4)).toEqual(
      Array.from({ length: 4 }, () => "FAIL sam_gov_api not_found"),
    );
    expect(results.at(-1)!.attempts[0]).toBe("sam_gov_api throw budget_spent");
    // A fifth of the quota, of which half is kept for its monitors; what has begun is finished.
    expect(sam.calls()).toHaveLength(12);
    expect(await spent(service, attacker)).toEqual({ sam_gov_api: "12/0" });

    sam.register({ uei: "PLAYEDUEI001" });
    expect((await verify(service, beside, { check: SAM_REGISTRATION })).result).toBe("PASS sam_gov_api");
    expect((await verify(service, attacker, { check: SAM_REGISTRATION, runSeq: 1 })).result).toBe("PASS sam_gov_api");
    expect(await spent(service, attacker)).toEqual({ sam_gov_api: "12/2" });
  });

  test("of two organizations that share a call, each pays for its own question, and who began it for its further calls", async () => {
    const service = await startWithSam();
    const budget = { sam_gov_api: { perMinute: 100, perDay: 100 } };
    const [first, second] = [organization(budget), organization(budget)];
    const bothAsked = Promise.withResolvers<void>();
    gate = bothAsked.promise;
    let asked = 0;
    service.entities.schedule.registry = async (vendors) => {
      asked += vendors;
      if (asked === 2) bothAsked.resolve();
    };
    const both = [first, second].map((each) => verify(service, each, { check: SAM_REGISTRATION, uei: "PLAYEDABSENT" }));
    expect((await Promise.all(both)).map(({ result }) => result)).toEqual(
      Array.from({ length: 2 }, () => "FAIL sam_gov_api not_found"),
    );
    expect(sam.calls()).toHaveLength(3);
    const counts = await Promise.all([first, second].map(async (each) => (await spent(service, each)).sam_gov_api));
    expect(counts.toSorted()).toEqual(["1/0", "3/0"]);
  });
});
