import { expect, test } from "@jest/globals";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { callerFor } from "../../services/entity/src/testing/application.ts";
import { type CommandCounts, commandsDuring, total } from "../support/command-counts.ts";
import { startCostStack, UEI } from "./stack.ts";

// How many commands MongoDB gets for calls about vendors and for lists. They don't depend on the machine's speed.

const caller = callerFor("org_0");
const TIN = "411000001";
const stack = await startCostStack();
const address = { line1: "1 Main St", city: "Springfield", state: "IL", zip: "62701", country: "USA" };
const identifiers = { tin: TIN };
const legalName = "Own Works LLC";
const own = (await stack.entity.gateway.createEntity({ caller, legalName, identifiers, address })).entity!.id;
await stack.verify(0, Mode.REALTIME);
await stack.publish(1);

const counted = (work: () => Promise<unknown>): Promise<CommandCounts> => commandsDuring(stack.clients, work);

test.each([
  ["UEI", 1, { identifiers: { uei: "ABCDEFGHJK71" } }],
  ["TIN", 4, { identifiers: { tin: TIN } }],
  ["name", 2, { legalName: "Own Works LLC" }],
  ["name and address", 2, { legalName: "Own Works LLC", address: "1 Main St, Springfield, IL 62701" }],
])("a look-up by %s costs at most %d commands", async (_by, most, query) => {
  const counts = await counted(async () => {
    expect(await stack.entity.gateway.lookUp({ caller, ...query })).toHaveProperty("entity.id");
  });
  expect(total(counts)).toBeLessThanOrEqual(most);
});

test.each([
  ["name", 7, {}],
  ["TIN", 12, { identifiers: { tin: "411000002" } }],
  [
    "TIN and a key",
    14,
    { identifiers: { tin: "411000003" }, idempotency: { key: "a", requestHash: new Uint8Array(32) } },
  ],
])("creating an entity with a %s costs at most %d commands", async (legalName, most, fields) => {
  const counts = await counted(() => stack.entity.gateway.createEntity({ caller, legalName, ...fields }));
  expect(total(counts)).toBeLessThanOrEqual(most);
});

test("reading an entity costs 1 command, and one of the registry 2", async () => {
  const read = (entityId: string) => counted(() => stack.entity.gateway.getEntity({ caller, entityId }));
  expect(total(await read(own))).toBeLessThanOrEqual(1);
  expect(total(await read(stack.vendorId))).toBeLessThanOrEqual(2);
});

test("comparing the name of a vendor of the registry costs no command", async () => {
  const resolve = (fields: object) =>
    counted(() => stack.entity.verification.resolveVendor({ caller, identifiers: { uei: UEI }, ...fields }));
  const without = await resolve({});
  expect(await resolve({ legalName: "REGISTERED LLC", comparesName: true })).toEqual(without);
});

test("a page of vendors costs at most 3 commands, and one of entities 2", async () => {
  const { dashboard, gateway } = stack.entity;
  expect(total(await counted(() => dashboard.listVendors({ caller, limit: 50 })))).toBeLessThanOrEqual(3);
  expect(total(await counted(() => gateway.listEntities({ caller, page: { limit: 50 } })))).toBeLessThanOrEqual(2);
});

test("a page of verifications costs 1 command", async () => {
  const counts = await counted(async () => {
    const { verifications } = await stack.verification.client.listVerifications({ caller, page: { limit: 50 } });
    expect(verifications).toHaveLength(1);
  });
  expect(total(counts)).toBeLessThanOrEqual(1);
});
