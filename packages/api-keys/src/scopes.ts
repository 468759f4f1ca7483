/** What a key may be allowed to do; a new key has all unless its creator picks fewer. */
export const scopes = [
  "entities:read",
  "entities:write",
  "verifications:read",
  "verifications:write",
  "monitors:read",
  "monitors:write",
] as const;

export type Scope = (typeof scopes)[number];

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}
