import { z } from "@vvs/config";
import type { Violation } from "@vvs/errors";
import {
  formOf,
  type IdentifierMap,
  type IdentifierType,
  identifierTypes,
  normalizeIdentifier,
} from "@vvs/identifiers";
import { identifierProblem, isSandboxUei, SANDBOX_UEI_PROBLEM } from "@vvs/identifiers/problems";
import { text } from "./fields.ts";
import { exactIdentifierPattern } from "./patterns.ts";
import { messageOf } from "./violations.ts";

/** Maximum number of entries of an array in a body. No schema allows more. */
export const MAX_ENTRIES = 20;

const patterns: Readonly<Record<IdentifierType, string>> = {
  uei: exactIdentifierPattern("[A-Za-z0-9]", 12),
  cage: exactIdentifierPattern("[A-Za-z0-9]", 5),
  duns: exactIdentifierPattern("[0-9]", 9),
  tin: exactIdentifierPattern("[0-9]", 9),
};

/**
 * Identifiers of a look-up. Malformed values are allowed; they match nothing, and the entity service explains that. One of dashes
 * says that there is none, and stays one.
 */
export const lookUpIdentifiers = identifiers(() => text().transform((value) => normalizeIdentifier(value) || "-")).meta(
  {
    id: "IdentifierCriteria",
    description:
      "At least one identifier, by type or as a list. In a list, equal values of a type count once, and different ones are refused. A malformed value matches nothing. Text that says that there is none, such as `N/A`, counts as not given.",
  },
);

/** Identifiers of a creation or a verification. Every value must have the form of its type. */
export const wellFormedIdentifiers = identifiers((type) =>
  text()
    .transform(normalizeIdentifier)
    .superRefine((value, context) => {
      const message = identifierProblem(type, value);
      if (message !== undefined) context.addIssue({ code: "custom", message, input: value });
    })
    .meta({ pattern: patterns[type], description: `${formOf(type)}; spaces and dashes are removed.` }),
).meta({
  id: "IdentifierInput",
  description:
    "At least one identifier, by type or as a list. In a list, equal values of a type count once, and different ones are refused.",
});

/** Checks the identifiers of a body as sent: UEIs of the sandbox are refused with live keys. */
export function sandboxUeiViolations(
  body: Readonly<Record<string, unknown>>,
  { environment }: { readonly environment: "live" | "sandbox" },
): Violation[] {
  if (environment !== "live") return [];
  return writtenUeis(body.identifiers)
    .filter(([, uei]) => typeof uei === "string" && isSandboxUei(normalizeIdentifier(uei)))
    .map(([path]) => ({ path: `identifiers${path}`, message: SANDBOX_UEI_PROBLEM }));
}

/** Returns each UEI of a map or a list of identifiers, with its path in there. */
function writtenUeis(identifiers: unknown): [path: string, uei: unknown][] {
  if (!Array.isArray(identifiers)) return [[".uei", (identifiers as { uei?: unknown } | null | undefined)?.uei]];
  return identifiers.flatMap((entry, index) => (entry?.type === "uei" ? [[`[${index}].value`, entry.value]] : []));
}

/**
 * Accepts a map of type to value, as in entities, or a list of {type, value}. In a list, equal values of one type count
 * once, and different ones are refused.
 */
function identifiers(valueFor: (type: IdentifierType) => z.ZodType<string>) {
  const schemaOf = {
    uei: valueFor("uei"),
    cage: valueFor("cage"),
    duns: valueFor("duns"),
    tin: valueFor("tin"),
  } satisfies Record<IdentifierType, z.ZodType<string>>;
  const { uei, cage, duns, tin } = schemaOf;
  const map: z.ZodType<IdentifierMap> = z
    .strictObject({ uei: uei.optional(), cage: cage.optional(), duns: duns.optional(), tin: tin.optional() })
    .refine((values) => Object.keys(values).length > 0, {
      error: "must contain at least one identifier",
      // An unknown type has its own message.
      when: ({ issues }) => issues.length === 0,
    });
  const entryOf = <T extends IdentifierType>(type: T) =>
    z.strictObject({ type: z.literal(type), value: schemaOf[type] });
  const entry = z.discriminatedUnion("type", [entryOf("uei"), entryOf("cage"), entryOf("duns"), entryOf("tin")], {
    error: ({ code, input }) => (code === "invalid_union" ? typeProblem(input as { type?: unknown }) : undefined),
  });
  const list = z
    .array(entry)
    .min(1, "must contain at least one identifier")
    .max(MAX_ENTRIES, `must have at most ${MAX_ENTRIES} entries`)
    .transform((entries, context) => {
      const values: { [T in IdentifierType]?: string } = {};
      for (const [index, { type, value }] of entries.entries()) {
        values[type] ??= value;
        if (values[type] === value) continue;
        const message = `must not differ from the other ${type}`;
        context.addIssue({ code: "custom", path: [index, "value"], message, input: entries });
      }
      return values;
    });
  return z
    .unknown()
    .transform((input, context): IdentifierMap => {
      const parsed = (Array.isArray(input) ? list : map).safeParse(input, { error: messageOf });
      if (parsed.success) return parsed.data;
      for (const issue of parsed.error.issues) context.issues.push({ ...issue, input } as z.core.$ZodRawIssue);
      return z.NEVER;
    })
    .meta({ oneOf: [{ ...jsonSchema(map), title: "By type", minProperties: 1 }, listSchema(valueFor)] });
}

const typeProblem = ({ type }: { type?: unknown }) =>
  type === undefined ? "is required" : `must be ${identifierTypes.join(" or ")}`;

/** Returns the JSON Schema of a list, in which each value has the form of its type. */
function listSchema(valueFor: (type: IdentifierType) => z.ZodType<string>) {
  const entryOf = (type: IdentifierType) => ({ properties: { type: { const: type } }, required: ["type"] });
  return {
    title: "As a list",
    type: "array",
    minItems: 1,
    maxItems: MAX_ENTRIES,
    items: {
      oneOf: identifierTypes.map((type) => ({
        type: "object",
        properties: { type: { const: type }, value: jsonSchema(valueFor(type)) },
        required: ["type", "value"],
        additionalProperties: false,
      })),
    },
    allOf: identifierTypes.map((type) => ({ contains: entryOf(type), minContains: 0, maxContains: 1 })),
  };
}

function jsonSchema(schema: z.ZodType) {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}
