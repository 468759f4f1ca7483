import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import type { Product } from "../../deploy/local/product.ts";
import { withAccounts } from "../../deploy/local/seed.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { expectSound } from "../browser/appearance.ts";
import { launchBrowser, newProfile } from "../browser/browser.ts";
import { expectNoComplaints, signIn } from "../browser/dashboard-page.ts";
import { type PlayedCompliancely, playCompliancely } from "../outside/compliancely.ts";
import { type PlayedSamGov, playSamGov } from "../outside/sam-gov.ts";
import { formsOf, type PlayedTaxBandits, playTaxBandits } from "../outside/taxbandits.ts";
import { startOtlpReceiver } from "../setup/otlp-receiver.ts";
import { whenAdmitted } from "../support/api.ts";
import { everyDocument, everyLog, everyRecord, formsOfText, withoutTimes } from "../support/everything.ts";
import { todaysExclusions } from "../support/exclusions-file.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { ownPlace } from "../support/own-place.ts";
import { startSubscriber } from "../support/subscriber.ts";

// The whole product with all live providers, which are simulated. The tests build on each other and run in order.

/** Listed as active in the sample extract. */
const UEI = "ZZNRTHWND001";
const OTHER_UEI = "ZZHARBRLT002";
const TIN = "481516230";
const sandboxMatch = {
  identifiers: { tin: TIN },
  legal_name: "Northwind Bridgeworks, Inc.",
  checks: ["tin_match"],
  mode: "realtime",
};
const place = ownPlace();
const { prefix, folder, logDir } = place;
const spansFile = join(folder, "spans.jsonl");

let sam: PlayedSamGov;
let taxbandits: PlayedTaxBandits;
let compliancely: PlayedCompliancely;
let product: Product;
let organization: TestOrganization;
/** Has spent its budget for direct calls at SAM.gov. */
let spender: TestOrganization;

beforeAll(async () => {
  [sam, taxbandits, compliancely] = [await playSamGov(), await playTaxBandits(), await playCompliancely()];
  product = await place.startProduct({
    registry: join(projectRoot, "test/fixtures/sam/registry.dat"),
    exclusions: todaysExclusions(folder),
    environment: {
      LOG_LEVEL: "trace",
      OTEL_EXPORTER_OTLP_ENDPOINT: await startOtlpReceiver(spansFile),
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "200",
      SAM_GOV_API_KEY: sam.apiKey,
      SAM_GOV_BASE_URL: sam.baseUrl,
      SAM_GOV_ENTITY_VERSION: "v4",
      SAM_GOV_KEY_ISSUED_ON: "2026-01-01",
      TAXBANDITS_CLIENT_ID: taxbandits.credentials.clientId,
      TAXBANDITS_CLIENT_SECRET: taxbandits.credentials.clientSecret,
      TAXBANDITS_USER_TOKEN: taxbandits.credentials.userToken,
      TAXBANDITS_AUTH_URL: taxbandits.authUrl,
      TAXBANDITS_BASE_URL: taxbandits.baseUrl,
      COMPLIANCELY_API_KEY: compliancely.apiKey,
      COMPLIANCELY_BASE_URL: compliancely.baseUrl,
      CIRCUIT_OPEN_MS: "1000",
    },
  });
  organization = await createOrganization({ product });
  sam.register({ uei: UEI, cage: "9ZZA1", legalName: "NORTHWIND BRIDGEWORKS, INC.", expirationDate: "2099-01-31" });
}, 180_000);

beforeEach(() => {
  sam.behave();
  taxbandits.behave("by_digit");
  compliancely.behave("at_once");
});

async function verify(checks: string[] = ["sam_registration"], by = organization, uei = UEI) {
  const identifiers = { uei, ...(checks.includes("tin_match") && { tin: TIN }) };
  const legal_name = "Northwind Bridgeworks, Inc.";
  const request = { identifiers, legal_name, checks, mode: "realtime" };
  const { body } = await whenAdmitted(() => by.live.post("/v1/verify", request));
  return body as {
    id: string;
    entity_id: string;
    results: { status: string; origin: string; reason?: string; evidence_uri: string }[];
  };
}

