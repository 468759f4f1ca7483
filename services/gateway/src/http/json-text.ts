import type { Violation } from "@vvs/errors";
import { normalizeIdentifier } from "@vvs/identifiers";
import { showKey } from "../input/violations.ts";

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Maximum depth of a body: {} has depth 1. */
export const MAX_DEPTH = 16;
/** The only problem of a text that is nested too deep: nothing else of it is read. */
export const TOO_DEEP: readonly Violation[] = [
  { path: "body", message: `must not be nested deeper than ${MAX_DEPTH} levels` },
];
/** Maximum number of contradictions returned. Answers list no more. */
const MAX_CONTRADICTIONS = 100;
/** Of a member that was reported. */
const CONTRADICTED = -1;

/** An object or array that the scan is inside. Its values are numbers that are equal for equal values. */
interface Frame {
  /** The values of the members seen so far; undefined for an array. */
  readonly members: Map<string, number> | undefined;
  readonly elements: number[];
  /** Name of the current member; undefined before it is read, and in an array. */
  key: string | undefined;
}

/**
 * Returns the problems of a JSON text that its parsed value no longer shows: nesting that is too deep, and members that are
 * given more than once with different values, such as identifiers.uei, of which JSON.parse would silently take the last.
 * The text must be valid JSON; `levels` is the number of levels of a body that it is inside. Every character is read once:
 * equal values get the same number, by which the value around them is compared.
 */
export function textProblems(text: string, levels = 0): readonly Violation[] {
  const numbers = new Map<string, number>();
  const problems: Violation[] = [];
  const frames: Frame[] = [];

  /** Notes the value that ends here, by a text that is equal for equal values. */
  function note(form: string): void {
    const number = numbers.get(form) ?? numbers.size;
    numbers.set(form, number);
    const frame = frames.at(-1);
    if (frame?.members && frame.key !== undefined) {
      const earlier = frame.members.get(frame.key);
      const contradicts = earlier !== undefined && earlier !== CONTRADICTED && earlier !== number;
      if (contradicts)
        problems.push({ path: pathOf(frames), message: "must not be given twice with different values" });
      if (contradicts || earlier === undefined) frame.members.set(frame.key, contradicts ? CONTRADICTED : number);
    } else frame?.elements.push(number);
  }

  for (const [token] of text.matchAll(TOKEN)) {
    const frame = frames.at(-1);
    if (token === "{" || token === "[") {
      if (frames.length + levels === MAX_DEPTH) return TOO_DEEP;
      frames.push({ members: token === "{" ? new Map() : undefined, elements: [], key: undefined });
    } else if (token === "}" || token === "]") {
      frames.pop();
      note(formOf(frame!));
    } else if (token === ",") frame!.key = undefined;
    else if (token === ":") continue;
    else if (frame?.members && frame.key === undefined) frame.key = JSON.parse(token) as string;
    else note(scalarForm(token, frames));
    if (problems.length === MAX_CONTRADICTIONS) break;
  }
  return problems;
}

/** Returns the form of an object, in which the order of members does not matter, or of an array. */
function formOf({ members, elements }: Frame): string {
  if (!members) return `[${elements}`;
  return `{${[...members].map(([key, number]) => `${JSON.stringify(key)}:${number}`).toSorted()}`;
}

/** Returns the form of a string, number or word; two spellings of one identifier have the same. */
function scalarForm(token: string, [outer, inner, ...deeper]: readonly Frame[]): string {
  const value: unknown = JSON.parse(token);
  const isIdentifier = outer?.key === "identifiers" && inner?.members && deeper.length === 0;
  return JSON.stringify(isIdentifier && typeof value === "string" ? normalizeIdentifier(value) : value);
}

function pathOf(frames: readonly Frame[]): string {
  return frames.reduce((path, { key, elements }) => {
    if (key === undefined) return `${path}[${elements.length}]`;
    return path === "" ? showKey(key) : `${path}.${showKey(key)}`;
  }, "");
}
