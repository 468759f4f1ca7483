import { beforeAll, describe, expect, test } from "@jest/globals";
import { createOrganization, type TestOrganization } from "../support/organization.ts";

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
});
