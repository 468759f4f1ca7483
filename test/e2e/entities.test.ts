import { createHash, randomInt } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import canonicalize from "canonicalize";
import { createOrganization, type TestOrganization } from "../support/organization.ts";

let organization: TestOrganization;

beforeAll(async () => {
  organization = await createOrganization();
});

const digits = (count: number) => Array.from({ length: count }, () => randomInt(10)).join("");
const uei = () => `ZZ${digits(10)}`;

/** Any object in a response body. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
type Body = any;

describe("a created entity", () => {
  test("has every documented field and no other", async () => {
    const tin = digits(9);
    const answer = await organization.sandbox.post("/v1/entities", {
      legal_name: "  Créations & Söhne GmbH ",
      identifiers: {
        uei: ` zz${digits(10)} `,
        tin: `${tin.slice(0, 2)}-${tin.slice(2)}`,
        duns: `15-${digits(3)}-${digits(4)}`,
      },
      address: { line1: "1 Main St", city: "Dover", state: "NH", zip: "03820", country: "USA" },
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("location")).toBe(`/v1/entities/${answer.body.id}`);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^ent_[0-9a-z]{26}$/),
      legal_name: "Créations & Söhne GmbH",
      identifiers: {
        uei: expect.stringMatching(/^ZZ\d{10}$/),
        tin: `****${tin.slice(5)}`,
        duns: expect.stringMatching(/^15\d{7}$/),
      },
      sam_gov: { registration_status: "inactive" },
      addresses: [{ type: "physical", line1: "1 Main St", city: "Dover", state: "NH", zip: "03820", country: "USA" }],
      confidence: 1,
      sources: [
        { name: "organization", retrieved_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) },
      ],
    });
    expect((await organization.sandbox.get(`/v1/entities/${answer.body.id}`)).body).toEqual(answer.body);
  });

  test("is debarred if its UEI is excluded, and inactive if the exclusion has ended", async () => {
    const excluded = { legal_name: "Granite Works", identifiers: { uei: "ZZGRANITE101" } };
    const ended = { legal_name: "Ended Works", identifiers: { uei: "ZZENDEDEX102" } };
    expect((await organization.live.post("/v1/entities", excluded)).body.sam_gov.registration_status).toBe("debarred");
    expect((await organization.live.post("/v1/entities", ended)).body.sam_gov.registration_status).toBe("inactive");
  });
});

describe("snapshots", () => {
  test("keep every version in a hash chain that anyone can verify", async () => {
    const identifiers = { uei: uei() };
    const { body: entity } = await organization.sandbox.post("/v1/entities", {
      legal_name: "Chained Corp",
      identifiers,
    });
    await organization.sandbox.post("/v1/verify", {
      identifiers: { ...identifiers, duns: digits(9) },
      checks: ["sam_registration"],
      mode: "realtime",
    });
    const { snapshots } = (await organization.sandbox.get(`/v1/entities/${entity.id}/snapshots`)).body;
    expect(snapshots.map(({ version }: Body) => version)).toEqual([2, 1]);
    const [second, first] = snapshots;
    expect(first).toMatchObject({ entity_id: entity.id, organization_id: organization.id, entity });
    expect(first.id).toMatch(/^snp_/);
    expect(first.actor).toMatch(/^key_/);
    expect(first.request_id).toEqual(expect.any(String));
    expect(first).not.toHaveProperty("previous_hash");
    expect(second.previous_hash).toBe(first.hash);
    for (const { hash, ...others } of snapshots) {
      expect(createHash("sha256").update(canonicalize(others)!).digest("hex")).toBe(hash);
    }
  });

  test("of a registry entity belong to no organization", async () => {
    const { body: entity } = await organization.live.post("/v1/entities/lookup", {
      identifiers: { uei: "ZZNRTHWND001" },
    });
    const [snapshot] = (await organization.live.get(`/v1/entities/${entity.id}/snapshots`)).body.snapshots;
    expect(snapshot.actor).toBe("registry:registry.dat");
    expect(snapshot).not.toHaveProperty("organization_id");
    expect(snapshot).not.toHaveProperty("request_id");
  });
});

describe("an exact look-up", () => {
  const lookUp = (body: object) => organization.live.post("/v1/entities/lookup", body);

  test("finds the registry's facts by UEI, CAGE and name", async () => {
    const answers = await Promise.all([
      lookUp({ identifiers: { uei: "zznrthwnd001" } }),
      lookUp({ identifiers: { cage: "9zz-a1" } }),
      lookUp({ legal_name: "northwind bridgeworks incorporated" }),
      lookUp({ legal_name: "Northwind Bridgeworks", address: "1200 Foundry Road, Suite 4, Duluth, Minnesota 55802" }),
    ]);
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toMatchObject({
        legal_name: "NORTHWIND BRIDGEWORKS, INC.",
        identifiers: { uei: "ZZNRTHWND001", cage: "9ZZA1" },
        sam_gov: { registration_status: "active", cage: "9ZZA1", expiration_date: "2099-01-31" },
        confidence: 1,
      });
      expect(body.addresses.map(({ type }: Body) => type)).toEqual(["physical", "mailing"]);
      expect(body.sources[0]).toMatchObject({
        name: "sam_gov_extract",
        version: expect.stringContaining("registry.dat"),
      });
    }
  });

  test.each([
    ["ZZHARBRLT002", "expired"],
    ["ZZBLKTHRN004", "debarred"],
  ])("shows %s as %s", async (id, status) => {
    expect((await lookUp({ identifiers: { uei: id } })).body.sam_gov.registration_status).toBe(status);
  });

  test("that matches several entities is 409 with candidates", async () => {
    const { status, body } = await lookUp({ legal_name: "ABC Services LLC" });
    expect([status, body.error]).toEqual([409, "ambiguous_match"]);
    expect(body.candidates).toHaveLength(2);
    expect(body.candidates[0]).toMatchObject({ id: expect.stringMatching(/^ent_/), legal_name: "ABC SERVICES LLC" });
    const narrowed = await lookUp({ legal_name: "ABC Services LLC", address: "10 Main Street, Akron, OH" });
    expect(narrowed.body.identifiers.uei).toBe("ZZABCSRVA005");
  });
});

describe("a fuzzy look-up", () => {
  const lookUp = (body: object, query = "") =>
    organization.live.post(`/v1/entities/lookup${query}`, { ...body, mode: "fuzzy" });

  test("returns several matches as candidates, best first, with reasons on request", async () => {
    const { body } = await lookUp({ legal_name: "ABC Services LLC" }, "?explain=true");
    expect(body.candidates).toHaveLength(2);
    expect(body.candidates[0].confidence).toBeGreaterThanOrEqual(body.candidates[1].confidence);
    expect(body.candidates[0].explanation.length).toBeGreaterThan(0);
  });
});

describe("a TIN that an organization supplies for a registry entity", () => {
  test("is shown masked to that organization only, is found by its look-ups, and is replaced by a newer one", async () => {
    const own = await createOrganization();
    const [first, second] = [digits(9), digits(9)];
    const verify = (tin: string, check = "tin_match") =>
      own.live.post("/v1/verify", { identifiers: { uei: "ZZPDMNTVN008", tin }, checks: [check], mode: "realtime" });
    const { body: verification } = await verify(first);
    const found = await own.live.post("/v1/entities/lookup", { identifiers: { tin: first } });
    expect(found.body.id).toBe(verification.entity_id);
    expect(found.body.identifiers.tin).toBe(`****${first.slice(5)}`);
    const elsewhere = await organization.live.get(`/v1/entities/${verification.entity_id}`);
    expect(elsewhere.body.identifiers).not.toHaveProperty("tin");
    expect((await organization.live.post("/v1/entities/lookup", { identifiers: { tin: first } })).status).toBe(404);
    await verify(second, "sam_registration");
    expect((await own.live.post("/v1/entities/lookup", { identifiers: { tin: second } })).status).toBe(404);
    await verify(second);
    expect((await own.live.post("/v1/entities/lookup", { identifiers: { tin: first } })).status).toBe(404);
    expect((await own.live.post("/v1/entities/lookup", { identifiers: { tin: second } })).status).toBe(200);
  });
});
