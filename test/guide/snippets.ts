/** A code block of a Markdown text. */
export interface Block {
  readonly language: string;
  /** What follows the language: the name of a file. */
  readonly name: string | undefined;
  readonly code: string;
}

/** Languages of blocks that show data or output, and are not run. */
const SHOWN: ReadonlySet<string> = new Set(["text", "http", "json"]);

/** Returns all code blocks of a Markdown text. */
export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(([, language, name, code]) => ({
    language: language!,
    name,
    code: code!,
  }));
}

/** Returns whether a block is code, which a reader runs. */
export function isCode({ language }: Block): boolean {
  return !SHOWN.has(language);
}

/** Returns the code blocks of a Markdown text that name a file after their language, by that name. */
export function namedSnippets(markdown: string): Map<string, string> {
  return new Map(blocksOf(markdown).flatMap(({ name, code }) => (name ? [[name, code] as const] : [])));
}
