import { RegistryFileError } from "./errors.ts";
import type { Member } from "./member.ts";

const MAX_LINE_CHARACTERS = 1_000_000;

/**
 * Yields the lines of a text file, in groups. `ends` separates lines, and must not match half of what does. Errors:
 * RegistryFileError if a line is too long or, with `fatal`, the text is not UTF-8.
 */
export async function* readLines(
  { content, name }: Member,
  { ends, fatal = false }: { ends: RegExp | string; fatal?: boolean },
): AsyncGenerator<string[]> {
  const decoder = new TextDecoder("utf-8", { fatal });
  const decode = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw new RegistryFileError(`${name} is not UTF-8 text`, { cause });
    }
  };
  let rest = "";
  for await (const chunk of content) {
    const lines = (rest + decode(chunk)).split(ends);
    rest = lines.pop()!;
    if (rest.length > MAX_LINE_CHARACTERS) throw new RegistryFileError(`${name} has a line that is too long`);
    yield lines;
  }
  rest += decode();
  if (rest !== "") yield `${rest}\n`.split(ends).slice(0, -1);
}
