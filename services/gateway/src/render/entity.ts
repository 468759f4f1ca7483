import { z } from "@vvs/config";
import { maskTins } from "@vvs/identifiers";
import { type Candidate, CandidateSchema, type MatchReason, MatchReasonSchema } from "@vvs/proto/common/v1/common";
import { type Entity, EntitySchema, SnapshotSchema } from "@vvs/proto/entity/v1/entity";
import { renderer } from "./renderer.ts";
import { confidence, day, id, page, text, time } from "./schemas.ts";

const registrationStatus = z
  .enum(["active", "inactive", "expired", "debarred"])
  .meta({ id: "RegistrationStatus", description: "The state of a registration in SAM.gov." });

const identifiers = z
  .object({
    uei: text("Unique Entity ID of SAM.gov: 12 letters and digits.").optional(),
    cage: text("CAGE code: 5 letters and digits.").optional(),
    duns: text("D-U-N-S number: 9 digits.").optional(),
    tin: z
      .string()
      .regex(/^\*{4}\d{4}$/)
      .optional()
      .describe("Taxpayer identification number, only as `****` and its last four digits."),
  })
  .meta({ id: "Identifiers", description: "Identifiers by type. Absent types are left out." });

const address = z
  .object({
    type: z.enum(["physical", "mailing"]),
    line1: z.string(),
    line2: z.string().optional(),
    city: z.string(),
    state: z.string(),
    zip: z.string(),
    country: text("ISO 3166 alpha-3 from registries, and as it was given on creation."),
  })
  .meta({ id: "Address", description: "A postal address. Fields that the source lacks are empty." });

const source = z
  .object({
    name: text("For example `sam_gov_extract`, `sandbox_registry` or `organization`."),
    retrieved_at: time("When we received the facts."),
    version: text("The name of the registry’s file.").optional(),
  })
  .meta({ id: "Source", description: "Where facts of an entity come from." });

const part = z.object({
  part: text("Such as `street` of an address."),
  outcome: text("`agrees` or `contradicts`."),
  weight: z.number().describe("Share of the comparison; negative where it contradicts."),
});

const reason = z
  .object({
    criterion: text("Such as `legal_name`, `identifiers.uei` or `address`."),
    outcome: text("`agrees`, `contradicts` or `absent`."),
    weight: z.number().describe("Effect on the confidence; negative where it lowered it."),
    detail: text("The reason in words."),
    parts: z.array(part).optional(),
  })
  .meta({ id: "MatchReason", description: "A reason for or against a match." });

const explanation = z.array(reason).optional().describe("Reasons for and against the match; only with `explain=true`.");

export const entitySchema = z
  .object({
    id: id("ent", "Id of the entity."),
    external_id: text("Your own number of the vendor; absent where you gave none.").optional(),
    legal_name: text("The legal name, or a placeholder such as `Unknown entity (UEI …)`."),
    identifiers,
    sam_gov: z
      .object({
        registration_status: registrationStatus,
        cage: z.string().optional(),
        expiration_date: day(
          "Last day of the registration, in Washington (`America/New_York`): it is active until midnight there.",
        ).optional(),
        entity_type: text("The registry’s text.").optional(),
      })
      .meta({ id: "Registration", description: "The registration in SAM.gov." }),
    addresses: z.array(address),
    confidence: confidence.describe("Certainty of a fuzzy match, from 0 to 1; otherwise 1."),
    sources: z.array(source).min(1),
    explanation,
  })
  .meta({ id: "Entity", description: "A business." });

const renderFields = renderer(EntitySchema, entitySchema, ["identifiers", "confidence", "explanation"]);

/** The public Entity. `confidence` is 1 outside a fuzzy look-up. */
export function renderEntity(entity: Entity, confidence = 1): z.infer<typeof entitySchema> {
  return { ...renderFields(entity), identifiers: { ...entity.identifiers }, confidence };
}

const renderReason = renderer(MatchReasonSchema, reason);

/** Returns why something matched, or undefined without reasons. */
export function renderExplanation(reasons: readonly MatchReason[]): z.infer<typeof explanation> {
  if (reasons.length === 0) return undefined;
  // A detail repeats words of the name asked for, which can look like a TIN.
  return reasons.map((one) => {
    const { detail, parts, ...rest } = renderReason(one);
    return {
      ...rest,
      detail: maskTins(detail),
      parts: parts?.map((each) => ({ ...each, part: maskTins(each.part) })),
    };
  });
}

export const candidateSchema = z
  .object({ id: id("ent", "Id of the entity."), legal_name: z.string(), confidence, explanation })
  .meta({ id: "Candidate", description: "An entity that a look-up could mean." });

const renderCandidateFields = renderer(CandidateSchema, candidateSchema, ["explanation"]);

/** An entity that a look-up could mean; the explanation only where one was asked for. */
export function renderCandidate(candidate: Candidate): z.infer<typeof candidateSchema> {
  return { ...renderCandidateFields(candidate), explanation: renderExplanation(candidate.explanation) };
}

/** Both answers of a look-up that found something. */
export const lookUpSchema = z
  .xor([
    entitySchema,
    z
      .object({ candidates: z.array(candidateSchema).min(1).max(10) })
      .meta({ id: "Candidates", description: "Several entities match. Best first." }),
  ])
  .meta({ id: "LookupResult", description: "The entity, or `candidates` where several match." });

export const entityPageSchema = page("Entity", "entities, newest first", { entities: z.array(entitySchema) });

const snapshot = z
  .object({
    id: id("snp", "Id of the snapshot."),
    entity_id: id("ent", "Its entity."),
    organization_id: id("org", "Your organization; absent on a registry entity.").optional(),
    version: z.int().min(1).describe("1, 2, … per entity."),
    entity: z.record(z.string(), z.unknown()).describe("The whole entity as it was."),
    actor: text("The API key, user or monitor that caused it, or `registry:<file>`."),
    request_id: text("Absent on a registry entity.").optional(),
    created_at: time("When it was written."),
    hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe("SHA-256 over the RFC 8785 form of all other fields."),
    previous_hash: text("`hash` of the version before; absent on the first.").optional(),
  })
  .meta({ id: "Snapshot", description: "An immutable record of an entity at one version." });

/** The public Snapshot: exactly the hashed fields, and the hash. */
export const renderSnapshot = renderer(SnapshotSchema, snapshot);

export const snapshotPageSchema = page("Snapshot", "snapshots, newest first", { snapshots: z.array(snapshot) });
