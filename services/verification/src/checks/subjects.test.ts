import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import {
  CheckSubjectSchema,
  GetCheckSubjectsResponseSchema,
  ResolveVendorResponseSchema,
} from "@vvs/proto/entity/v1/entity";
import { VendorSchema } from "@vvs/proto/verification/v1/verification";
import { createSubjects } from "./subjects.ts";

const caller = { tenant: { organizationId: "org_1", environment: "live" }, actor: "key_1", requestId: "" } as const;
const subject = create(CheckSubjectSchema, { entityId: "ent_1", legalName: "Acme LLC", uei: "ABCDEFGHJK12" });
const vendor = { case: "vendor" as const, value: create(VendorSchema, { identifiers: { uei: "ABCDEFGHJK12" } }) };

test.each([
  ["as entity says", true],
  ["as entity says", false],
  ["not known where no registry knows the vendor", undefined],
])("whether the name agrees is %s: %j", async (_name, nameAgrees) => {
  const { resolve } = createSubjects({
    async resolveVendor({ comparesName }) {
      expect(comparesName).toBe(true);
      return create(ResolveVendorResponseSchema, {
        entityId: "ent_1",
        subject,
        ...(nameAgrees !== undefined && { nameAgrees }),
      });
    },
    getCheckSubjects: () => Promise.reject(new Error("a second question")),
  });
  const resolved = await resolve(caller, vendor, ["sam_registration"]);
  expect(resolved.nameAgrees).toBe(nameAgrees);
  expect(resolved.subject).toMatchObject({ entityId: "ent_1", legalName: "Acme LLC", uei: "ABCDEFGHJK12" });
});

test("a registry entity that an own one took over is unknown to direct calls, and monitors of it go on", async () => {
  const { read, resolve } = createSubjects({
    resolveVendor: async () => create(ResolveVendorResponseSchema),
    getCheckSubjects: async () => create(GetCheckSubjectsResponseSchema, { subjects: [subject] }),
  });
  const taken = { case: "entityId" as const, value: "ent_taken" };
  await expect(resolve(caller, taken, ["sam_registration"])).rejects.toMatchObject({ code: "entity_not_found" });
  expect(await read(caller.tenant, "ent_taken")).toMatchObject({ entityId: "ent_taken", uei: "ABCDEFGHJK12" });
  const own = { case: "entityId" as const, value: "ent_1" };
  expect((await resolve(caller, own, ["sam_registration"])).subject).toMatchObject({ entityId: "ent_1" });
});
