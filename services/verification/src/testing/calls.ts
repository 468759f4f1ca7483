import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import type { CheckSubject } from "@vvs/proto/entity/v1/entity";
import {
  type VerificationCompleted,
  VerificationCompletedSchema,
  type VerificationRequested,
  VerificationRequestedSchema,
} from "@vvs/proto/events/v1/events";
import { Mode, type Verification, type VerifyRequestSchema } from "@vvs/proto/verification/v1/verification";
import type { Binary, Db } from "mongodb";
import type { Answer, Provider, Question } from "../providers/provider.ts";
import type { TestEntity } from "./entities.ts";
import type { TestService } from "./service.ts";

/** Returns an answer that passes, with what differs. */
export const passing = (more: Partial<Answer> = {}): Answer => ({
  ...{ outcome: "pass", reason: "", confidence: 1, dataDate: new Date(), facts: {} },
  ...{ content: "{}", contentType: "application/json" },
  ...more,
});

/** Returns a provider that passes every vendor, or answers as given. */
export const testProvider = (
  name: string,
  check: Provider["check"] = "sam_registration",
  ask: Provider["ask"] = async () => passing(),
): Provider => ({ name, check, ask });

/** Returns a question that a provider of the live environment is asked, with what differs. */
export const questionOf = (more: Partial<Question> = {}): Question => ({
  tenant: { organizationId: "org_1", environment: "live" },
  ...{ uei: "", cage: "", legalName: "", entityType: "" },
  tin: () => Promise.reject(new Error("this check needs no TIN")),
  run: undefined,
  ...more,
});

/** Returns the caller of an organization's key. */
export const callerOf = (organizationId: string, environment = Environment.LIVE, actor = "key_1") => ({
  tenant: { organizationId, environment },
  actor,
  requestId: "req_1",
});

/** A vendor of an organization that entity knows. */
export interface TestVendor {
  readonly organizationId: string;
  readonly entityId: string;
}

/**
 * Makes an entity with a UEI visible to an organization, on all these services; new ones where none is named. `tin`: its TIN
 * in clear.
 */
export function putVendor(
  on: TestService | readonly TestService[],
  {
    organizationId = newId("org"),
    entityId = newId("ent"),
    tin,
    ...subject
  }: Partial<TestVendor> & Omit<Exclude<TestEntity["subject"], CheckSubject>, "entityId"> = {},
): TestVendor {
  const entity = { subject: { legalName: "Acme LLC", uei: "ABCDEFGHJK12", ...subject }, ...(tin && { tin }) };
  for (const { entities } of [on].flat()) entities.put(organizationId, entityId, entity);
  return { organizationId, entityId };
}

/** What differs from a live realtime call that checks a vendor's registration. */
export type TestCall = Omit<Exclude<MessageInitShape<typeof VerifyRequestSchema>, { $typeName: string }>, "caller"> & {
  readonly environment?: Environment;
  readonly actor?: string;
  readonly timeoutMs?: number;
};

/** Verifies a vendor as the gateway does. */
export async function verify(
  service: TestService,
  { organizationId, entityId }: TestVendor,
  { environment, actor, timeoutMs, ...request }: TestCall = {},
): Promise<Verification> {
  const { verification } = await service.client.verify(
    {
      caller: callerOf(organizationId, environment, actor),
      target: { case: "entityId", value: entityId },
      checks: [CheckType.SAM_REGISTRATION],
      mode: Mode.REALTIME,
      ...request,
    },
    { timeoutMs },
  );
  return verification!;
}

/** Reads a stored result's evidence as its organization. */
export async function evidenceOf(service: TestService, evidenceId: string, organizationId: string, of?: Environment) {
  const { evidence } = await service.client.getEvidence({ caller: callerOf(organizationId, of), evidenceId });
  return evidence!;
}

/** Returns the first result of a verification, in words too, with its evidence and the attempts in words. */
export async function resultOf(
  service: TestService,
  { organizationId, results }: { readonly organizationId: string; readonly results: Verification["results"] },
  environment?: Environment,
) {
  const first = results[0]!;
  const evidence = await evidenceOf(service, first.evidenceId, organizationId, environment);
  return {
    first,
    result: `${CheckStatus[first.status]} ${first.origin} ${first.reason}`.trim(),
    evidence,
    attempts: evidence.attempts.map((each) => `${each.provider} ${each.outcome} ${each.reason}`.trim()),
  };
}

/** Verifies a vendor as the gateway does; returns the first result as `resultOf` does. */
export async function verifyResult(service: TestService, vendor: TestVendor, call: TestCall = {}) {
  const { results } = await verify(service, vendor, call);
  return resultOf(service, { ...vendor, results }, call.environment);
}

/** Returns the records of stored verifications in an outbox, oldest first. */
export async function completedIn(db: Db, of: { readonly record_id?: string } = {}): Promise<VerificationCompleted[]> {
  const rows = db.collection<{ record_id: string; value: Binary }>("outbox").find(of).sort({ _id: 1 });
  return (await rows.toArray()).map(({ value }) => fromBinary(VerificationCompletedSchema, value.value()));
}

/** Returns the record of a monitor's run: of a new monitor where none is named. */
export function requestedRun(
  { organizationId, entityId }: TestVendor,
  {
    monitorId = newId("mon"),
    runSeq = 1,
    environment = Environment.LIVE,
    ...more
  }: Partial<Omit<VerificationRequested, "tenant" | "run" | "$typeName">> & {
    readonly monitorId?: string;
    readonly runSeq?: number;
    readonly environment?: Environment;
  } = {},
): VerificationRequested {
  return create(VerificationRequestedSchema, {
    recordId: `${monitorId}:${runSeq}`,
    tenant: { organizationId, environment },
    run: { monitorId, runSeq: BigInt(runSeq) },
    entityId,
    checks: [CheckType.SAM_REGISTRATION],
    ...more,
  });
}
