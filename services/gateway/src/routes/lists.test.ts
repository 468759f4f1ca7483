import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { startTestGateway } from "../testing/gateway.ts";
import { entity, entityId } from "../testing/samples.ts";

const gateway = await startTestGateway();

describe("lists", () => {
  const next = { createdAt: timestampFromDate(new Date("2026-11-21T09:30:00.000Z")), id: entityId };
  const cursorOf = async (path: string, options = { key: gateway.key }) => {
    gateway.entity.on("listEntities", () => ({ entities: [entity], next }));
    gateway.entity.on("listSnapshots", () => ({ snapshots: [], next }));
    gateway.verification.on("listVerifications", () => ({ verifications: [], next }));
    gateway.monitor.on("listMonitors", () => ({ monitors: [], next }));
    return (await gateway.send("GET", path, options)).body.next_cursor as string;
  };

  test("continue where the previous page ended, even with another limit", async () => {
    const cursor = await cursorOf("/v1/entities?limit=1");
    expect(cursor).toMatch(/^[\w-]+$/);
    await gateway.get(`/v1/entities?limit=100&cursor=${cursor}`);
    expect(gateway.entity.calls.at(-1)!.request.page).toMatchObject({ limit: 100, after: next });
  });

  test.each(["0", "101", "1000", "-1", "1.5", "1e1", "+5", "05", "ten", "%20", ""])(
    "limit=%s is 400",
    async (limit) => {
      const { status, body } = await gateway.get(`/v1/entities?limit=${limit}`);
      expect(status).toBe(400);
      expect(body.details.map(({ path }: { path: string }) => path)).toEqual(["limit"]);
    },
  );

  test("a cursor works only for its own list, filter, organization and environment", async () => {
    const cursor = await cursorOf("/v1/entities");
    const { tenant } = gateway.account.createKey().record;
    const others: [string, string][] = [
      ["/v1/verifications", gateway.key],
      [`/v1/entities/${entityId}/snapshots`, gateway.key],
      ["/v1/entities", gateway.account.createKey().value],
    ];
    for (const [path, other] of others) {
      const { status, body } = await gateway.send("GET", `${path}?cursor=${cursor}`, { key: other });
      expect([status, body.details[0].path]).toEqual([400, "cursor"]);
    }
    const { organizationId } = tenant!;
    const live = gateway.account.createKey({ organizationId }).value;
    const sandbox = gateway.account.createKey({ organizationId, environment: "sandbox" }).value;
    const liveCursor = await cursorOf("/v1/entities", { key: live });
    expect((await gateway.send("GET", `/v1/entities?cursor=${liveCursor}`, { key: sandbox })).status).toBe(400);
    const sameOrganization = gateway.account.createKey({ organizationId }).value;
    expect((await gateway.send("GET", `/v1/entities?cursor=${liveCursor}`, { key: sameOrganization })).status).toBe(
      200,
    );

    const numbered = await cursorOf("/v1/entities?external_id=V-1");
    expect((await gateway.get(`/v1/entities?cursor=${numbered}`)).status).toBe(400);
    expect((await gateway.get(`/v1/entities?external_id=V-2&cursor=${numbered}`)).status).toBe(400);
    expect((await gateway.get(`/v1/entities?external_id=V-1&cursor=${numbered}`)).status).toBe(200);
    expect(gateway.entity.calls.at(-1)!.request).toMatchObject({ externalId: "V-1" });

    const filtered = await cursorOf(`/v1/verifications?entity_id=${entityId}`);
    expect((await gateway.get(`/v1/verifications?cursor=${filtered}`)).status).toBe(400);
    expect((await gateway.get(`/v1/verifications?entity_id=${newId("ent")}&cursor=${filtered}`)).status).toBe(400);
    expect((await gateway.get(`/v1/verifications?entity_id=${entityId}&cursor=${filtered}`)).status).toBe(200);
    const watched = await cursorOf(`/v1/monitors?entity_id=${entityId}`);
    expect((await gateway.get(`/v1/monitors?entity_id=${newId("ent")}&cursor=${watched}`)).status).toBe(400);
    expect((await gateway.get(`/v1/monitors?entity_id=${entityId}&cursor=${watched}`)).status).toBe(200);
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({ entityId });
    const snapshots = await cursorOf(`/v1/entities/${entityId}/snapshots`);
    expect((await gateway.get(`/v1/entities/${newId("ent")}/snapshots?cursor=${snapshots}`)).status).toBe(400);
  });

  test("a changed cursor is 400", async () => {
    const cursor = await cursorOf("/v1/entities");
    const broken = [
      "x",
      "e30",
      "%00",
      `${cursor}=`,
      `${cursor}AA`,
      cursor.slice(0, -4),
      cursor.replace(/^./, "_"),
      "null",
    ];
    for (const one of broken) {
      const { status, body } = await gateway.get(`/v1/entities?cursor=${one}`);
      expect([one, status]).toEqual([one, 400]);
      expect(body.details[0].path).toBe("cursor");
    }
  });
});
