import { resultReasons } from "@vvs/checks";
import { z } from "@vvs/config";
import { ExclusionDetailsSchema, ResultDetailsSchema } from "@vvs/proto/verification/v1/result_details";
import {
  EvidenceSchema,
  ProviderSchema,
  ResultSchema,
  type Verification,
  VerificationSchema,
} from "@vvs/proto/verification/v1/verification";
import { renderer } from "./renderer.ts";
import { checkStatus, checkType, confidence, day, id, page, text, time } from "./schemas.ts";

const exclusion = z.object({
  program: z.string().optional(),
  type: z.string().optional(),
  agency: z.string().optional(),
  active_date: day("First day, in Washington.").optional(),
  termination_date: text("Last day, in Washington, YYYY-MM-DD, or `indefinite`.").optional(),
  effect: text(
    "`bar`: excluded from federal awards. `facility`: only one of its places is; both fail. `product`: only some of its " +
      "products and services may not be bought, which fails nothing by itself.",
  ),
  comment: text("The excluding agency's comment.").optional(),
});

const sameName = z
  .object({
    name: text("As SAM.gov lists it; a person’s first, middle and last name."),
    program: z.string().optional(),
    type: z.string().optional(),
    agency: z.string().optional(),
    active_date: day("First day, in Washington.").optional(),
    termination_date: text("Last day, in Washington, YYYY-MM-DD, or `indefinite`."),
  })
  .meta({
    id: "SameName",
    description: "An exclusion that bears the vendor’s name and has no UEI or CAGE, so that it may be somebody else’s.",
  });

const details = z
  .object({
    registration_status: z.string().optional(),
    expiration_date: day(
      "Last day of the registration, in Washington (`America/New_York`): it is active until midnight there.",
    ).optional(),
    legal_name: z.string().optional(),
    cage: z.string().optional(),
    entity_type: z.string().optional(),
    exclusions: z.array(exclusion).optional(),
    same_name: z
      .array(sameName)
      .optional()
      .describe(
        "Exclusions in SAM.gov’s file without a UEI and a CAGE that bear a registered name of the vendor, or the name in your call: " +
          "at most 20 of each name. They may be of somebody else, so they change no status: look at them before you pay. Absent where there are none.",
      ),
    same_name_unknown: z
      .literal(true)
      .optional()
      .describe("Exclusions of the vendor’s name could not be looked up. Verify again before you pay."),
    irs_code: text("Result code of the IRS, one digit.").optional(),
    tin: text("The TIN that was asked about, masked: `****` and its last four digits.").optional(),
    name: text("The name that was asked about, in the form in which the IRS was asked.").optional(),
    data_as_of: time("Date of the data.").optional(),
  })
  .meta({ id: "ResultDetails", description: "What the verdict rests on." });

const origin = text(
  "Where the answer comes from: `sam_gov_api`, `sam_gov_extract`, `taxbandits`, `compliancely`, `sandbox_primary`, " +
    "`sandbox_secondary`, or `none` where nothing answered.",
);

const result = z
  .object({
    check_type: checkType,
    status: checkStatus,
    confidence: confidence.describe("From 0 to 1; 0 on `error`."),
    origin,
    determinism: z.enum(["deterministic", "stochastic"]),
    data_freshness_seconds: z
      .int()
      .min(0)
      .describe("Age of the data when the verification was created, in seconds; 0 on `error`."),
    evidence_uri: z.url().describe("Absolute URL of the evidence."),
    reason: z
      .enum(resultReasons)
      .optional()
      .describe(
        "Why it is not `pass`. The reference page says what each means and what to do, at `/docs#reason-<reason>`.",
      ),
    details: details.optional(),
  })
  .meta({ id: "CheckResult", description: "The result of one check." });

export const verificationSchema = z
  .object({
    id: id("ver", "Id of the verification."),
    entity_id: id("ent", "The verified entity."),
    overall_result: checkStatus.describe(
      "`fail` if any check failed; else `error` if any check is `error`; else `pass`.",
    ),
    results: z.array(result).min(1).describe("In the order in which the checks were asked for."),
    created_at: time("When it was created."),
  })
  .meta({ id: "Verification", description: "The results of one or more checks of an entity." });

const renderFields = renderer(VerificationSchema, verificationSchema, ["results"]);
const renderResult = renderer(ResultSchema, result, ["determinism", "evidence_uri", "details"]);
const renderDetails = renderer(ResultDetailsSchema, details, ["exclusions"]);
const renderExclusion = renderer(ExclusionDetailsSchema, exclusion);

/** The public Verification. Links to evidence begin with the public base URL. */
export function renderVerification(
  verification: Verification,
  publicBaseUrl: string,
): z.infer<typeof verificationSchema> {
  return {
    ...renderFields(verification),
    results: verification.results.map((one) => ({
      ...renderResult(one),
      determinism: "deterministic",
      evidence_uri: `${publicBaseUrl}/v1/evidence/${one.evidenceId}`,
      details: one.details && {
        ...renderDetails(one.details),
        exclusions: one.details.exclusions?.exclusions.map((each) => ({
          ...renderExclusion(each),
          // What was stored before effects were known counts as a bar.
          effect: each.effect || "bar",
        })),
      },
    })),
  };
}

export const verificationPageSchema = page("Verification", "verifications, newest first", {
  verifications: z.array(verificationSchema),
});

export const evidenceSchema = z
  .object({
    id: id("evd", "Id of the evidence."),
    verification_id: id("ver", "The verification that stored it first."),
    check_type: checkType,
    origin,
    content: text("The provider’s answer as received, with secrets and TINs masked; empty where no provider answered."),
    content_type: text("Media type of `content`; empty where no provider answered."),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe("SHA-256 of `content`."),
    attempts: z.array(
      z.object({
        provider: z.string(),
        outcome: text("`pass`, `fail` or `throw`."),
        reason: text("The reason of the result, or why the provider gave no answer.").optional(),
        started_at: time("When the provider was asked."),
        duration_ms: z.int().min(0),
      }),
    ),
    sources: z
      .array(
        z.object({
          part: text("`registration` or `exclusions`."),
          origin: text("`sam_gov_api`, `sam_gov_extract` or `sam_gov_exclusions`."),
          data_as_of: time("When SAM.gov’s API answered, or when the file was cut."),
          file: text("Name of the file.").optional(),
          sha256: text("SHA-256 of the file.").optional(),
        }),
      )
      .describe("Where each part of an answer about a registration is from. Empty for other answers."),
    created_at: time("When it was stored."),
  })
  .meta({ id: "Evidence", description: "What a result rests on. Immutable." });

/** The public Evidence. Its content is empty if no provider answered. */
export const renderEvidence = renderer(EvidenceSchema, evidenceSchema);

const provider = z
  .object({
    name: z.string(),
    checks: z.array(checkType),
    state: z.enum(["available", "degraded", "unavailable"]),
    quota_remaining: z.int().min(0).optional().describe("Calls left today; absent where unknown."),
    last_success_at: time("When it last answered.").optional(),
  })
  .meta({ id: "Provider", description: "A provider of checks and its state." });

export const renderProvider = renderer(ProviderSchema, provider);

export const providersSchema = z.object({ providers: z.array(provider) }).meta({
  id: "Providers",
  description: "The providers of the key’s environment, in the order in which they are asked.",
});
