import { type IdentifierMap, identifierTypes } from "./index.ts";
import { maskTin } from "./mask-tin.ts";

const PLACEHOLDER = /^Unknown entity \((UEI|CAGE|DUNS|TIN) (\*{4}\d{4}|[A-Z\d]+)\)$/;

/** Returns the name of an entity that has none, by its first identifier in the order uei, cage, duns, tin. */
export function placeholderName(identifiers: IdentifierMap): string {
  const type = identifierTypes.find((one) => identifiers[one])!;
  const value = type === "tin" ? maskTin(identifiers.tin!) : identifiers[type];
  return `Unknown entity (${type.toUpperCase()} ${value})`;
}

/** Returns whether a text is the placeholder of a name: clients send it back as they read it. It is no name. */
export function isPlaceholderName(text: string): boolean {
  return PLACEHOLDER.test(text);
}
