import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { startDashboard, type TestDashboard, type Visitor } from "../testing/dashboard.ts";
import { chainOf, ENTITY_ID } from "../testing/fake-entity.ts";
import { EMAIL } from "../testing/fake-services.ts";
import { VERIFICATION_ID, verificationOf } from "../testing/fake-verification.ts";

let dashboard: TestDashboard;
let visitor: Visitor;
const entity = {
  id: ENTITY_ID,
  legalName: "Acme <Widgets>",
  identifiers: { uei: "SANDBXACTVE1", tin: "****6789" },
  samGov: { registrationStatus: "active", expirationDate: "2027-01-31" },
  addresses: [{ type: "physical", line1: "12 OAK ST", city: "RENO", state: "NV", zip: "89501", country: "USA" }],
  sources: [{ name: "sam_gov_extract", version: "monthly.dat" }],
};
const reason = { criterion: "legal_name", outcome: "agrees", weight: 0.9, detail: "in common: acme" };
const address = {
  criterion: "address",
  outcome: "contradicts",
  weight: -0.1,
  detail: "different: house number",
  parts: [{ part: "number", outcome: "contradicts", weight: -1 }],
};

beforeEach(async () => {
  dashboard = await startDashboard();
  visitor = dashboard.visitor();
  await visitor.signIn();
  dashboard.state.calls.length = 0;
  dashboard.state.entities = [entity];
});

afterEach(() => dashboard.close());

const asked = () =>
  JSON.parse(dashboard.state.calls.find((call) => call.startsWith("lookUp "))!.slice("lookUp ".length));

