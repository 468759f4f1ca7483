import { describe, expect, test } from "@jest/globals";
import { checkNames } from "@vvs/checks";
import { startTestGateway } from "./testing/gateway.ts";
import { entityId, monitorId } from "./testing/samples.ts";

const gateway = await startTestGateway();
const sandboxKey = gateway.account.createKey({ environment: "sandbox" }).value;

const problems = async (method: string, path: string, body: unknown, key = gateway.key) => {
  const answer = await gateway.send(method, path, { key, body });
  expect([answer.status, answer.body.error]).toEqual([400, "invalid_request"]);
  const details: { path: string; message: string }[] = answer.body.details;
  expect(details.map(({ path: where }) => where)).toEqual([...new Set(details.map(({ path: where }) => where))]);
  return Object.fromEntries(details.map(({ path: where, message }) => [where, message]));
};

const accepted = async (path: string, body: unknown, key = gateway.key) => {
  for (const service of [gateway.entity, gateway.verification, gateway.jobs, gateway.monitor]) service.calls.length = 0;
  await gateway.send("POST", path, { key, body });
  const calls = [gateway.entity, gateway.verification, gateway.jobs, gateway.monitor].flatMap(
    (service) => service.calls,
  );
  expect(calls).toHaveLength(1);
  return calls[0]!.request;
};

const check = { entity_id: entityId, checks: ["tin_match"], mode: "cached" };
const monitor = { entity_id: entityId, checks: ["tin_match"], webhook_url: "https://example.com/" };

describe("all problems are listed together, without the values", () => {
  test("of more than a hundred the first hundred", async () => {
    const unknown = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`field_${index}`, 1]));
    const { body } = await gateway.post("/v1/monitors", { ...monitor, ...unknown });
    expect(body.message).toBe("The request has 150 problems. The first 100 are listed in details.");
    expect(body.details).toHaveLength(100);
  });

  test("of a body, its query and its headers", async () => {
    const { status, body } = await gateway.send("POST", "/v1/verify?colour=red", {
      key: gateway.key,
      headers: { "Idempotency-Key": "x".repeat(256) },
      body: {
        entity_id: entityId,
        identifiers: { uei: "SECRET", tin: 213456789, ein: "1", duns: "" },
        legal_name: "Acme 21-3456789",
        checks: ["sam_registration", "credit", 7],
        mode: "REALTIME",
        colour: "red",
      },
    });
    expect(status).toBe(400);
    expect(body.message).toBe("The request has 13 problems. They are listed in details.");
    expect(body.details.map(({ path }: { path: string }) => path).toSorted()).toEqual(
      [
        "Idempotency-Key",
        "checks[1]",
        "checks[2]",
        "colour",
        "colour",
        "identifiers",
        "identifiers.duns",
        "identifiers.ein",
        "identifiers.tin",
        "identifiers.uei",
        "legal_name",
        "legal_name",
        "mode",
      ].toSorted(),
    );
    expect(JSON.stringify(body)).not.toMatch(/SECRET|213456789|21-3456789|credit|REALTIME|red/);
  });

  test.each([
    ["/v1/monitors?limit=", "limit must not be empty"],
    ["/v1/monitors?cursor=%20", "cursor must not be empty"],
    ["/v1/monitors?entity_id=", "entity_id must not be empty"],
    ["/v1/events?after=&wait=1", "after must not be empty"],
    ["/v1/monitors?limit=0&limit=200", "limit must be given once"],
    ["/v1/monitors?colour=", "colour is an unknown parameter"],
  ])("an empty or repeated parameter is one problem: %s", async (path, problem) => {
    const { status, body } = await gateway.send("GET", path, { key: gateway.key });
    expect([status, body.message, body.details.length]).toEqual([400, `The request is invalid: ${problem}.`, 1]);
  });

  test("a single problem is also in the message", async () => {
    const { body } = await gateway.send("POST", "/v1/verifications", {
      key: gateway.key,
      body: { ...check, mode: "x" },
    });
    expect(body.message).toBe("The request is invalid: mode must be cached or realtime.");
  });

  test("unknown keys are named only if they can't be a secret, and at most 100 problems are listed", async () => {
    const found = await problems("POST", "/v1/entities", { legal_name: "A", "21-3456789": 1, tin213456789: 1, ok: 1 });
    expect(Object.keys(found).toSorted()).toEqual(["(a key)", "ok"]);
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, 1]));
    expect(Object.keys(await problems("POST", "/v1/entities", many))).toHaveLength(100);
  });
});

