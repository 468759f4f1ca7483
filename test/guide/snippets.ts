/** Returns the code blocks of a Markdown text that name a file after their language, by that name. */
export function namedSnippets(markdown: string): Map<string, string> {
  const snippets = new Map<string, string>();
  for (const [, file, code] of markdown.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)) snippets.set(file!, code!);
  return snippets;
}
