import { z } from "@vvs/config";
import {
  formOf,
  type IdentifierMap,
  type IdentifierType,
  identifierTypes,
  isWellFormed,
  normalizeIdentifier,
} from "@vvs/identifiers";
import { text } from "./text.ts";
import { messageOf } from "./violations.ts";

/** Identifiers of a look-up. Malformed values are allowed; they match nothing, and the entity service explains that. */
export const lookUpIdentifiers = identifiers(normalized);

/** Identifiers of a creation or a verification. Every value must have the form of its type. */
export const wellFormedIdentifiers = identifiers((type) =>
  normalized(type).refine((value) => isWellFormed(type, value), `must be ${formOf(type)}`),
);

function normalized(type: IdentifierType): z.ZodType<string> {
  return text()
    .transform(normalizeIdentifier)
    .refine((value) => value !== "", `must be ${formOf(type)}`);
}

/**
 * Accepts a map of type to value, as in entities, or a list of {type, value}. In a list, equal values of one type count
 * once, and different ones are refused.
 */
function identifiers(valueFor: (type: IdentifierType) => z.ZodType<string>) {
  const optional = (type: IdentifierType) => valueFor(type).optional();
  const map: z.ZodType<IdentifierMap> = z
    .strictObject({ uei: optional("uei"), cage: optional("cage"), duns: optional("duns"), tin: optional("tin") })
    .refine((values) => Object.keys(values).length > 0, {
      error: "must contain at least one identifier",
      // An unknown type has its own message.
      when: ({ issues }) => issues.length === 0,
    });
  const list = z
    .array(z.strictObject({ type: z.enum(identifierTypes), value: text() }))
    .min(1, "must contain at least one identifier")
    .transform((entries, context) => {
      const values: { [T in IdentifierType]?: string } = {};
      for (const [index, { type, value }] of entries.entries()) {
        const refuse = (message: string) =>
          context.addIssue({ code: "custom", path: [index, "value"], message, input: entries });
        const parsed = valueFor(type).safeParse(value, { error: messageOf });
        if (!parsed.success) refuse(parsed.error.issues[0]!.message);
        else if (values[type] !== undefined && values[type] !== parsed.data) {
          refuse(`must not differ from the other ${type}`);
        } else values[type] = parsed.data;
      }
      return values;
    });
  return z.unknown().transform((input, context): IdentifierMap => {
    const parsed = (Array.isArray(input) ? list : map).safeParse(input, { error: messageOf });
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) context.issues.push({ ...issue, input } as z.core.$ZodRawIssue);
    return z.NEVER;
  });
}
