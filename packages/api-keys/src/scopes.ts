/** Permissions of API keys. A new key has all of them unless its creator selects fewer. */
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