describe("a search", () => {
  test("counts against the organization's requests per minute, and is refused beyond them with Retry-After", async () => {
    for (let search = 0; search < 500; search++) await visitor.get("/live/entities?legal_name=acme");
    const { status, headers, text } = await visitor.get("/live/entities?legal_name=acme");
    expect([status, Number(headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect(text).toContain("500 times a minute");
    expect(dashboard.state.calls.filter((call) => call.startsWith("lookUp "))).toHaveLength(500);
  });

  test("gets an address that can be bookmarked, and shows the entity with the reasons", async () => {
    dashboard.state.found = { entity, confidence: 0.87, explanation: [reason, address] };
    const form = { legal_name: " Acme ", uei: "", cage: "", duns: "", tin: "", address: "12 Oak St", mode: "similar" };
    const { status, location } = await visitor.post("/live/entities", form);
    expect([status, location]).toEqual([303, "/live/entities?legal_name=Acme&address=12+Oak+St#found"]);
    const { text } = await visitor.get(location!);
    expect(asked()).toMatchObject({ legalName: "Acme", address: "12 Oak St", fuzzy: true, explain: true });
    expect(text).toContain(`<a href="/live/entities/${ENTITY_ID}">Acme &lt;Widgets&gt;</a>`);
    expect(text).toContain("<strong>87\u00a0%</strong> confidence");
    expect(text).toContain("In common: acme.");
    expect(text).toContain('different house number</span> <span class="hint">100\u00a0%</span>');
    expect(text).toContain("−0.10");
  });

  test("shows several entities, best first, and what distinguishes them", async () => {
    const other = ENTITY_ID.replace("8", "9");
    dashboard.state.found = {
      candidates: [
        { id: ENTITY_ID, legalName: "Acme One", confidence: 0.8, explanation: [reason] },
        { id: other, legalName: "Acme Two", confidence: 0.7, explanation: [reason] },
      ],
    };
    const { text } = await visitor.get("/test/entities?legal_name=acme");
    expect(text).toContain("2 entities");
    expect(text.indexOf("Acme One")).toBeLessThan(text.indexOf("Acme Two"));
    expect(text).toContain("12 OAK ST, RENO, NV, 89501");
  });

  test("says why nothing was found, and lists the entities of ambiguous identifiers", async () => {
    dashboard.state.failures.set("lookUp", new ServiceError("entity_not_found", { message: "No entity matches." }));
    expect((await visitor.get("/live/entities?uei=X&mode=exact")).text).toContain("No entity matches.");
    expect(asked()).toMatchObject({ identifiers: { uei: "X" } });
    const candidates = [{ id: ENTITY_ID, legalName: "Acme", confidence: 1, explanation: [{ ...address }] }];
    dashboard.state.failures.set("lookUp", new ServiceError("ambiguous_match", { message: "Several.", candidates }));
    const { status, text } = await visitor.get("/live/entities?uei=X");
    expect(status).toBe(200);
    expect(text).toContain("Several.");
    expect(text).toContain("different house number");
  });

  test("by TIN is in no address and on no page", async () => {
    dashboard.state.found = { entity, confidence: 1, explanation: [] };
    const { status, text } = await visitor.post("/live/entities", {
      tin: "12-3456789",
      duns: "123456789",
      legal_name: "",
    });
    expect(status).toBe(200);
    expect(asked().identifiers).toEqual({ duns: "123456789", tin: "123456789" });
    expect(text).not.toMatch(/12-?3456789/);
  });

  test.each(["legal_name", "address"])("refuses a TIN in the field %s, without repeating it", async (name) => {
    const { status, text } = await visitor.post("/live/entities", { [name]: "Drip 12-3456789" });
    expect(status).toBe(400);
    expect(text).toContain("must not contain a TIN");
    expect(text).not.toContain("3456789");
    expect(dashboard.state.calls).toEqual([]);
  });

  test("includes values that are not shown again", async () => {
    dashboard.state.found = { entity, confidence: 1, explanation: [] };
    expect((await visitor.post("/live/entities", { uei: "123456789" })).status).toBe(200);
    expect(asked().identifiers).toEqual({ uei: "123456789" });
  });

  test("without input shows what the organization created", async () => {
    const { text } = await visitor.get("/live/entities");
    expect(text).toContain("Created by your organization");
    expect(text).toContain("Acme &lt;Widgets&gt;");
    expect(dashboard.state.calls).toEqual([]);
  });

  test("reports that the entity service is unavailable", async () => {
    dashboard.state.failures.set("lookUp", new ServiceError("service_unavailable"));
    const { status, text } = await visitor.get("/live/entities?legal_name=acme");
    expect(status).toBe(503);
    expect(text).toContain("The search is temporarily unavailable.");
    expect(text).toContain('value="acme"');
  });
});

describe("an entity's page", () => {
  const first = { legal_name: "ACME WIDGETS", sam_gov: { registration_status: "active" }, addresses: [], sources: [] };
  const second = { ...first, sam_gov: { registration_status: "expired" } };
  const page = () => visitor.get(`/live/entities/${ENTITY_ID}`);

  test("shows its data, its verifications, and what each version changed", async () => {
    dashboard.state.snapshots = chainOf(first, second).reverse();
    dashboard.state.verifications = [verificationOf()];
    const { status, text } = await page();
    expect(status).toBe(200);
    expect(text).toContain("<h1>Acme &lt;Widgets&gt;</h1>");
    expect(text).toContain("12 OAK ST, RENO, NV 89501, USA");
    expect(text).toContain(`href="/live/verifications/${VERIFICATION_ID}"`);
    expect(text).toContain("<del>active</del>");
    expect(text).toContain("<ins>expired</ins>");
    expect(text).toContain("Created by the registry file <code>monthly.dat</code>");
    expect(text).toContain(`a user, <strong>${EMAIL}</strong>`);
    expect(text.match(/chain verified/g)).toHaveLength(2);
    expect(text).not.toContain("chain broken");
  });

  test("shows your vendor number, which can be changed and removed", async () => {
    expect((await page()).text).toContain(`href="/live/entities/${ENTITY_ID}/vendor-number"`);
    const form = `/live/entities/${ENTITY_ID}/vendor-number`;
    for (const [typed, externalId] of [
      [" V-1 ", "V-1"],
      ["", ""],
    ]) {
      const { status, location } = await visitor.post(form, { external_id: typed! });
      expect([status, location]).toEqual([303, `/live/entities/${ENTITY_ID}?done=numbered`]);
      expect(dashboard.state.calls.at(-1)).toBe(`setExternalId ${ENTITY_ID} ${JSON.stringify(externalId)}`);
      const { text } = await visitor.get(location!);
      expect(text).toContain("Your vendor number was saved.");
      expect(text.includes("<code>V-1</code>")).toBe(externalId === "V-1");
    }
  });

  test("keeps the vendor number if the new one is refused, and repeats nothing that looks like a TIN", async () => {
    const form = `/live/entities/${ENTITY_ID}/vendor-number`;
    const invalid = await visitor.post(form, { external_id: "x".repeat(256) });
    expect([invalid.status, dashboard.state.calls]).toEqual([400, []]);
    const details = [{ path: "external_id", message: "must not be the TIN" }];
    dashboard.state.failures.set("setExternalId", new ServiceError("invalid_request", { details }));
    const { status, text } = await visitor.post(form, { external_id: "12-3456789" });
    expect(status).toBe(400);
    expect(text).toContain("The vendor number must not be the TIN.");
    expect(text).not.toContain("3456789");
  });

  test("reports versions that were altered or are missing", async () => {
    const [one, two, three] = chainOf(first, second, first);
    dashboard.state.snapshots = [two!, { ...one!, entity: second }];
    expect((await page()).text).toContain("The hash does not match the content.");
    dashboard.state.snapshots = [three!, one!];
    const { text } = await page();
    expect(text).toContain("The hash of the previous version is wrong.");
    expect(text).toContain("The chain of versions is broken");
  });

  test("pages to older versions, and compares versions across pages", async () => {
    const versions = Array.from({ length: 21 }, (_, index) => (index % 2 === 0 ? first : second));
    dashboard.state.snapshots = chainOf(...versions).map((each, index) => ({
      ...each,
      createdAt: each.createdAt!,
      id: `snp_01m7ygvppkf9m8p9ecpfzd1${String(index).padStart(3, "0")}`,
    }));
    dashboard.state.snapshots.reverse();
    const { text } = await page();
    expect(text.match(/<h3>Version/g)).toHaveLength(20);
    expect(text.match(/<table class="changed">/g)).toHaveLength(20);
    const [, older] = /href="([^"]+)" rel="next">Older</.exec(text)!;
    const next = await visitor.get(older!.replaceAll("&amp;", "&"));
    expect(next.text.match(/<h3>Version/g)).toHaveLength(1);
    expect(next.text).toContain(`href="/live/entities/${ENTITY_ID}">Newest</a>`);
  });

  test("is complete except for unavailable parts", async () => {
    dashboard.state.failures.set("listSnapshots", new ServiceError("service_unavailable"));
    await dashboard.stopVerification();
    const { status, text } = await page();
    expect(status).toBe(200);
    expect(text).toContain("The history is temporarily unavailable.");
    expect(text).toContain("Verifications are temporarily unavailable.");
    dashboard.state.failures.set("getEntity", new ServiceError("service_unavailable"));
    expect((await page()).status).toBe(503);
  });

  test("of another organization, or without an entity, is not found", async () => {
    dashboard.state.entities = [];
    expect((await page()).status).toBe(404);
    expect((await visitor.get("/live/entities/ent_x")).status).toBe(404);
  });
});
