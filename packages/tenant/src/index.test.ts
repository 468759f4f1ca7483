import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { CallerSchema, Environment, TenantSchema } from "@vvs/proto/common/v1/common";
import { type CallerContext, callerOf, environments, tenantOf, toProtoCaller } from "./index.ts";

test.each(environments)("a caller of %s arrives unchanged", (environment) => {
  const caller: CallerContext = {
    tenant: { organizationId: "org_1", environment },
    actor: "key_1",
    requestId: "req_1",
    clientAddress: "203.0.113.9",
    createdEntities: 25_000,
  };
  expect(callerOf(create(CallerSchema, toProtoCaller(caller)))).toEqual(caller);
});

test.each([
  ["no tenant", undefined],
  ["no organization", create(TenantSchema, { environment: Environment.LIVE })],
  ["no environment", create(TenantSchema, { organizationId: "org_1" })],
  ["an unknown environment", create(TenantSchema, { organizationId: "org_1", environment: 9 as Environment })],
])("a message with %s is refused, never treated as some organization's", (_what, tenant) => {
  expect(() => tenantOf(tenant)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  expect(() => callerOf(create(CallerSchema, { tenant, actor: "key_1" }))).toThrow(
    expect.objectContaining({ code: "invalid_request" }),
  );
});

test("a message without a caller is refused", () => {
  expect(() => callerOf(undefined)).toThrow(expect.objectContaining({ code: "invalid_request" }));
});