const outcomes = async (checks?: string[], by = organization) =>
  (await verify(checks, by)).results.map(({ status, origin }) => `${status} by ${origin}`);

async function stateOf(name: string): Promise<string> {
  const { body } = await organization.live.get("/v1/providers");
  return body.providers.find((provider: { name: string }) => provider.name === name).state;
}

test("the first provider of each check answers", async () => {
  expect(await outcomes(["sam_registration", "tin_match"])).toEqual(["pass by sam_gov_api", "pass by taxbandits"]);
  expect(sam.calls("entities").map(({ version }) => version)).toEqual(["v4"]);
});

test("if the first provider gives no answer the next one does, and the evidence shows both attempts", async () => {
  sam.misbehave({ kind: "cut" });
  taxbandits.behave("on_hold");
  // A new organization has no stored answer of the API, which would be newer than the extract.
  const other = await createOrganization({ product });
  const { results } = await verify(["sam_registration", "tin_match"], other);
  expect(results.map(({ origin }) => origin)).toEqual(["sam_gov_extract", "compliancely"]);
  const evidence = await Promise.all(results.map(({ evidence_uri }) => other.live.get(evidence_uri)));
  expect(evidence.map(({ body }) => body.attempts)).toEqual([
    [
      expect.objectContaining({ provider: "sam_gov_api", outcome: "throw", reason: "connection" }),
      expect.objectContaining({ provider: "sam_gov_extract", outcome: "pass" }),
    ],
    [
      expect.objectContaining({ provider: "taxbandits", outcome: "throw" }),
      expect.objectContaining({ provider: "compliancely", outcome: "pass" }),
    ],
  ]);
});

test("a burst of one organization spends only its own budget; its monitors keep their reserve, and another organization is answered beside it", async () => {
  const [attacker, beside] = [await createOrganization({ product }), await createOrganization({ product })];
  spender = attacker;
  const budget = { per_minute: 1_000, per_day: 8 };
  await withAccounts(product.environment, ({ organizations }) =>
    organizations.setProviderBudget({ actor: "test", requestId: "test" }, attacker.id, "sam_gov_api", budget),
  );
  const attemptsOf = async ({ results }: Awaited<ReturnType<typeof verify>>, by: TestOrganization) => {
    const { body } = await whenAdmitted(() => by.live.get(results[0]!.evidence_uri));
    return body.attempts.map((each: Record<string, string>) =>
      `${each.provider} ${each.outcome} ${each.reason ?? ""}`.trim(),
    );
  };
  const burst = await Promise.all(Array.from({ length: 20 }, () => verify(undefined, attacker)));
  const attempts = await Promise.all(burst.map((each) => attemptsOf(each, attacker)));
  const isSpent = ([first]: string[]) => first === "sam_gov_api throw budget_spent";
  expect(attempts.filter((each) => !isSpent(each))).toEqual(Array.from({ length: 4 }, () => ["sam_gov_api pass"]));
  expect(attempts.filter(isSpent)[0]).toEqual(["sam_gov_api throw budget_spent", "sam_gov_extract pass"]);
  expect(burst.filter(({ results }) => results[0]!.status !== "pass")).toEqual([]);

  expect(await attemptsOf(await verify(undefined, beside), beside)).toEqual(["sam_gov_api pass"]);
  const monitored = { entity_id: burst[0]!.entity_id, checks: ["sam_registration"] };
  const { body: monitor } = await attacker.live.post("/v1/monitors", monitored);
  const run = await eventually(async () => (await attacker.live.get(`/v1/monitors/${monitor.id}`)).body.last_run);
  const { body: verification } = await attacker.live.get(`/v1/verifications/${run.verification_id}`);
  expect(await attemptsOf(verification, attacker)).toEqual(["sam_gov_api pass"]);
});

