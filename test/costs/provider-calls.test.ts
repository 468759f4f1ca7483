import { expect, test } from "@jest/globals";
import { loadConfig, z } from "@vvs/config";
import { CheckType } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { atEnd, silentLogger as logger } from "@vvs/testing";
import { providerAccounts, providersSection } from "../../services/verification/src/providers/config.ts";
import { createLiveProviders } from "../../services/verification/src/providers/live-providers.ts";
import type { Provider } from "../../services/verification/src/providers/provider.ts";
import { unlimited } from "../../services/verification/src/testing/service.ts";
import { playSamGov } from "../outside/sam-gov.ts";
import { type CommandCounts, total } from "../support/command-counts.ts";
import { NOW, startCostStack, UEI, type VerifyFields } from "./stack.ts";

// How many commands MongoDB gets for a realtime call that asks a provider with a quota and a budget, beside the call itself.

let answers = 0;
const tinVendor: Provider = {
  name: "taxbandits",
  check: "tin_match",
  async ask(question, { signal }) {
    await question.tin(signal);
    const content = JSON.stringify({ answer: ++answers });
    return {
      outcome: "pass",
      reason: "",
      confidence: 1,
      dataDate: NOW,
      facts: {},
      content,
      contentType: "application/json",
    };
  },
};

const byTin: VerifyFields = {
  target: { case: "vendor", value: { identifiers: { uei: UEI, tin: "710000001" } } },
  checks: [CheckType.TIN_MATCH],
};
const sam = await playSamGov();
sam.register({ uei: UEI, cage: "1ABC2", legalName: "REGISTERED LLC" });
const config = loadConfig(z.object(providersSection), {
  SAM_GOV_API_KEY: sam.apiKey,
  SAM_GOV_BASE_URL: sam.baseUrl,
  SAM_GOV_DAILY_QUOTA: "1000",
});
const budget = { perMinute: 100, perDay: 100 };
const providerBudgets = new Map(["sam_gov_api", "taxbandits"].map((name) => [name, budget]));
const onClose = (_name: string, close: () => unknown) => void atEnd(close);
const stack = await startCostStack({
  live: (of) => [...createLiveProviders({ config, ...of, now: () => NOW, logger, onClose }), tinVendor],
  accounts: providerAccounts(config),
  settings: { get: async () => ({ ...unlimited, providerBudgets }) },
});
// The organization has an answer of each check, and is in the lists of vendors.
await stack.verify(0, Mode.REALTIME);
await stack.verify(0, Mode.REALTIME, byTin);
await stack.publish(2);

/** The commands of one call. */
const costOf = (fields: VerifyFields) => stack.count(1, () => stack.verify(0, Mode.REALTIME, fields));

/** The commands of the provider's call itself: its quota and budget, the note that a TIN was revealed, and its answer's body. */
const OF_THE_PROVIDER = [
  "findAndModify provider_calls",
  "findAndModify organization_provider_calls",
  "insert tin_reveals",
  "update evidence_bodies",
];
const besidesProvider = (counts: CommandCounts) =>
  total(Object.fromEntries(Object.entries(counts).filter(([name]) => !OF_THE_PROVIDER.includes(name))));

test("a call that asks SAM.gov's API costs at most 10 commands, beside one for its quota and one for its budget, and one more where the files have another name", async () => {
  const before = sam.calls().length;
  const counts = await costOf({});
  expect(sam.calls()).toHaveLength(before + 1);
  for (const name of OF_THE_PROVIDER.slice(0, 2)) expect(counts[name]).toBe(1);
  expect(besidesProvider(counts)).toBeLessThanOrEqual(10);
  sam.register({ uei: UEI, cage: "1ABC2", legalName: "RENAMED LLC" });
  expect(besidesProvider(await costOf({}))).toBeLessThanOrEqual(10 + 1);
  sam.register({ uei: UEI, cage: "1ABC2", legalName: "REGISTERED LLC" });
});

test.each([
  ["of a vendor named by its entity", 10, () => ({ ...byTin, target: undefined })],
  ["that the call repeats, which is searched", 13, () => byTin],
])(
  "a call that asks a TIN vendor about a TIN %s costs at most %d commands beside those",
  async (_name, most, fields) => {
    const before = answers;
    const { target, ...rest } = fields();
    const counts = await costOf(target ? { target, ...rest } : rest);
    expect(answers).toBe(before + 1);
    expect(counts).toMatchObject({ "findAndModify organization_provider_calls": 1, "update evidence_bodies": 1 });
    expect(besidesProvider(counts)).toBeLessThanOrEqual(most);
  },
);