describe("texts", () => {
  test.each([
    ["legal_name", undefined, "is required"],
    ["legal_name", null, "must be a string"],
    ["legal_name", 5, "must be a string"],
    ["legal_name", "", "must not be empty"],
    ["legal_name", " \t\n ", "must not be empty"],
    ["legal_name", "a\u0000b", "must not contain control characters: write it in one line, without tabs"],
    ["legal_name", "\u200b", "must contain a visible character, such as a letter or a digit"],
    ["legal_name", "\ud800", "must be valid Unicode"],
    ["legal_name", "x".repeat(301), "must be at most 300 characters"],
    ["address", "1 Main St", "must be an object"],
    ["address", [], "must be an object"],
  ])("%s of an entity: %j %s", async (field, value, message) => {
    const body = { legal_name: "Acme", [field]: value };
    expect(await problems("POST", "/v1/entities", JSON.stringify(body))).toEqual({ [field]: message });
  });

  test("may have 300 characters as sent (not UTF-16 units), and are trimmed", async () => {
    const name = "🏭".repeat(300);
    expect((await accepted("/v1/entities", { legal_name: `  ${name.slice(0, -6)} ` })).legalName).toBe(
      name.slice(0, -6),
    );
    expect(await problems("POST", "/v1/entities", { legal_name: `${name} ` })).toEqual({
      legal_name: "must be at most 300 characters",
    });
    expect((await accepted("/v1/entities/lookup", { legal_name: name })).legalName).toBe(name);
    expect((await accepted("/v1/entities/lookup", { address: "a".repeat(500) })).address).toHaveLength(500);
    expect(await problems("POST", "/v1/entities/lookup", { address: "a".repeat(501) })).toEqual({
      address: "must be at most 500 characters",
    });
  });

  const address = { line1: "1 Main St", line2: "A", city: "Springfield", state: "IL", zip: "62701", country: "USA" };
  const verify = { identifiers: { uei: "ABCDEFGHJKL1" }, checks: ["tin_match"], mode: "cached" };
  const fields: [string, string, (text: string) => object][] = [
    ["/v1/entities", "legal_name", (legal_name) => ({ legal_name })],
    ["/v1/verify", "legal_name", (legal_name) => ({ ...verify, legal_name })],
    ["/v1/entities/lookup", "legal_name", (legal_name) => ({ legal_name })],
    ["/v1/entities/lookup", "address", (text) => ({ address: text })],
    ...Object.keys(address).map((part): [string, string, (text: string) => object] => [
      "/v1/entities",
      `address.${part}`,
      (text) => ({ legal_name: "Acme", address: { ...address, [part]: text } }),
    ]),
  ];
  test.each(fields)("on %s, %s must be visible text in one line and one direction", async (path, field, body) => {
    for (const [text, message] of [
      ["a\nb", /control characters/],
      ["a\u202eb", /direction/],
      ["\u200b\u3164", /visible character/],
      ["a\u0085b", /control characters/],
      ["Ã\u0089toile\u0085", /control characters/],
    ] as const) {
      expect(await problems("POST", path, body(text))).toEqual({ [field]: expect.stringMatching(message) });
    }
  });

  test.each(["NESTLÉ", "Łódź Spółka", "L’Été – “Ça”", "Газпром", "Ж", "株式会社", "🏭"])(
    "%s is understood where its UTF-8 was read as Latin-1",
    async (name) => {
      const misread = Buffer.from(name).toString("latin1");
      for (const path of ["/v1/entities", "/v1/entities/lookup"]) {
        expect((await accepted(path, { legal_name: `  ${misread} ` })).legalName).toBe(name);
      }
      const line1 = `1 ${misread} St`;
      const request = await accepted("/v1/entities", { legal_name: "Acme", address: { ...address, line1 } });
      expect(request.address).toMatchObject({ line1: `1 ${name} St` });
    },
  );

  test("an address requires all parts except the second line, and none may be empty", async () => {
    expect(await problems("POST", "/v1/entities", { legal_name: "A", address: { line2: "", planet: "Mars" } })).toEqual(
      {
        "address.line1": "is required",
        "address.line2": "must not be empty",
        "address.city": "is required",
        "address.state": "is required",
        "address.zip": "is required",
        "address.country": "is required",
        "address.planet": "is an unknown field",
      },
    );
  });
});

