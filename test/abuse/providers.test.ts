import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode, type VerifyRequest } from "@vvs/proto/verification/v1/verification";
import { type PlayedSamGov, playSamGov } from "../outside/sam-gov.ts";
import { type PlayedTaxBandits, playTaxBandits } from "../outside/taxbandits.ts";
import { ownPlace } from "../support/own-place.ts";
import { testServers } from "../support/test-servers.ts";
import { startVerificationStack, type VerificationStack } from "../support/verification-stack.ts";

// Attacks on what all organizations share at providers. Verification and entity run with simulated providers.

/** Calls at SAM.gov's API that one organization may cause in a day; half of them are kept for its monitors. */
const DAY_BUDGET = 40;
/** Calls of one organization at once, of which none is refused because too many wait, on however slow a machine. */
const BURST = 16;
/** As the gateway waits for a verification. */
const TIMEOUT_MS = 24_500;
/** Listed as active in the sample extract. */
const [UEI, OTHER_UEI] = ["ZZNRTHWND001", "ZZHARBRLT002"];
const place = ownPlace();

let sam: PlayedSamGov;
let taxbandits: PlayedTaxBandits;
let stack: VerificationStack;
let attacker: string;
let neighbour: string;

beforeAll(async () => {
  [sam, taxbandits] = [await playSamGov(), await playTaxBandits()];
  stack = await startVerificationStack({
    ...{ servers: testServers(), prefix: place.prefix, folder: place.folder },
    environment: {
      SAM_GOV_API_KEY: sam.apiKey,
      SAM_GOV_BASE_URL: sam.baseUrl,
      SAM_GOV_ENTITY_VERSION: "v4",
      SAM_GOV_KEY_ISSUED_ON: "2026-01-01",
      TAXBANDITS_CLIENT_ID: taxbandits.credentials.clientId,
      TAXBANDITS_CLIENT_SECRET: taxbandits.credentials.clientSecret,
      TAXBANDITS_USER_TOKEN: taxbandits.credentials.userToken,
      TAXBANDITS_AUTH_URL: taxbandits.authUrl,
      TAXBANDITS_BASE_URL: taxbandits.baseUrl,
    },
    providerBudgets: [{ provider: "sam_gov_api", perMinute: 1_000, perDay: DAY_BUDGET }],
    log: () => undefined,
  });
  for (const uei of [UEI, OTHER_UEI]) sam.register({ uei, legalName: "NORTHWIND BRIDGEWORKS, INC." });
}, 120_000);
afterAll(async () => {
  await stack.stop();
  await stack.remove();
  await Promise.all([sam.close(), taxbandits.close(), place.close()]);
}, 60_000);
beforeEach(() => {
  sam.behave();
  [attacker, neighbour] = [newId("org"), newId("org")];
});

/** Makes a realtime call with one check; returns its status and reason, and each attempt at a provider. */
async function verify(organizationId: string, check: CheckType, vendor: object) {
  const caller = { tenant: { organizationId, environment: Environment.LIVE }, actor: "key_1" };
  const target = { case: "vendor", value: vendor } as VerifyRequest["target"];
  const request = { caller, target, checks: [check], mode: Mode.REALTIME };
  const [result] = (await stack.verifications.verify(request, { timeoutMs: TIMEOUT_MS })).verification!.results;
  const { evidence } = await stack.verifications.getEvidence({ caller, evidenceId: result!.evidenceId });
  return {
    status: CheckStatus[result!.status],
    reason: result!.reason,
    attempts: evidence!.attempts.map(({ provider, outcome, reason }) => `${provider} ${outcome} ${reason}`.trim()),
  };
}
const registration = (organizationId: string, uei: string) =>
  verify(organizationId, CheckType.SAM_REGISTRATION, { identifiers: { uei } });
const atOnce = <T>(count: number, call: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index)));

test("a burst of one organization spends only its own budget at SAM.gov, and another one is answered beside it", async () => {
  const attack = () => atOnce(BURST, () => registration(attacker, UEI));
  const [first, beside] = await Promise.all([attack(), atOnce(5, () => registration(neighbour, UEI))]);
  const burst = [...first, ...(await attack())];
  expect(beside.map(({ attempts }) => attempts)).toEqual(Array(5).fill(["sam_gov_api pass"]));
  const isSpent = ({ attempts }: (typeof burst)[number]) => attempts[0] === "sam_gov_api throw budget_spent";
  expect(burst.filter(isSpent)).toHaveLength(2 * BURST - DAY_BUDGET / 2);
  // Who has spent its budget gets the next provider's answer.
  expect(new Set(burst.map(({ status }) => status))).toEqual(new Set(["PASS"]));
});

test("ten TINs tried on one name at the same moment are asked five times, however it is spelled, and harm no other organization", async () => {
  const spellings = ["Pat Oakenfold", "OAKENFOLD, PAT", "Pát  Oakenfold, LLC", "The Pat-Oakenfold Co."];
  const match = (organizationId: string, tin: string, legalName: string) =>
    verify(organizationId, CheckType.TIN_MATCH, { identifiers: { tin }, legalName });
  const asked = taxbandits.matchCalls().length;
  // The last digit is the IRS's answer: 3 is a mismatch.
  const tried = await atOnce(10, (index) => match(attacker, `5283649${index}3`, spellings[index % spellings.length]!));
  const reasons = tried.map(({ reason }) => reason).toSorted();
  expect(reasons).toEqual([...Array(5).fill("mismatch"), ...Array(5).fill("too_many_attempts")]);
  // A number and a name that may be a person's are asked about as an EIN, then as an SSN.
  const tins = taxbandits
    .matchCalls()
    .slice(asked)
    .map(({ body }) => JSON.parse(body).TIN);
  expect(new Set(tins).size).toBe(5);
  expect(await match(neighbour, "528364910", "Pat Oakenfold")).toMatchObject({ status: "PASS" });
});

test.each([
  ["fails", "http_500", { kind: "status", status: 500 }],
  ["cuts the connection", "connection", { kind: "cut" }],
] as const)(
  "one input for which SAM.gov %s, repeated by one organization, keeps no other organization from its answers",
  async (_what, reason, how) => {
    sam.misbehave(how, { about: UEI });
    // Far more than the faults that open a circuit. One after the other, since questions at the same time share a call.
    for (let time = 0; time < DAY_BUDGET / 2; time++) {
      expect((await registration(attacker, UEI)).attempts[0]).toBe(`sam_gov_api throw ${reason}`);
    }
    expect((await registration(neighbour, OTHER_UEI)).attempts).toEqual(["sam_gov_api pass"]);
  },
);
