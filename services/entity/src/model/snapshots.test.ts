import { readFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import canonicalize from "canonicalize";
import { callerFor, startTestApplication } from "../testing/application.ts";
import { chainFault, type HashedSnapshot, snapshotHash } from "./snapshots.ts";
import { verifySnapshots } from "./verify-snapshots.ts";

const app = await startTestApplication();

const page = { limit: 100 };

test("the documented test vector is correct", async () => {
  const document = await readFile(new URL("../../../../docs/snapshots.md", import.meta.url), "utf8");
  const block = (language: string) => new RegExp(`\`\`\`${language}\\n([^]*?)\\n\`\`\``).exec(document)![1]!;
  const { hash, ...fields } = JSON.parse(block("json")) as HashedSnapshot & { hash: string };
  expect(canonicalize(fields)).toBe(block("text"));
  expect(snapshotHash(fields)).toBe(hash);
});

test("anyone can recompute the hash from what the API shows", async () => {
  const caller = callerFor("org_chain");
  const { entity } = await app.gateway.createEntity({
    caller,
    legalName: "Chain Ünited",
    identifiers: { tin: "110000001" },
  });
  const { snapshots } = await app.gateway.listSnapshots({ caller, entityId: entity!.id, page });
  const { id, entityId, organizationId, version, actor, requestId, createdAt, hash } = snapshots[0]!;
  const shown = {
    id,
    entity_id: entityId,
    organization_id: organizationId,
    version,
    entity: snapshots[0]!.entity,
    actor,
    request_id: requestId,
    created_at: createdAt,
  };
  expect(snapshotHash(shown as unknown as HashedSnapshot)).toBe(hash);
});

test("a chain stays valid without forks under concurrent changes, and reveals tampering", async () => {
  const caller = callerFor("org_fork");
  const { entity } = await app.gateway.createEntity({
    caller,
    legalName: "Fork Inc",
    identifiers: { tin: "120000001" },
  });
  const additions = [{ uei: "ABCDEFGHJK31" }, { cage: "3ABC9" }, { duns: "120000002" }];
  await Promise.all(
    additions.map((more) => app.verification.resolveVendor({ caller, identifiers: { tin: "120000001", ...more } })),
  );
  const stored = await app.live.entities.findOne({ _id: entity!.id });
  const snapshots = await app.live.snapshots.find({ entity_id: entity!.id }).sort({ version: 1 }).toArray();
  expect(snapshots.map(({ version }) => version)).toEqual([1, 2, 3, 4]);
  expect(chainFault(stored!, snapshots)).toBeUndefined();

  type Kept = (typeof snapshots)[number];
  const [first, second, third, fourth] = snapshots as [Kept, Kept, Kept, Kept];
  const renamed = { ...second, entity: { ...second.entity, legal_name: "Forged Inc" } };
  expect(chainFault(stored!, [first, renamed, third, fourth])).toBe("the hash of version 2 is wrong");
  expect(chainFault(stored!, [first, third, fourth])).toBe("version 2 is missing");
  expect(chainFault(stored!, [first, second, third])).toBe("the newest version is missing");
  expect(await verifySnapshots(app.live, entity!.id, () => undefined)).toEqual({ entities: 1, faults: 0 });
});