describe("a TIN in free text", () => {
  const address = { line1: "1 Main St", city: "Springfield", state: "IL", zip: "62701", country: "USA" };
  test.each([
    ["/v1/entities", { legal_name: "Acme 213456789" }, "legal_name"],
    ["/v1/entities", { legal_name: "Acme", address: { ...address, line1: "c/o 21-3456789" } }, "address.line1"],
    ["/v1/entities", { legal_name: "Acme", address: { ...address, zip: "62-7011234" } }, "address.zip"],
    ["/v1/entities", { legal_name: "Acme １２．３４５６７８９" }, "legal_name"],
    [
      "/v1/verify",
      { identifiers: { uei: "ABCDEFGHJKL1" }, legal_name: "123-45-6789", checks: ["tin_match"], mode: "cached" },
      "legal_name",
    ],
  ])("is refused on %s", async (path, body, where) => {
    const found = await problems("POST", path, body);
    expect(Object.keys(found)).toEqual([where]);
    expect(found[where]).toMatch(/taxpayer/);
  });

  test("is accepted as a criterion of a look-up", async () => {
    await accepted("/v1/entities/lookup", { legal_name: "Acme 213456789" });
  });

  test.each(["62701-1234", "627011234"])("is not found in the ZIP+4 %s", async (zip) => {
    expect(await accepted("/v1/entities", { legal_name: "Acme", address: { ...address, zip } })).toMatchObject({
      address: { zip },
    });
  });
});

describe("identifiers", () => {
  test.each(["/v1/entities/lookup", "/v1/entities", "/v1/verify"])(
    "on %s: types are known, values strings",
    async (path) => {
      const base: Record<string, object> = {
        "/v1/entities/lookup": {},
        "/v1/entities": { legal_name: "Acme" },
        "/v1/verify": { checks: ["tin_match"], mode: "cached" },
      };
      const found = (identifiers: unknown) => problems("POST", path, { ...base[path], identifiers });
      expect(await found({})).toEqual({ identifiers: "must contain at least one identifier" });
      expect(await found([])).toEqual({ identifiers: "must contain at least one identifier" });
      expect(await found("ABCDEFGHJKL1")).toEqual({ identifiers: "must be an object" });
      expect(await found({ UEI: "ABCDEFGHJKL1" })).toEqual({ "identifiers.UEI": expect.stringMatching(/type/) });
      expect(await found({ ein: "1", uei: "ABCDEFGHJKL1" })).toMatchObject({ "identifiers.ein": expect.any(String) });
      expect(await found({ uei: ["ABCDEFGHJKL1"] })).toEqual({ "identifiers.uei": "must be a string" });
      expect(await found({ uei: { $gt: "" } })).toEqual({ "identifiers.uei": "must be a string" });
      const contradiction = `{"identifiers":{"tin":"213456789","tin":"213456780"},${JSON.stringify(base[path]).slice(1, -1) || '"mode":"exact"'}}`;
      expect(await problems("POST", path, contradiction)).toEqual({
        "identifiers.tin": "must not be given twice with different values",
      });
      await accepted(path, contradiction.replace("213456780", "21-3456789"));
    },
  );

  test.each(["/v1/entities/lookup", "/v1/entities", "/v1/verify"])(
    "on %s: may be a list of types and values, one value a type",
    async (path) => {
      const base = path === "/v1/verify" ? { checks: ["tin_match"], mode: "cached" } : { legal_name: "Acme" };
      const listed = (...identifiers: unknown[]) => ({ ...base, identifiers });
      await accepted(path, listed({ type: "uei", value: " abcdefghjkl1 " }, { type: "cage", value: "1abc2" }));
      await accepted(path, listed({ type: "tin", value: "21-3456789" }, { type: "tin", value: "213456789" }));
      const found = (...identifiers: unknown[]) => problems("POST", path, listed(...identifiers));
      expect(await found({ type: "tin", value: "213456789" }, { type: "tin", value: "213456780" })).toEqual({
        "identifiers[1].value": "must not differ from the other tin",
      });
      expect(await found({ type: "ein", value: "1" })).toEqual({
        "identifiers[0].type": expect.stringMatching(/uei or/),
      });
      expect(await found({ type: "uei" }, { type: "cage", value: 5, more: 1 })).toEqual({
        "identifiers[0].value": "is required",
        "identifiers[1].value": "must be a string",
        "identifiers[1].more": expect.any(String),
      });
      const wrong = [{ type: "ein", value: "1" }, { type: "uei", value: "\u0000" }, 7];
      expect(Object.keys(await found(...wrong))).toEqual([
        "identifiers[0].type",
        "identifiers[1].value",
        "identifiers[2]",
      ]);
    },
  );

  test("are accepted malformed only in look-ups", async () => {
    await accepted("/v1/entities/lookup", { identifiers: { uei: "-", tin: " \u2013 " } });
    const dashes = {
      legal_name: "A",
      identifiers: [
        { type: "ein", value: "1" },
        { type: "tin", value: " - " },
      ],
    };
    expect(await problems("POST", "/v1/entities", dashes)).toEqual({
      "identifiers[0].type": expect.any(String),
      "identifiers[1].value": "must be 9 digits: leave it out if there is none",
    });
    const identifiers = { uei: "SHORT", tin: "1234", duns: "12345678X", cage: "1ABC" };
    await accepted("/v1/entities/lookup", { identifiers });
    const expected = {
      "identifiers.uei": "must be 12 letters and digits",
      "identifiers.tin": "must be 9 digits",
      "identifiers.duns": "must be 9 digits",
      "identifiers.cage": "must be 5 letters and digits",
    };
    expect(await problems("POST", "/v1/entities", { legal_name: "A", identifiers })).toEqual(expected);
    expect(await problems("POST", "/v1/verify", { identifiers, checks: ["tin_match"], mode: "cached" })).toEqual(
      expected,
    );
  });
});