test("operator: the overview says that a budget is spent, usage and evidence say what that means, and the operators' page shows whose it is", async () => {
  const browser = await launchBrowser();
  const context = await newProfile(browser, { baseURL: product.dashboardUrl });
  expectNoComplaints(context);
  const page = await context.newPage();
  const sections = page.getByRole("navigation", { name: "Sections" });
  await signIn(page, spender);
  const item = page
    .getByRole("region", { name: "To do today" })
    .getByRole("listitem")
    .filter({ hasText: "out of budget" });
  expect(await item.textContent()).toContain(
    "Your calls to SAM.gov API for the API and the dashboard are used up until midnight UTC",
  );
  await expectSound(page, "an overview with a spent budget");
  await item.getByRole("link").click();
  const budget = page.getByRole("region", { name: "Your calls to providers today" });
  expect(await budget.getByRole("row", { name: "SAM.gov API" }).textContent()).toMatch(/[48].*0 left/s);
  await budget.getByText("SAM.gov API is not called for the API and the dashboard again until midnight UTC").waitFor();
  await expectSound(page, "usage with a spent budget");

  await sections.getByRole("link", { name: "Verifications" }).click();
  await page.getByRole("link", { name: "Run a verification" }).click();
  await page.getByLabel("UEI").fill(UEI);
  await page.getByRole("button", { name: "Run verification" }).click();
  await page.getByRole("link", { name: /evidence of/i }).click();
  const attempt = page.getByRole("row", { name: "SAM.gov API" });
  expect(await attempt.textContent()).toMatch(/no answer.*all the calls that its plan allows.*budget_spent/s);
  await expectSound(page, "evidence with a spent budget");

  const operator = { email: spender.email, isOperator: true };
  await withAccounts(product.environment, ({ operatedUsers }) =>
    operatedUsers.setOperator({ actor: "test", requestId: "test" }, operator),
  );
  await sections.getByRole("link", { name: "Providers" }).click();
  await page.getByRole("link", { name: "Calls per day" }).click();
  const row = page
    .getByRole("region", { name: "Organizations with the most calls today" })
    .getByRole("row", { name: spender.id });
  expect(await row.textContent()).toMatch(/out of budget.*[48] spent, 0 left.*spent, \d left/s);
  await expectSound(page, "the operators' page");
});

test("a monitor's run asks SAM.gov too", async () => {
  const subscriber = await startSubscriber();
  const { entity_id } = await verify();
  const created = await organization.live.post("/v1/monitors", {
    entity_id,
    checks: ["sam_registration"],
    webhook_url: subscriber.url,
  });
  expect(created.status).toBe(201);
  const run = await eventually(async () => {
    const { body } = await organization.live.get(`/v1/monitors/${created.body.id}`);
    return body.last_run;
  });
  const { body } = await organization.live.get(`/v1/verifications/${run.verification_id}`);
  expect(body.results[0]).toMatchObject({ status: "pass", origin: "sam_gov_api" });
});

test("a provider that keeps failing is no longer called, is shown as unavailable, and comes back", async () => {
  const other = await createOrganization({ product });
  sam.misbehave({ kind: "status", status: 503 });
  await eventually(async () => {
    expect(await outcomes(undefined, other)).toEqual(["pass by sam_gov_extract"]);
    // Faults of one vendor only never open the circuit.
    await verify(undefined, other, OTHER_UEI);
    return (await stateOf("sam_gov_api")) === "unavailable";
  });
  sam.behave();
  await eventually(async () => (await outcomes(undefined, other))[0] === "pass by sam_gov_api");
  await eventually(async () => (await stateOf("sam_gov_api")) === "available");
});

test("a provider with a used-up quota is not called until the reset, even after a restart, and then is called again", async () => {
  const other = await createOrganization({ product });
  const reset = new Date(Date.now() + 15_000);
  sam.misbehave({ kind: "throttled", shape: "flat", nextAccessTime: reset.toISOString() }, { calls: 1 });
  expect(await outcomes(undefined, other)).toEqual(["pass by sam_gov_extract"]);
  await eventually(async () => (await stateOf("sam_gov_api")) === "unavailable");
  const calls = sam.calls().length;
  const before = product.services.pid("verification");
  process.kill(before, "SIGTERM");
  await eventually(async () => {
    if (product.services.pid("verification") === before) return false;
    return (await organization.live.get("/v1/providers")).status === 200;
  });
  const { results } = await verify(undefined, other);
  if (new Date() < reset) {
    expect(results[0]?.origin).toBe("sam_gov_extract");
    expect(sam.calls()).toHaveLength(calls);
  }
  await eventually(async () => (await outcomes(undefined, other))[0] === "pass by sam_gov_api", { everyMs: 500 });
  expect(Date.now()).toBeGreaterThanOrEqual(reset.getTime());
}, 120_000);

