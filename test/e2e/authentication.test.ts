import { beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { withAccounts } from "../../deploy/local/seed.ts";
import { createKey, createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";

const product = sharedProduct();
let organization: TestOrganization;

beforeAll(async () => {
  organization = await createOrganization();
});

describe("a key", () => {
  test("works immediately after its creation, and is refused within 5 s of its revocation", async () => {
    const key = await createKey(organization, "sandbox");
    expect((await key.api.get("/v1/entities")).status).toBe(200);
    await withAccounts(product.environment, (accounts) =>
      accounts.apiKeys.revoke(
        { tenant: { organizationId: organization.id, environment: "sandbox" }, actor: "test", requestId: "test" },
        key.id,
      ),
    );
    await eventually(async () => (await key.api.get("/v1/entities")).status === 401, {
      timeoutMs: 5_000,
    });
  });

  test("that has expired is refused", async () => {
    const expiresAt = new Date(Date.now() + 4_000);
    const key = await createKey(organization, "live", { expiresAt });
    const { status } = await key.api.get("/v1/entities");
    if (new Date() < expiresAt) expect(status).toBe(200);
    await eventually(async () => (await key.api.get("/v1/entities")).status === 401);
  });

  test("of a suspended organization is 403, and works again once the organization is resumed", async () => {
    const own = await createOrganization();
    const operator = { actor: "operator" };
    await withAccounts(product.environment, (accounts) => accounts.organizations.suspend(operator, own.id));
    await eventually(async () => (await own.live.get("/v1/entities")).body.error === "forbidden");
    await withAccounts(product.environment, (accounts) => accounts.organizations.resume(operator, own.id));
    await eventually(async () => (await own.live.get("/v1/entities")).status === 200);
  });
});

describe("limits", () => {
  test("are in the headers of every authenticated answer, including refusals", async () => {
    const own = await createOrganization({ limitPerMinute: 50 });
    for (const path of ["/v1/entities", "/v1/entities/ent_1", "/v1/entities?limit=0"]) {
      const { headers } = await own.live.get(path);
      expect(headers.get("ratelimit-policy")).toBe('"default";q=50;w=60');
      expect(headers.get("ratelimit")).toMatch(/^"default";r=\d+;t=\d+$/);
      expect(headers.get("x-ratelimit-limit")).toBe("50");
      expect(headers.get("x-ratelimit-remaining")).toBe(/r=(\d+)/.exec(headers.get("ratelimit")!)![1]);
      expect(headers.get("x-ratelimit-reset")).toMatch(/^\d+$/);
    }
  });

  test("a burst gets the remaining calls and then 429 with the time to wait, separately for each key", async () => {
    // If Redis takes longer than 200 ms, each gateway counts on its own, and together they admit more than the limit.
    // The burst is then repeated with a new key.
    const { own, answers } = await eventually(async () => {
      const own = await createOrganization({ limitPerMinute: 20 });
      // The gateway itself answers these calls: lists of a burst wait for each other, and may be refused for that.
      const answers = await Promise.all(Array.from({ length: 30 }, () => own.live.get("/v1/entities/no-id")));
      return answers.filter(({ status }) => status === 404).length === 20 && { own, answers };
    });
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    for (const { headers, body } of refused) {
      expect(body.error).toBe("rate_limited");
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(61);
      expect(headers.get("x-ratelimit-remaining")).toBe("0");
    }
    expect((await own.sandbox.get("/v1/entities")).status).toBe(200);
    // The limit is checked before the body.
    expect((await own.live.post("/v1/entities", { nonsense: true })).status).toBe(429);
  });
});