describe("identifiers that can't be right", () => {
  const bodies: readonly [string, (identifiers: object) => object][] = [
    ["/v1/entities", (identifiers) => ({ legal_name: "A", identifiers })],
    ["/v1/verify", (identifiers) => ({ identifiers, checks: ["tin_match"], mode: "cached" })],
  ];

  test.each([
    ["uei", "Not Applicable"],
    ["uei", "000000000000"],
    ["cage", "N/A"],
    ["cage", "00000"],
    ["duns", "unknown"],
    ["tin", "null"],
    ["tin", "00-0000000"],
  ])("%s %j says that there is none: refused on create and verify, allowed in a look-up", async (type, value) => {
    for (const [path, body] of bodies) {
      expect(await problems("POST", path, body({ [type]: value }))).toEqual({
        [`identifiers.${type}`]: expect.stringMatching("leave it out if there is none"),
      });
      expect(await problems("POST", path, body([{ type, value }]))).toHaveProperty(["identifiers[0].value"]);
    }
    await accepted("/v1/entities/lookup", { identifiers: { [type]: value } });
  });

  test.each([
    ["12-3456789", "placeholder"],
    ["99-9999999", "placeholder"],
    ["1234567", "dropped leading zeros"],
    ["12-345678", "dropped leading zeros"],
  ])("the TIN %s is refused on create and verify, which say why: %s", async (value, word) => {
    for (const [path, body] of bodies) {
      expect(await problems("POST", path, body({ tin: value }))).toEqual({
        "identifiers.tin": expect.stringMatching(word),
      });
    }
  });

  test("a sandbox UEI is refused with a live key on create and verify, as a map and as a list", async () => {
    const message = expect.stringMatching("use a test key");
    for (const [path, body] of bodies) {
      const uei = " sandbx-actve1";
      expect(await problems("POST", path, body({ uei }))).toEqual({ "identifiers.uei": message });
      const list = [
        { type: "cage", value: "1ABC2" },
        { type: "uei", value: uei },
      ];
      expect(await problems("POST", path, body(list))).toEqual({ "identifiers[1].value": message });
      await accepted(path, body({ uei }), sandboxKey);
    }
    await accepted("/v1/entities/lookup", { identifiers: { uei: "SANDBXACTVE1" } });
  });
});

describe("max_age_seconds", () => {
  const byVendor = { identifiers: { uei: "ABCDEFGHJKL1" }, checks: ["sam_registration"], mode: "cached" };
  const bodies = [
    ["/v1/verify", byVendor],
    ["/v1/verify", check],
    ["/v1/verifications", check],
  ] as const;

  test.each(bodies)("on %s is passed on, and is absent where it was not sent", async (path, body) => {
    for (const max_age_seconds of [0, 3_600, 31_536_000]) {
      expect((await accepted(path, { ...body, max_age_seconds })).maxAgeSeconds).toBe(max_age_seconds);
    }
    expect((await accepted(path, body)).maxAgeSeconds).toBeUndefined();
  });

  test.each([-1, 31_536_001, 1.5, "60", null, [60], 1e21])(
    "must be a whole number up to a year, not %j",
    async (age) => {
      for (const [path, body] of bodies) {
        expect(await problems("POST", path, { ...body, max_age_seconds: age })).toEqual({
          max_age_seconds: "must be a whole number from 0 to 31536000",
        });
      }
    },
  );
});

