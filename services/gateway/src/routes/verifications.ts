import { z } from "@vvs/config";
import { ServiceError } from "@vvs/errors";
import { isPlaceholderName } from "@vvs/identifiers/placeholder-name";
import { isId } from "@vvs/ids";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { checks, entityId, enumValue, MAX_NAME_CHARACTERS, text, textWithoutTin } from "../input/fields.ts";
import { sandboxUeiViolations, wellFormedIdentifiers } from "../input/identifiers.ts";
import { writeCursor } from "../input/page.ts";
import { renderEvidence, renderProvider, renderVerification, type verificationSchema } from "../render/verification.ts";
import { type Call, type Reply, type Route, type RouteContext, route } from "./route.ts";
import * as docs from "./verifications-docs.ts";

/** Timeout of a verification, in milliseconds. With the gateway's own work a request ends within 25 s. */
const VERIFY_TIMEOUT_MS = 24_500;

/** One year. */
const MAX_AGE_SECONDS = 31_536_000;

export const mode = z
  .enum(["cached", "realtime"])
  .meta(docs.mode)
  .transform((name) => enumValue(Mode, name));
const ageProblem = `must be a whole number from 0 to ${MAX_AGE_SECONDS}`;
export const maxAgeSeconds = z
  .int(ageProblem)
  .min(0, ageProblem)
  .max(MAX_AGE_SECONDS, ageProblem)
  .optional()
  .meta(docs.maxAge);

const byVendor = z
  .strictObject({
    identifiers: wellFormedIdentifiers,
    legal_name: textWithoutTin(MAX_NAME_CHARACTERS).optional(),
    checks,
    mode,
    max_age_seconds: maxAgeSeconds,
  })
  .meta({ id: "VerifyVendorRequest", title: "By identifiers" });
const byEntity = z
  .strictObject({ entity_id: entityId, checks, mode, max_age_seconds: maxAgeSeconds })
  .meta({ id: "CreateVerificationRequest", title: "By entity" });

/** One schema for both forms lists all problems at once; the rules of the route tell the forms apart. */
const byEither = z
  .strictObject({ ...byVendor.shape, entity_id: entityId.optional(), identifiers: wellFormedIdentifiers.optional() })
  .meta({
    id: "VerifyRequest",
    description: "Either `entity_id`, or `identifiers` with `legal_name` where you know it.",
  });

export const verificationRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/v1/verify",
    scope: "verifications:write",
    isLong: true,
    docs: { ...docs.verify, body: z.xor([byVendor, byEntity]) },
    idempotent: true,
    body: byEither,
    rules(body, context) {
      const { entity_id, identifiers, legal_name } = body;
      if (entity_id === undefined && identifiers === undefined) {
        return [{ path: "body", message: "must contain entity_id or identifiers" }];
      }
      if (entity_id === undefined) return sandboxUeiViolations(body, context);
      return Object.entries({ identifiers, legal_name })
        .filter(([, value]) => value !== undefined)
        .map(([path]) => ({ path, message: "must not be given together with entity_id" }));
    },
    handle: verify,
  }),
  route({
    method: "POST",
    path: "/v1/verifications",
    scope: "verifications:write",
    isLong: true,
    docs: docs.create,
    idempotent: true,
    body: byEntity,
    handle: verify,
  }),
  route({
    method: "GET",
    path: "/v1/verifications",
    scope: "verifications:read",
    docs: docs.list,
    list: true,
    query: z.strictObject({ entity_id: text().optional().meta(docs.entityFilter) }),
    async handle({ caller, query, page, list }, { verification, publicBaseUrl }) {
      // Text that is not an entity id matches no verification.
      if (query.entity_id && !isId("ent", query.entity_id)) return { body: { verifications: [], next_cursor: null } };
      const found = await verification.listVerifications({ caller, entityId: query.entity_id, page });
      return {
        body: {
          verifications: found.verifications.map((one) => renderVerification(one, publicBaseUrl)),
          next_cursor: writeCursor(list, found.next),
        },
      };
    },
  }),
  route({
    method: "GET",
    path: "/v1/verifications/:id",
    scope: "verifications:read",
    docs: docs.get,
    id: { prefix: "ver", missing: "verification_not_found" },
    async handle({ caller, id }, { verification, publicBaseUrl }) {
      const found = await verification.getVerification({ caller, verificationId: id });
      return { body: renderVerification(found.verification!, publicBaseUrl) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/verifications/:id/receipt",
    scope: "verifications:read",
    docs: docs.receipt,
    id: { prefix: "ver", missing: "verification_not_found" },
    async handle({ caller, id }, { verification, publicBaseUrl }) {
      const { receipt } = await verification.getReceipt({ caller, verificationId: id, issuer: publicBaseUrl });
      return { body: receipt };
    },
  }),
  route({
    method: "GET",
    path: "/v1/evidence/:id",
    scope: "verifications:read",
    docs: docs.evidence,
    id: { prefix: "evd", missing: "evidence_not_found" },
    async handle({ caller, id }, { verification }) {
      const found = await verification.getEvidence({ caller, evidenceId: id });
      return { body: renderEvidence(found.evidence!) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/providers",
    scope: "verifications:read",
    docs: docs.providers,
    async handle({ caller }, { verification }) {
      const { providers } = await verification.listProviders({ environment: caller.tenant.environment });
      return { body: { providers: providers.map(renderProvider) } };
    },
  }),
];

async function verify(
  { caller, body, idempotency }: Call<unknown, z.output<typeof byEither>>,
  { verification, publicBaseUrl }: RouteContext,
): Promise<Reply<z.infer<typeof verificationSchema>>> {
  const { entity_id: entityId, identifiers = {}, legal_name: name = "", checks, mode, max_age_seconds } = body;
  if (entityId && !isId("ent", entityId)) throw new ServiceError("entity_not_found");
  const target = entityId
    ? { case: "entityId" as const, value: entityId }
    : { case: "vendor" as const, value: { identifiers, legalName: isPlaceholderName(name) ? "" : name } };
  const request = { caller, target, checks, mode, maxAgeSeconds: max_age_seconds, idempotency };
  const answer = await verification.verify(request, { timeoutMs: VERIFY_TIMEOUT_MS });
  return { body: renderVerification(answer.verification!, publicBaseUrl), replayed: answer.replayed };
}
