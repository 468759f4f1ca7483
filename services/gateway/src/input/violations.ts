import type { z } from "@vvs/config";
import type { Violation } from "@vvs/errors";

/** Keys are text from the client. Long keys, and keys with as many digits as a TIN, are not repeated in answers. */
const SHOWABLE_KEY = /^[\w.[\]?$-]{1,64}$/;
const TIN_DIGITS = 9;

export type Parsed<T> =
  | { readonly value: T; readonly problems: readonly [] }
  | { readonly problems: readonly Violation[] };

/** Parses a value by a schema. Returns all problems; none of them repeats a value. `root` is the path of the whole value. */
export function parse<T>(schema: z.ZodType<T>, input: unknown, root: string): Parsed<T> {
  const parsed = schema.safeParse(input, { error: messageOf });
  if (parsed.success) return { value: parsed.data, problems: [] };
  return { problems: withoutFollowing(parsed.error.issues).flatMap((issue) => violationsOf(issue, root)) };
}

/** Leaves out what a schema says of a value of the wrong type besides its type: text and arrays both have a length. */
function withoutFollowing(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const wrongTypes = new Set(issues.filter(isOfType).map(({ path }) => JSON.stringify(path)));
  return issues.filter((issue) => isOfType(issue) || !wrongTypes.has(JSON.stringify(issue.path)));
}

const isOfType = ({ code }: z.core.$ZodIssue) => code === "invalid_type";

function violationsOf(issue: z.core.$ZodIssue, root: string): Violation[] {
  if (issue.code === "unrecognized_keys") {
    const message =
      issue.path.length === 1 && issue.path[0] === "identifiers"
        ? "is not an identifier type: use uei, cage, duns or tin"
        : `is an unknown ${root === "query" ? "parameter" : "field"}`;
    return issue.keys.map((key) => ({ path: pathOf([...issue.path, key], root), message }));
  }
  return [{ path: pathOf(issue.path, root), message: issue.message }];
}

function pathOf(path: readonly PropertyKey[], root: string): string {
  const text = path.reduce<string>((joined, step) => {
    if (typeof step === "number") return `${joined}[${step}]`;
    const key = showKey(String(step));
    return joined === "" ? key : `${joined}.${key}`;
  }, "");
  return text || root;
}

/** Returns a key as it may be shown in an answer. */
export function showKey(key: string): string {
  const isShown = SHOWABLE_KEY.test(key) && key.replaceAll(/\D/g, "").length < TIN_DIGITS;
  return isShown ? key : "(a key)";
}

const TYPE_NAMES: Readonly<Record<string, string>> = { string: "a string", array: "an array", object: "an object" };

/** Returns a description of the problem that never contains the value. */
export function messageOf(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return "is required";
  if (issue.code === "invalid_type") return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value") return `must be ${issue.values.join(" or ")}`;
  return "is invalid";
}