describe("required fields of a call", () => {
  const rest = { checks: ["tin_match"], mode: "cached" };
  const identifiers = { uei: "ABCDEFGHJKL1" };
  test.each<[string, object, object]>([
    [
      "/v1/entities/lookup",
      { mode: "fuzzy" },
      { body: "must contain at least one of identifiers, legal_name and address" },
    ],
    ["/v1/entities/lookup", { legal_name: "A", mode: "loose" }, { mode: "must be exact or fuzzy" }],
    ["/v1/entities/lookup?explain=yes", { legal_name: "A" }, { explain: "must be true or false" }],
    ["/v1/verify", rest, { body: "must contain entity_id or identifiers" }],
    ["/v1/verify", { ...rest, legal_name: "A" }, { body: "must contain entity_id or identifiers" }],
    ["/v1/verify", { ...check, legal_name: "A" }, { legal_name: expect.any(String) }],
    ["/v1/verify", { ...check, identifiers }, { identifiers: "must not be given together with entity_id" }],
    ["/v1/verifications", { ...rest, identifiers }, { entity_id: "is required", identifiers: "is an unknown field" }],
    ["/v1/verifications", { ...check, mode: undefined }, { mode: "is required" }],
    ["/v1/jobs", rest, { vendors: "is required" }],
    ["/v1/monitors", { ...monitor, entity_id: [] }, { entity_id: "must be a string" }],
    ["/v1/verify", { ...rest, identifiers: { uei: [] } }, { "identifiers.uei": "must be a string" }],
    [
      "/v1/monitors",
      { ...monitor, frequency: "yearly" },
      { frequency: "must be hourly or daily or weekly or monthly" },
    ],
  ])("%s refuses %j", async (path, body, expected) => {
    expect(await problems("POST", path, body)).toEqual(expected);
  });

  test.each([
    [undefined, { checks: "is required" }],
    [[], { checks: "must not be empty" }],
    ["tin_match", { checks: "must be an array" }],
    ["sam_registration", { checks: "must be an array" }],
    ["", { checks: "must be an array" }],
    [["tin"], { "checks[0]": `must be ${checkNames.join(" or ")}` }],
    [Array.from({ length: 11 }, () => "tin_match"), { checks: "must have at most 10 entries" }],
  ])("checks %j", async (checks, expected) => {
    expect(await problems("POST", "/v1/verifications", { ...check, checks })).toEqual(expected);
    expect(await problems("POST", "/v1/monitors", { ...monitor, checks })).toEqual(expected);
  });

  test("ten checks are accepted, even if repeated", async () => {
    await accepted("/v1/verifications", { ...check, checks: Array.from({ length: 10 }, () => "tin_match") });
  });
});

describe("a webhook URL", () => {
  test.each([
    ["http://example.com/", "https"],
    ["https://127.1/", "public"],
    ["https://user@example.com/", "user name"],
    ["/hooks", "absolute"],
  ])("%s is refused for live keys, on creation and on change", async (url, problem) => {
    for (const [method, path, body] of [
      ["POST", "/v1/monitors", { ...monitor, webhook_url: url }],
      ["PATCH", `/v1/monitors/${monitorId}`, { webhook_url: url }],
    ] as const) {
      expect(await problems(method, path, body)).toEqual({ webhook_url: expect.stringContaining(problem) });
    }
  });

  test("may be http for test keys", async () => {
    await accepted("/v1/monitors", { ...monitor, webhook_url: "http://example.com/" }, sandboxKey);
    expect(
      await problems("POST", "/v1/monitors", { ...monitor, webhook_url: "http://localhost/" }, sandboxKey),
    ).toEqual({
      webhook_url: expect.stringContaining("public"),
    });
  });

  test("is reported together with all other problems", async () => {
    const found = await problems("POST", "/v1/monitors", { webhook_url: "http://example.com/", colour: "red" });
    expect(Object.keys(found).toSorted()).toEqual(["checks", "colour", "entity_id", "webhook_url"]);
  });
});
