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

/** What a look-up takes: an ill-formed value matches nothing, which the entity service explains. */
export const lookUpIdentifiers = identifiers((type) => normalized(type));

/** What creation and verification take: every value has the form of its type. */
export const wellFormedIdentifiers = identifiers((type) =>
  normalized(type).refine((value) => isWellFormed(type, value), `must be ${formOf(type)}`),
);

type ValueSchema = z.ZodType<string>;

function normalized(type: IdentifierType) {
  return text()
    .transform(normalizeIdentifier)
    .refine((value) => value !== "", `must be ${formOf(type)}`);
}

/** A map of type to value, as entities show them, or a list of {type, value}. */
function identifiers(valueFor: (type: IdentifierType) => ValueSchema) {
  const map = identifierMap(valueFor);
  const list = identifierList(valueFor);
  return z.unknown().transform((input, context): IdentifierMap => {
    const parsed = (Array.isArray(input) ? list : map).safeParse(input, { error: messageOf });
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) context.issues.push({ ...issue, input } as z.core.$ZodRawIssue);
    return z.NEVER;
  });
}

function identifierMap(valueFor: (type: IdentifierType) => ValueSchema): z.ZodType<IdentifierMap> {
  const optional = (type: IdentifierType) => valueFor(type).optional();
  return z
    .strictObject({ uei: optional("uei"), cage: optional("cage"), duns: optional("duns"), tin: optional("tin") })
    .refine((map) => Object.keys(map).length > 0, {
      error: "must hold at least one identifier",
      // One of an unknown type is told of by itself.
      when: ({ issues }) => issues.length === 0,
    });
}

/** The same value twice is one; two values of one type contradict each other. */
function identifierList(valueFor: (type: IdentifierType) => ValueSchema): z.ZodType<IdentifierMap> {
  const entry = z.strictObject({ type: z.enum(identifierTypes), value: text() });
  return z
    .array(entry)
    .min(1, "must hold at least one identifier")
    .transform((entries, context) => {
      const map: { [T in IdentifierType]?: string } = {};
      for (const [index, { type, value }] of entries.entries()) {
        const refuse = (message: string) =>
          context.addIssue({ code: "custom", path: [index, "value"], message, input: entries });
        const parsed = valueFor(type).safeParse(value, { error: messageOf });
        if (!parsed.success) refuse(parsed.error.issues[0]!.message);
        else if (map[type] !== undefined && map[type] !== parsed.data) refuse(`differs from another ${type}`);
        else map[type] = parsed.data;
      }
      return map;
    });
}
