import { expect, test } from "@jest/globals";
import { callerFor, startTestApplication } from "../testing/application.ts";
import { entityDocument } from "../testing/entity-document.ts";

const app = await startTestApplication();

test("a call for several organizations returns each one's own entities, in order, and never another's", async () => {
  const [one, two] = [callerFor("org_one"), callerFor("org_two")];
  const elsewhere = callerFor("org_one", "sandbox");
  const create = async (caller: typeof one, legalName: string, identifiers: Record<string, string>) =>
    (await app.gateway.createEntity({ caller, legalName, identifiers })).entity!.id;
  const oneUnlike = await create(one, "Harbor Freightways", { uei: "ABCDEFGHJK51", tin: "510000001" });
  const twoAlike = await create(two, "Second Harbor", { uei: "ABCDEFGHJK51", tin: "510000002" });
  const sandboxed = await create(elsewhere, "Sandbox Harbor", { tin: "510000003" });
  const keys = [
    { tenant: two.tenant, entityId: twoAlike },
    { tenant: one.tenant, entityId: twoAlike },
    { tenant: elsewhere.tenant, entityId: sandboxed },
    { tenant: one.tenant, entityId: sandboxed },
    { tenant: one.tenant, entityId: oneUnlike },
    { tenant: two.tenant, entityId: oneUnlike },
    { tenant: one.tenant, entityId: "ent_of_nobody" },
    { tenant: one.tenant, entityId: oneUnlike },
  ];
  const { subjects } = await app.verification.getCheckSubjects({ keys });
  const names = subjects.map(({ entityId, legalName, tinHash }) => [entityId, legalName, tinHash.length > 0]);
  const unseen = ["", "", false];
  expect(names).toEqual([
    [twoAlike, "Second Harbor", true],
    unseen,
    [sandboxed, "Sandbox Harbor", true],
    unseen,
    [oneUnlike, "Harbor Freightways", true],
    unseen,
    unseen,
    [oneUnlike, "Harbor Freightways", true],
  ]);
});

test("identifiers that one organization remembers of a registry entity never reach another, not even in a shared call", async () => {
  const _id = "ent_registry51";
  await app.live.entities.insertOne(entityDocument({ _id, identifiers: { uei: "ABCDEFGHJK52" } }));
  const [knows, doesNot] = [callerFor("org_knows"), callerFor("org_does_not")];
  const identifiers = { uei: "ABCDEFGHJK52", tin: "520000001", cage: "5XYZ1" };
  await app.verification.resolveVendor({ caller: knows, identifiers });
  const { subjects } = await app.verification.getCheckSubjects({
    keys: [
      { tenant: doesNot.tenant, entityId: _id },
      { tenant: knows.tenant, entityId: _id },
    ],
  });
  expect(subjects.map(({ cage, tinHash }) => [cage, tinHash.length > 0])).toEqual([
    ["", false],
    ["5XYZ1", true],
  ]);
});

test("more than 100 subjects in a call are refused", async () => {
  const { tenant } = callerFor("org_many");
  const keys = Array.from({ length: 101 }, () => ({ tenant, entityId: "ent_1" }));
  await expect(app.verification.getCheckSubjects({ keys })).rejects.toMatchObject({ code: "invalid_request" });
});
