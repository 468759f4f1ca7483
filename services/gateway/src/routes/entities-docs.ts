import { entityPageSchema, entitySchema, lookUpSchema, snapshotPageSchema } from "../render/entity.ts";
import { exampleCandidates, exampleCreatedEntity, exampleEntity, exampleSnapshot, lastPage } from "./examples.ts";
import { documented, ok } from "./route.ts";

/** The query parameter `explain`. */
export const explain = {
  type: "boolean",
  enum: undefined,
  description: "Adds `explanation` to the entity and to each candidate.",
} as const;

/** The body of a look-up, beyond its fields. */
export const lookUpRequest = {
  id: "LookupRequest",
  description: "At least one of `identifiers`, `legal_name` and `address`.",
  anyOf: [{ required: ["identifiers"] }, { required: ["legal_name"] }, { required: ["address"] }],
};

export const lookUp = documented({
  operationId: "lookupEntity",
  tag: "Look up",
  summary: "Find an entity",
  description: `Finds the entity that matches. Read-only: it never creates one. You see the entities of the registry and those that your organization created.

- \`exact\` (default): an entity must carry an identifier that you give and contradict none, and agree with the legal name and the address where you give them. Case, punctuation, accents, abbreviations and spellings of one legal form are equal.
- \`fuzzy\`: all criteria are scored together, and typing errors and word order are tolerated. One candidate, or one that clearly leads, is the entity; several are listed as \`candidates\`. A candidate has a confidence of at least 0.60.

Identifiers that name different entities are 409 \`ambiguous_match\`. Values are trimmed and upper-cased, and spaces and dashes are removed.`,
  requests: {
    "By identifier": { identifiers: { uei: "SANDBXACTVE1" } },
    "By identifiers as a list": { identifiers: [{ type: "uei", value: "SANDBXACTVE1" }] },
    "By name, tolerating typing errors": { legal_name: "Sandbox Activ Vendor", mode: "fuzzy" },
  },
  answers: ok("The entity, or the candidates of a fuzzy look-up.", lookUpSchema, {
    "One entity": exampleEntity,
    "Several candidates": exampleCandidates,
  }),
  errors: ["entity_not_found", "ambiguous_match"],
});

export const create = documented({
  operationId: "createEntity",
  tag: "Create",
  summary: "Create an entity",
  description: `Creates an entity that only your organization sees, with its first snapshot. Its registration status is \`inactive\` until a registry says otherwise. When a registry row with its UEI or CAGE appears later, the entity keeps its id and takes the registry’s facts.

The same content again returns the existing entity; another \`external_id\` then replaces its number. Other content with an identifier that an entity carries is 409 \`entity_exists\` with its \`entity_id\`. Send a TIN only as \`identifiers.tin\`: text that looks like one is refused everywhere else.`,
  requests: {
    "With a TIN and an address": {
      legal_name: "Acme Tools LLC",
      identifiers: { tin: "12-3456780" },
      address: { line1: "1 Main St", city: "Springfield", state: "IL", zip: "62701", country: "USA" },
    },
    "With your own number": { legal_name: "Acme Tools LLC", external_id: "V-10042" },
    "Name only": { legal_name: "Acme Tools LLC" },
  },
  answers: {
    201: {
      description: "The created entity, or the existing one with identical content.",
      body: entitySchema,
      examples: { "The created entity": exampleCreatedEntity },
    },
  },
  errors: ["limit_exceeded", "entity_exists"],
});

export const setExternalId = documented({
  operationId: "setExternalId",
  tag: "Create",
  summary: "Set your number of an entity",
  description:
    "Gives an entity that you can see your own vendor number; null removes it. Only your organization sees it, also on an entity of the registry. Events and webhooks of monitors carry it. It is in no snapshot.",
  requests: { "Your number": { external_id: "V-10042" }, "No number": { external_id: null } },
  answers: ok("The entity with its new number.", entitySchema, {
    "An entity": { ...exampleEntity, external_id: "V-10042" },
  }),
});

/** The query parameter `external_id` of the list of entities. */
export const externalIdFilter =
  "Only entities to which you gave this number: all that you can see, those of the registry included.";

export const list = documented({
  operationId: "listEntities",
  tag: "Create",
  summary: "List your entities",
  description:
    "Lists the entities that your organization created, newest first. With `external_id` it lists the entities with that number instead; a page of these can be shorter than `limit`.",
  answers: ok("A page of entities.", entityPageSchema, lastPage({ entities: [exampleCreatedEntity] })),
});

export const get = documented({
  operationId: "getEntity",
  tag: "Look up",
  summary: "Get an entity",
  description: "Returns an entity as your organization sees it. `confidence` is 1.",
  answers: ok("The entity.", entitySchema, { "An entity": exampleEntity }),
});

export const snapshots = documented({
  operationId: "listSnapshots",
  tag: "Look up",
  summary: "List the snapshots of an entity",
  description:
    "Lists the versions of an entity, newest first. Each change appends a snapshot, and none is ever changed or deleted. `hash` and `previous_hash` chain them.",
  answers: ok("A page of snapshots.", snapshotPageSchema, lastPage({ snapshots: [exampleSnapshot] })),
});
