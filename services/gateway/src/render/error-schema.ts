import { z } from "@vvs/config";
import { catalogue, type ErrorCode } from "@vvs/errors";
import { candidateSchema } from "./entity-schema.ts";
import { id } from "./values-schema.ts";

const codes = Object.keys(catalogue) as [ErrorCode, ...ErrorCode[]];

/** The body of every error. */
export const errorSchema = z
  .object({
    error: z.enum(codes).meta({ id: "ErrorCode", description: "The kind of error, for programs." }),
    message: z.string().describe("What happened and what to do, for people."),
    request_id: z.string().describe("Quote it when you ask for help."),
    doc_url: z.string().describe("Where the reference page explains the error and says what to do."),
    details: z
      .array(
        z.object({
          path: z.string().describe("Where the problem is, such as `identifiers.uei` or `checks[1]`."),
          message: z.string().describe("The end of a sentence that begins with `path`."),
        }),
      )
      .optional()
      .describe("Every problem of the request, with 400."),
    entity_id: id("ent", "The entity that exists, with `entity_exists`.").optional(),
    candidates: z.array(candidateSchema).optional().describe("The entities that match, with `ambiguous_match`."),
  })
  .meta({ id: "Error", description: "The body of every error." });
