import { beforeAll, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import type { Product } from "../../deploy/local/product.ts";
import { loadRegistry } from "../../deploy/local/registry.ts";
import {
  extractRowText,
  extractText,
  writeText,
} from "../../services/entity/src/registry-load/testing/registry-files.ts";
import { launchBrowser, newProfile } from "../browser/browser.ts";
import { sendTestEvent, signIn } from "../browser/dashboard-page.ts";
import { type PlayedTaxBandits, playTaxBandits } from "../outside/taxbandits.ts";
import { exclusionsFileName } from "../support/exclusions-file.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { ownPlace } from "../support/own-place.ts";
import { startSubscriber } from "../support/subscriber.ts";

// Inputs from public bug reports of people who do this job, each with what is right. They go through the operator's command
// that loads files, the API and the dashboard. No SAM.gov key is configured, so the files decide.

const place = ownPlace();
const DAY_MS = 86_400_000;
const started = Date.now();
const dayBefore = (days: number) => new Date(started - days * DAY_MS).toISOString().slice(0, 10);
/** Today in Washington, whose days are the registry's. */
const washingtonToday = new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York" }).format(started);
const compact = (date: string) => date.replaceAll("-", "");

const DATES = { 9: "20991231" };
const vendor = (uei: string, cage = "", fields: Record<number, string> = {}) =>
  extractRowText({ ...DATES, 1: uei, 4: cage, 12: `${uei} LLC`, ...fields });
const address = (line1: string) => ({ 16: line1, 18: "AUSTIN", 19: "TX", 20: "78744" });

/** In both extracts. */
const vendors = [
  ...["CASE01UEI001", "CASE02UEI001", "CASE02UEI002", "CASE02UEI006", "CASE02UEI007"].map((uei) => vendor(uei)),
  vendor("CASE02UEI003", "1ABC2"),
  vendor("CASE02UEI004", "00000"),
  vendor("CASE03UEI001", "", { 9: compact(washingtonToday) }),
  vendor("CASE03UEI002", "", { 6: "E", 9: compact(dayBefore(3)) }),
  vendor("C6T9BYG5EYX5", "1AAA1"),
  vendor("C6T9BYG5EYX5", "2BBB2", { 3: "0001" }),
  vendor("CASE10UEI001", "", { 12: "CAPITOL HARDWARE LLC", ...address("5717 S IH 35 STE 101") }),
  vendor("CASE10UEI002", "", { 12: "LONE STAR BEARINGS LLC", ...address("5717 S INTERSTATE 35") }),
  vendor("CASE14UEI001", "", { 12: "LUKOIL OIL COMPANY" }),
  vendor("CASE14UEI002", "", { 12: "NPK FOTONIKA LLC" }),
];

function writeExtract(cut: string, rows: string[]): Promise<string> {
  const text = extractText(rows).replaceAll("20260906", compact(cut));
  return writeText(`SAM_PUBLIC_MONTHLY_V2_${compact(cut)}.dat`, text);
}

const TITLES =
  "Classification,Name,Unique Entity ID,Exclusion Program,Excluding Agency,CT Code,Exclusion Type," +
  "Additional Comments,Active Date,Termination Date,SAM Number,CAGE,Creation_Date";
interface Excluded {
  readonly uei?: string;
  readonly cage?: string;
  readonly samNumber?: string;
  readonly classification?: string;
  readonly active?: string;
}
const exclusion = ({ uei = "", cage = "", samNumber = "", classification = "Firm", active = "02/23/2026" }: Excluded) =>
  `${classification},X,${uei},Reciprocal,GSA,R,Ineligible,,${active},Indefinite,${samNumber},${cage},02/23/2026`;
const numbered = (count: number, more: Excluded = {}) =>
  Array.from({ length: count }, (_, index) => {
    const number = String(index).padStart(6, "0");
    return exclusion({ uei: `FILLER${number}`, samNumber: `S4FILL${number}`, ...more });
  });

function writeExclusions(offset: number, rows: string[]): Promise<string> {
  return writeText(exclusionsFileName(new Date(started + offset * DAY_MS)), [TITLES, ...rows, ""].join("\n"));
}

let taxbandits: PlayedTaxBandits;
let product: Product;
let organization: TestOrganization;

const load = (files: { registry?: string; exclusions?: string }) =>
  loadRegistry({
    registry: undefined,
    exclusions: undefined,
    ...files,
    environment: product.environment,
    log: () => undefined,
  });

beforeAll(async () => {
  taxbandits = await playTaxBandits();
  product = await place.startProduct({
    registry: await writeExtract(dayBefore(2), [...vendors, vendor("CASE05UEI00A", "5XXX5")]),
    exclusions: await writeExclusions(0, [
      ...numbered(5),
      ...numbered(1_990, { samNumber: "" }),
      exclusion({ uei: "CASE01UEI001" }),
      exclusion({ uei: "CASE02UEI001", cage: "N/A" }),
      exclusion({ uei: "CASE02UEI002", cage: "0" }),
      exclusion({ uei: "N0TAPPLICABL", cage: "1ABC2" }),
      exclusion({ cage: "00000" }),
      exclusion({ uei: "CASE02UEI006", active: "99/99/2026" }),
    ]),
    environment: {
      LOG_LEVEL: "debug",
      TAXBANDITS_CLIENT_ID: taxbandits.credentials.clientId,
      TAXBANDITS_CLIENT_SECRET: taxbandits.credentials.clientSecret,
      TAXBANDITS_USER_TOKEN: taxbandits.credentials.userToken,
      TAXBANDITS_AUTH_URL: taxbandits.authUrl,
      TAXBANDITS_BASE_URL: taxbandits.baseUrl,
    },
  });
  organization = await createOrganization({ product });
}, 180_000);

const lookUp = (criteria: object) => organization.live.post("/v1/entities/lookup", criteria);
const verify = (identifiers: object, more: object = {}) =>
  organization.live.post("/v1/verify", { identifiers, checks: ["sam_registration"], mode: "realtime", ...more });

/** The outcome of the registration check of a vendor, with its reason. */
async function registrationOf(identifiers: object): Promise<string> {
  const { body } = await verify(identifiers);
  const { status, reason } = body.results[0];
  return [status, reason].filter(Boolean).join(" ");
}

test.each([
  ["C01", "a row without a SAM number", { uei: "CASE01UEI001" }, "fail excluded"],
  ["C02", "a row with a UEI and the CAGE N/A", { uei: "CASE02UEI001" }, "fail excluded"],
  ["C02", "a row with a UEI and the CAGE 0", { uei: "CASE02UEI002" }, "fail excluded"],
  ["C02", "a row with a CAGE and the UEI N0TAPPLICABL", { uei: "CASE02UEI003" }, "fail excluded"],
  ["C02", "a row with the CAGE 00000 only, which concerns nobody", { uei: "CASE02UEI004" }, "pass"],
  ["C02", "a row with a malformed date", { uei: "CASE02UEI006" }, "fail excluded"],
  ["C02", "no row", { uei: "CASE02UEI007" }, "pass"],
  ["C03", "a registration that expires today in Washington", { uei: "CASE03UEI001" }, "pass"],
  ["C03", "a registration that expired", { uei: "CASE03UEI002" }, "fail expired"],
  ["C04", "the first CAGE of a UEI", { uei: "C6T9BYG5EYX5", cage: "1AAA1" }, "pass"],
  ["C04", "the second CAGE of a UEI", { uei: "C6T9BYG5EYX5", cage: "2BBB2" }, "pass"],
])("%s: a vendor with %s: %j is %s", async (_case, _what, identifiers, outcome) => {
  expect(await registrationOf(identifiers)).toBe(outcome);
});

test("C01: an exclusions file that is mostly unreadable is refused, and clears nobody", async () => {
  const rows = [...numbered(200), ...numbered(1_800, { classification: "Planet" })];
  const loading = writeExclusions(1, rows).then((exclusions) => load({ exclusions }));
  await expect(loading).rejects.toThrow("1800 of the 2000 rows");
  expect(await registrationOf({ uei: "CASE01UEI001" })).toBe("fail excluded");
});

test.each(["1AAA1", "2BBB2"])("C04: the vendor is found by its CAGE %s", async (cage) => {
  const { status, body } = await lookUp({ identifiers: { cage } });
  expect([status, body.identifiers?.uei]).toEqual([200, "C6T9BYG5EYX5"]);
});

test("C05: a CAGE that moved leads to its new vendor; the one that a complete file lacks is inactive", async () => {
  const { id } = (await lookUp({ identifiers: { cage: "5XXX5" } })).body;
  await load({ registry: await writeExtract(dayBefore(1), [...vendors, vendor("CASE05UEI00B", "5XXX5")]) });
  const moved = await lookUp({ identifiers: { cage: "5XXX5" } });
  expect([moved.status, moved.body.identifiers?.uei]).toEqual([200, "CASE05UEI00B"]);
  expect((await verify({ cage: "5XXX5" })).body.entity_id).toBe(moved.body.id);
  const gone = await organization.live.get(`/v1/entities/${id}`);
  expect([gone.status, gone.body.sam_gov.registration_status]).toEqual([200, "inactive"]);
});

test.each([
  ["C06", { tin: "1234567" }, "leading zeros"],
  ["C06", { tin: "12-345678" }, "leading zeros"],
  ["C07", { tin: "99-9999999" }, "placeholder"],
  ["C07", { tin: "00-0000000" }, "leave it out"],
  ["C07", { tin: "123456789" }, "placeholder"],
  ["C07", { tin: "987654321" }, "placeholder"],
  ["C07", { uei: "SANDBXACTVE1" }, "test key"],
])("%s: creating and verifying %j is 400, which mentions %s", async (_case, identifiers, hint) => {
  const created = await organization.live.post("/v1/entities", { legal_name: "Acme", identifiers });
  for (const { status, body } of [await verify(identifiers), created]) {
    expect([status, body.error, body.message]).toEqual([400, "invalid_request", expect.stringContaining(hint)]);
  }
});

test("C08: a test event from the dashboard says in its body that it is one", async () => {
  const subscriber = await startSubscriber();
  const browser = await launchBrowser();
  const page = await (await newProfile(browser, { baseURL: product.dashboardUrl })).newPage();
  await signIn(page, organization);
  await page.goto("/test/webhooks/test");
  await sendTestEvent(page, subscriber.url);
  const [post] = await eventually(() => subscriber.received.length > 0 && subscriber.received);
  expect(JSON.parse(post!.body)).toMatchObject({ event: "monitor.change_detected", test: true });
}, 60_000);

test.each([
  ["A&amp;M Foods LLC", "A&M Foods LLC"],
  ["NestlÃ© USA", "Nestle USA"],
])("C09: the IRS is asked about the name %s as %s", async (legal_name, asked) => {
  const { body } = await verify({ tin: "481516230" }, { legal_name, checks: ["tin_match"] });
  expect(body.results[0]).toMatchObject({ status: "pass", origin: "taxbandits", details: { name: asked } });
  expect(taxbandits.matchCalls().at(-1)!.body).toContain(JSON.stringify(asked));
});

test.each([
  ["CAPITOL HARDWARE LLC", "exact"],
  ["CAPITOL HARDWARE LLC", "fuzzy"],
  ["LONE STAR BEARINGS LLC", "fuzzy"],
])("C10: %s is found by its highway written in another way, %s", async (legal_name, mode) => {
  const written = "5717 S. IH-35, Ste. 101 Austin, TX 78744";
  const { status, body } = await lookUp({ legal_name, address: written, mode });
  expect([status, body.legal_name]).toEqual([200, legal_name]);
});

test.each([
  ["LUKOIL OIL COMP", "LUKOIL OIL COMPANY"],
  ["NPK FOTONIKA LIMITED LIABILITY COMP", "NPK FOTONIKA LLC"],
])("C14: %s is exactly %s", async (asked, legal_name) => {
  const { status, body } = await lookUp({ legal_name: asked });
  expect([status, body.legal_name]).toEqual([200, legal_name]);
});

test("C15: a shared legal form makes no other company certain, in any script", async () => {
  const created = await organization.live.post("/v1/entities", { legal_name: "บริษัท ทรู จำกัด" });
  expect((await lookUp({ legal_name: "บริษัท ทรู จำกัด", mode: "fuzzy" })).body.id).toBe(created.body.id);
  expect((await lookUp({ legal_name: "บริษัท ปตท จำกัด", mode: "fuzzy" })).status).toBe(404);
});

test("C15: a legal form at either end of a name is one", async () => {
  const created = await organization.live.post("/v1/entities", { legal_name: "Dacia SRL" });
  const { status, body } = await lookUp({ legal_name: "S.C. Dacia S.R.L.", mode: "fuzzy" });
  expect([status, body.id]).toEqual([200, created.body.id]);
});
