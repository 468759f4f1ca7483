/** Returns a JSON value with its kind in place of each text and number: prefixes of ids, types of everything else. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
  }
  return /^[a-z]{3}_[0-9a-z]{26}$/.exec(String(value))?.[0].slice(0, 4) ?? typeof value;
}
