import { z } from "@vvs/config";
import {
  externalId,
  MAX_ADDRESS_CHARACTERS,
  MAX_NAME_CHARACTERS,
  postalAddress,
  readableText,
  textWithoutTin,
} from "../input/fields.ts";
import { lookUpIdentifiers, sandboxUeiViolations, wellFormedIdentifiers } from "../input/identifiers.ts";
import { writeCursor } from "../input/page.ts";
import { renderCandidate, renderEntity, renderExplanation, renderSnapshot } from "../render/entity.ts";
import * as docs from "./entities-docs.ts";
import { type Route, route } from "./route.ts";

const entityId = { prefix: "ent", missing: "entity_not_found" } as const;

export const entityRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/v1/entities/lookup",
    scope: "entities:read",
    docs: docs.lookUp,
    query: z.strictObject({ explain: z.enum(["true", "false"]).optional().meta(docs.explain) }),
    body: z
      .strictObject({
        identifiers: lookUpIdentifiers.optional(),
        legal_name: readableText(MAX_NAME_CHARACTERS).optional(),
        address: readableText(MAX_ADDRESS_CHARACTERS).optional().describe("In one line."),
        mode: z.enum(["exact", "fuzzy"]).default("exact"),
      })
      .meta(docs.lookUpRequest),
    rules(body) {
      if (["identifiers", "legal_name", "address"].some((field) => body[field] !== undefined)) return [];
      return [{ path: "body", message: "must contain at least one of identifiers, legal_name and address" }];
    },
    async handle({ caller, query, body, hungUp }, { entity }) {
      const lookUp = {
        caller,
        identifiers: body.identifiers,
        legalName: body.legal_name,
        address: body.address,
        fuzzy: body.mode === "fuzzy",
        explain: query.explain === "true",
      };
      const found = await entity.lookUp(lookUp, { signal: hungUp });
      if (!found.entity) return { body: { candidates: found.candidates.map(renderCandidate) } };
      const explanation = renderExplanation(found.explanation);
      return { body: { ...renderEntity(found.entity, found.confidence), explanation } };
    },
  }),
  route({
    method: "POST",
    path: "/v1/entities",
    scope: "entities:write",
    docs: docs.create,
    idempotent: true,
    body: z
      .strictObject({
        legal_name: textWithoutTin(MAX_NAME_CHARACTERS),
        external_id: externalId().optional(),
        identifiers: wellFormedIdentifiers.optional(),
        address: postalAddress.optional(),
      })
      .meta({ id: "CreateEntityRequest" }),
    rules: sandboxUeiViolations,
    async handle({ caller, body, idempotency }, { entity }) {
      const created = await entity.createEntity({
        caller,
        legalName: body.legal_name,
        externalId: body.external_id,
        identifiers: body.identifiers,
        address: body.address && { type: "physical", ...body.address },
        idempotency,
      });
      return {
        status: 201,
        body: renderEntity(created.entity!),
        location: `/v1/entities/${created.entity!.id}`,
        replayed: created.replayed,
      };
    },
  }),
  route({
    method: "GET",
    path: "/v1/entities",
    scope: "entities:read",
    docs: docs.list,
    list: true,
    query: z.strictObject({ external_id: externalId().describe(docs.externalIdFilter).optional() }),
    async handle({ caller, page, list, query, hungUp }, { entity }) {
      const wanted = { caller, page, externalId: query.external_id };
      const { entities, next } = await entity.listEntities(wanted, { signal: hungUp });
      return { body: { entities: entities.map((one) => renderEntity(one)), next_cursor: writeCursor(list, next) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/entities/:id",
    scope: "entities:read",
    docs: docs.get,
    id: entityId,
    async handle({ caller, id }, { entity }) {
      const found = await entity.getEntity({ caller, entityId: id });
      return { body: renderEntity(found.entity!) };
    },
  }),
  route({
    method: "PUT",
    path: "/v1/entities/:id/external_id",
    scope: "entities:write",
    docs: docs.setExternalId,
    id: entityId,
    body: z.strictObject({ external_id: externalId().nullable() }).meta({ id: "SetExternalIdRequest" }),
    async handle({ caller, id, body }, { entity }) {
      // In the gRPC message an empty number removes it.
      const changed = await entity.setExternalId({ caller, entityId: id, externalId: body.external_id ?? "" });
      return { body: renderEntity(changed.entity!) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/entities/:id/snapshots",
    scope: "entities:read",
    docs: docs.snapshots,
    id: entityId,
    list: true,
    async handle({ caller, id, page, list }, { entity }) {
      const { snapshots, next } = await entity.listSnapshots({ caller, entityId: id, page });
      return { body: { snapshots: snapshots.map(renderSnapshot), next_cursor: writeCursor(list, next) } };
    },
  }),
];