test("an organization asks about TINs only once the operator has approved it, and no longer after that is withdrawn", async () => {
  const [newcomer, withdrawn] = [
    await createOrganization({ product, liveTinMatch: false }),
    await createOrganization({ product }),
  ];
  const reasonOf = async (by: TestOrganization) => (await verify(["tin_match"], by)).results[0]!.reason ?? "";
  const approve = ({ id }: TestOrganization, isApproved: boolean) =>
    withAccounts(product.environment, (accounts) =>
      accounts.organizations.setLiveTinMatch({ actor: "operator", requestId: "" }, id, isApproved),
    );
  expect(await reasonOf(withdrawn)).toBe("");
  const asked = taxbandits.matchCalls().length;
  const { entity_id, results } = await verify(["tin_match"], newcomer);
  expect(results).toMatchObject([{ status: "error", origin: "none", reason: "not_enabled" }]);
  const { body: monitor } = await newcomer.live.post("/v1/monitors", { entity_id, checks: ["tin_match"] });
  const run = await eventually(async () => (await newcomer.live.get(`/v1/monitors/${monitor.id}`)).body.last_run);
  expect(run).toMatchObject({ outcome: "error" });
  expect((await newcomer.sandbox.post("/v1/verify", sandboxMatch)).body.results).toMatchObject([{ status: "pass" }]);
  expect(taxbandits.matchCalls()).toHaveLength(asked);
  await Promise.all([approve(newcomer, true), approve(withdrawn, false)]);
  await eventually(async () => (await reasonOf(newcomer)) === "", { everyMs: 500 });
  expect(taxbandits.matchCalls()).toHaveLength(asked + 1);
  await eventually(async () => (await reasonOf(withdrawn)) === "not_enabled", { everyMs: 500 });
}, 120_000);

test("no credential and no TIN appears in any log, span, record, document or provider's URL", async () => {
  sam.misbehave({ kind: "status", status: 403, text: `{"key":"${sam.apiKey}"}` });
  taxbandits.behave("indiscreet");
  await verify(["sam_registration", "tin_match"]);
  taxbandits.behave("down");
  compliancely.behave("indiscreet");
  await verify(["sam_registration", "tin_match"]);
  const { clientId: _public, ...credentials } = taxbandits.credentials;
  const secrets = [sam.apiKey, compliancely.apiKey, ...Object.values(credentials), ...formsOf(TIN)];
  const places: Readonly<Record<string, string>> = {
    ...everyLog(logDir),
    spans: await eventually(async () => {
      const text = await readFile(spansFile, "utf8").catch(() => "");
      return text.includes("ask compliancely") && withoutTimes(text);
    }),
    records: await everyRecord({ environment: product.environment, prefix }),
    documents: await everyDocument({ environment: product.environment, prefix }),
    urls: [
      ...sam.calls().map(({ query }) => query),
      ...taxbandits.calls.map(({ url }) => url),
      ...compliancely.calls.map(({ url }) => url),
    ]
      .map((each) => JSON.stringify(each))
      .join("\n"),
  };
  const found = Object.entries(places).flatMap(([place, text]) => {
    const lower = text.toLowerCase();
    return secrets
      .filter((secret) => formsOfText(secret).some((form) => lower.includes(form.toLowerCase())))
      .map((secret) => `${place}: ${secret}`);
  });
  expect(found).toEqual([]);
  // The search covers real data: the masked TIN is in the evidence.
  expect(places.documents?.includes(`****${TIN.slice(5)}`)).toBe(true);
});
