import { request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { startTestGateway } from "./testing/gateway.ts";
import { bodies, entity, entityId } from "./testing/samples.ts";

const gateway = await startTestGateway();

describe("an Idempotency-Key", () => {
  const sent = () => gateway.entity.calls.at(-1)!.request.idempotency;
  const create = async (idempotencyKey: string, body: unknown) => {
    gateway.entity.on("createEntity", () => ({ entity, replayed: true }));
    return gateway.post("/v1/entities", body, { "Idempotency-Key": idempotencyKey });
  };

  test("is passed on as keyed hashes, without plain text of the key or the body", async () => {
    const { status, headers } = await create("order 213456789", { legal_name: "A", identifiers: { tin: "987654312" } });
    expect(status).toBe(201);
    expect(headers.get("idempotency-replayed")).toBe("true");
    expect(headers.get("location")).toBe(`/v1/entities/${entityId}`);
    expect(sent()).toMatchObject({ path: "/v1/entities", key: expect.stringMatching(/^[\w-]{43}$/) });
    expect(sent().apiKeyId).toMatch(/^key_/);
    expect(sent().bodyHash).toHaveLength(32);
  });

  test("treats bodies as equal despite spacing and key order, and as different if a value differs", async () => {
    await create("k", '{"legal_name":"A","identifiers":{"uei":"ABCDEFGHJKL1","cage":"1ABC2"}}');
    const first = sent();
    await create("k", '{ "identifiers": {"cage":"1ABC2", "uei":"ABCDEFGHJKL1"}, "legal_name": "A" }');
    expect(sent()).toEqual(first);
    await create("k", '{"legal_name":"B","identifiers":{"uei":"ABCDEFGHJKL1","cage":"1ABC2"}}');
    expect(sent().key).toEqual(first.key);
    expect(sent().bodyHash).not.toEqual(first.bodyHash);
    await create("K", '{"legal_name":"B"}');
    expect(sent().key).not.toEqual(first.key);
  });

  test.each([
    [["k", "k"], 201],
    [["k", " k "], 201],
    [["k", "K"], 400],
    [["", "k"], 400],
  ] as const)("sent twice as %j is %d", async (values, expected) => {
    gateway.entity.on("createEntity", () => ({ entity, replayed: false }));
    const { status, body } = await sendRaw(values.map((value) => ["Idempotency-Key", value]));
    expect(status).toBe(expected);
    if (status === 400) {
      const message = "must not be given twice with different values: send one";
      expect(body.details).toEqual([{ path: "Idempotency-Key", message }]);
    }
  });

  /** Sends the same header more than once, which fetch can't. */
  function sendRaw(headers: readonly (readonly [string, string])[]) {
    const standing = { Authorization: `Bearer ${gateway.key}`, "Content-Type": "application/json", Host: "x" };
    return new Promise<{ status: number; body: { details: unknown } }>((resolve, reject) => {
      const sent = request(
        {
          port: gateway.port,
          method: "POST",
          path: "/v1/entities",
          headers: [...Object.entries(standing), ...headers].flat(),
        },
        async (response) => resolve({ status: response.statusCode!, body: JSON.parse(await text(response)) }),
      );
      sent.on("error", reject).end(JSON.stringify(bodies["/v1/entities"]));
    });
  }

  test("is hashed with every key of the ring", async () => {
    await create("k", bodies["/v1/entities"]);
    const { older, ...newest } = sent();
    expect(older).toMatchObject([{ key: expect.stringMatching(/^[\w-]{43}$/), bodyHash: expect.any(Buffer) }]);
    expect(older[0].key).not.toBe(newest.key);
    expect(older[0].bodyHash).not.toEqual(newest.bodyHash);
  });

  test.each(["", "x".repeat(256), "tab\tinside", "é"])("%j is refused", async (value) => {
    const { status, body } = await create(value, bodies["/v1/entities"]);
    expect(status).toBe(400);
    expect(body.details).toEqual([{ path: "Idempotency-Key", message: expect.any(String) }]);
  });

  test.each([
    ["idempotency_mismatch", 422],
    ["idempotency_conflict", 409],
  ] as const)("%s is %d", async (code, expected) => {
    gateway.entity.on("createEntity", () => {
      throw new ServiceError(code);
    });
    const { status, body } = await gateway.post("/v1/entities", bodies["/v1/entities"], { "Idempotency-Key": "k" });
    expect([status, body.error]).toEqual([expected, code]);
  });
});
