import { beforeAll, describe, expect, test } from "@jest/globals";
import { createKey, createOrganization, type TestOrganization } from "../support/organization.ts";

let organization: TestOrganization;

beforeAll(async () => {
  organization = await createOrganization();
});

const withKey = (key: string) => ({ headers: { "idempotency-key": key } });

describe("an Idempotency-Key", () => {
  test.each([
    ["/v1/entities", (name: string) => ({ legal_name: name }), 201],
    [
      "/v1/verify",
      (name: string) => ({
        identifiers: { duns: "150483782" },
        legal_name: name,
        checks: ["tin_match"],
        mode: "realtime",
      }),
      200,
    ],
  ])("on POST %s returns the first answer again and repeats nothing", async (path, body, status) => {
    const key = `again-${path}`;
    const first = await organization.sandbox.post(path, body("Idempotent One"), withKey(key));
    const second = await organization.sandbox.post(path, body("Idempotent One"), withKey(key));
    expect([first.status, second.status]).toEqual([status, status]);
    expect(second.body).toEqual(first.body);
    expect(first.headers.has("idempotency-replayed")).toBe(false);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
  });

  test("with another body is 422, and is separate for each API key", async () => {
    const first = await organization.sandbox.post("/v1/entities", { legal_name: "Bound" }, withKey("bound"));
    const other = await organization.sandbox.post("/v1/entities", { legal_name: "Unbound" }, withKey("bound"));
    expect([other.status, other.body.error]).toEqual([422, "idempotency_mismatch"]);
    const { api } = await createKey(organization, "sandbox");
    const elsewhere = await api.post("/v1/entities", { legal_name: "Unbound" }, withKey("bound"));
    expect(elsewhere.status).toBe(201);
    expect(elsewhere.body.id).not.toBe(first.body.id);
  });

  test("lets only one of several concurrent calls take effect", async () => {
    const call = () =>
      organization.sandbox.post(
        "/v1/monitors",
        { entity_id: entityId, checks: ["sam_registration"], webhook_url: "https://example.com/hook" },
        withKey("at-once"),
      );
    const entityId = (await organization.sandbox.post("/v1/entities", { legal_name: "Watched" })).body.id;
    const answers = await Promise.all(Array.from({ length: 8 }, call));
    for (const { status, body } of answers) {
      expect([201, 409]).toContain(status);
      if (status === 409) expect(body.error).toBe("idempotency_conflict");
    }
    const ids = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.id));
    expect(ids.size).toBe(1);
    expect((await organization.sandbox.get("/v1/monitors")).body.monitors).toHaveLength(1);
    await organization.sandbox.delete(`/v1/monitors/${[...ids][0]}`);
  });

  test("can be used again after a refusal", async () => {
    const refused = await organization.sandbox.post("/v1/verifications", verification("ent_1"), withKey("free"));
    expect(refused.status).toBe(404);
    const entityId = (await organization.sandbox.post("/v1/entities", { legal_name: "Later" })).body.id;
    const made = await organization.sandbox.post("/v1/verifications", verification(entityId), withKey("free"));
    expect(made.status).toBe(200);
    expect(made.headers.has("idempotency-replayed")).toBe(false);
  });

  test("that is too long is 400", async () => {
    const answer = await organization.sandbox.post("/v1/entities", { legal_name: "Acme" }, withKey("x".repeat(256)));
    expect([answer.status, answer.body.error]).toEqual([400, "invalid_request"]);
  });

  test("is ignored on a look-up", async () => {
    const lookUp = (name: string) =>
      organization.sandbox.post("/v1/entities/lookup", { legal_name: name }, withKey("look"));
    expect((await lookUp("Nobody One")).status).toBe(404);
    expect((await lookUp("Nobody Two")).status).toBe(404);
  });
});

function verification(entityId: string) {
  return { entity_id: entityId, checks: ["sam_registration"], mode: "realtime" };
}
