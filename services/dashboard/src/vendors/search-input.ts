import { ServiceError } from "@vvs/errors";
import { type IdentifierType, identifierTypes, normalizeIdentifier } from "@vvs/identifiers";
import { problemOfText, typedText } from "../verifications/verification-form.ts";

const fields = ["uei", "cage", "duns", "tin", "legal_name", "address", "mode"] as const;

/** The input of the search for vendors. The mode is "exact", or empty to find similar vendors too. */
export type SearchInput = Readonly<Record<(typeof fields)[number], string>>;

/** The part of the input that may be in an address or on a page: never the TIN. */
export type EchoedSearch = Omit<SearchInput, "tin">;

export type SearchProblems = NonNullable<ReturnType<typeof readSearch>["problems"]>;

/** Returns the input whose fields `read` returns. */
export function searchInput(read: (name: string) => string): SearchInput {
  const typed = Object.fromEntries(fields.map((name) => [name, typedText(read(name))])) as SearchInput;
  return { ...typed, mode: typed.mode === "exact" ? "exact" : "" };
}

/** Checks the input. Returns the request, or all problems, or neither for an empty form; no problem repeats a value. */
export function readSearch({ legal_name, address, mode, ...typed }: SearchInput) {
  const identifiers: { [T in IdentifierType]?: string } = {};
  for (const type of identifierTypes) {
    const value = normalizeIdentifier(typed[type]);
    if (value !== "") identifiers[type] = value;
  }
  const problems = {
    legal_name: problemOfText("name", legal_name, 300),
    address: problemOfText("address", address, 500),
  };
  if (problems.legal_name || problems.address) return { problems };
  if (Object.keys(identifiers).length === 0 && legal_name === "" && address === "") return {};
  return { request: { identifiers, legalName: legal_name, address, fuzzy: mode !== "exact" } };
}

/** Counts a search of an organization's users. Errors: rate_limited. */
export type CountSearch = (organizationId: string, limitPerMinute: number) => void;

const WINDOW_MS = 60_000;
/** Maximum number of organizations kept; beyond it, those without a search in the last minute are forgotten. */
const MAX_ORGANIZATIONS = 10_000;

/**
 * Returns a function that counts a search of an organization's users, who together may make as many in any minute as one
 * API key may make requests. Each replica counts by itself. Errors: rate_limited.
 */
export function createSearchLimit({ now }: { now: () => Date }): CountSearch {
  /** Times of the searches in the last minute, oldest first. */
  const searches = new Map<string, number[]>();

  return (organizationId, limit) => {
    const at = now().getTime();
    const isRecent = (time: number) => time > at - WINDOW_MS;
    if (searches.size >= MAX_ORGANIZATIONS)
      for (const [id, times] of searches) if (!times.some(isRecent)) searches.delete(id);
    const recent = (searches.get(organizationId) ?? []).filter(isRecent);
    searches.set(organizationId, recent);
    if (recent.length >= limit) {
      const message = `Your organization can search ${limit} times a minute. Try again later.`;
      const retryAfterSeconds = Math.max(1, Math.ceil((recent[0]! + WINDOW_MS - at) / 1_000));
      throw new ServiceError("rate_limited", { message, retryAfterSeconds });
    }
    recent.push(at);
  };
}
