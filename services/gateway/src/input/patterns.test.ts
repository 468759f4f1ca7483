import { describe, expect, test } from "@jest/globals";
import { z } from "@vvs/config";
import { webhookUrlProblem } from "@vvs/egress/webhook-url";
import { type IdentifierType, identifierTypes } from "@vvs/identifiers";
import { externalId, readableText, text } from "./fields.ts";
import { lookUpIdentifiers, wellFormedIdentifiers } from "./identifiers.ts";
import { webhookUrlPattern } from "./patterns.ts";

/** Returns whether a text has the documented pattern and length of a schema. */
function fits(schema: z.ZodType): (value: string) => boolean {
  const { pattern, maxLength = Number.POSITIVE_INFINITY } = z.toJSONSchema(schema, { io: "input" });
  const compiled = new RegExp(pattern!, "u");
  return (value) => compiled.test(value) && [...value].length <= maxLength;
}

/** Every character up to U+FFFF, and some of the others. */
const characters = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => (code < 0xd800 || code > 0xdfff) && (code < 0x10000 || code % 61 === 0))
  .map((code) => String.fromCodePoint(code));
const misread = (text: string) => Buffer.from(text).toString("latin1");
const samples = [
  "",
  " ",
  "\t",
  "a",
  "a\tb",
  "\ta\n",
  "  ",
  "株式会社",
  "\u200b",
  "a\u0000",
  "x".repeat(300),
  "x".repeat(301),
  `${"x".repeat(300)} `,
  "\u{1c1ee}",
  ...["NESTLÉ", "Ж", "L’Été – “Ça”", "株式会社", "🏭", "a†"].map(misread),
  "Ã\u0089toile\u0085",
  "É\u0089 Ltd",
];

describe.each([
  ["names", readableText(300)],
  ["external ids", externalId()],
  ["texts", text()],
])("the documented pattern of %s", (_name, schema) => {
  const fitting = fits(schema);
  const refusedAndAccepted = (write: (character: string) => string) => {
    const differing = characters.map(write).filter((value) => fitting(value) !== schema.safeParse(value).success);
    return { refused: differing.filter(fitting), accepted: differing.filter((value) => !fitting(value)) };
  };

  test("fits exactly the characters that the schema accepts by themselves", () => {
    expect(refusedAndAccepted((character) => character)).toEqual({ refused: [], accepted: [] });
  });

  test("fits exactly the characters that the schema accepts in a word", () => {
    expect(refusedAndAccepted((character) => `a${character}b`)).toEqual({ refused: [], accepted: [] });
  });

  test("fits exactly the characters whose UTF-8, read as Latin-1, the schema accepts in a word", () => {
    expect(refusedAndAccepted((character) => `a${misread(character)}b`)).toEqual({ refused: [], accepted: [] });
  });

  test.each(samples)("for %j", (sample) => {
    expect(fitting(sample)).toBe(schema.safeParse(sample).success);
  });
});

test.each([
  ["uei", ["SANDBXACTVE1", "sandbx actve-1", "SANDBXACTVE", "SANDBXACTVE12", "SANDBXACTVÉ1", " ", "-"]],
  ["cage", ["5UTE1", "5ute1 ", "5UTE", "5UTE12", "5UTE\u2013"]],
  ["duns", ["150483782", "15-048-3782", "15048378", "15048378X"]],
  ["tin", ["21-3456789", "21\u20133456789", " 213 45 6789", "12345678", "1234567890", "", "\u0000"]],
] as const)("the documented patterns of %s accept exactly what the schemas accept", (type, values) => {
  for (const schema of [lookUpIdentifiers, wellFormedIdentifiers]) {
    const documented = z.toJSONSchema(schema, { io: "input" });
    const { oneOf } = Object.values(documented.$defs!)[0] as {
      oneOf: { properties: Record<string, { pattern: string }> }[];
    };
    const pattern = new RegExp(oneOf[0]!.properties[type]!.pattern, "u");
    for (const value of values) {
      expect([type, value, pattern.test(value)]).toEqual([type, value, schema.safeParse({ [type]: value }).success]);
      const list = [{ type: type satisfies IdentifierType, value }];
      expect(schema.safeParse(list).success).toBe(pattern.test(value));
    }
  }
  expect(identifierTypes).toContain(type);
});

test.each([
  ["https://example.com", true],
  ["http://a-b.example.co.uk:8443/hooks?x=1&y=[2]", true],
  ["https://example.com/#part", false],
  ["https://user@example.com/", false],
  ["https://localhost/", false],
  ["https://example.com/a b", false],
  ["https://example.com/a\\b", false],
  ["ftp://example.com/", false],
  ["example.com", false],
])("the documented pattern of webhook URLs and the rule of test keys agree on %s", (url, accepted) => {
  const rule = { environment: "sandbox", allowPrivateTargets: false } as const;
  expect([new RegExp(webhookUrlPattern, "u").test(url), webhookUrlProblem(url, rule) === undefined]).toEqual([
    accepted,
    accepted,
  ]);
});
