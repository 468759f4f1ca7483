import { ServiceError } from "@vvs/errors";

const WINDOW_MS = 60_000;
/** Maximum number of organizations kept; beyond it, those without a search in the last minute are forgotten. */
const MAX_ORGANIZATIONS = 10_000;

/**
 * Returns a function that counts a search of an organization's users, who together may make as many in any minute as one
 * API key may make requests. Each replica counts by itself. Errors: rate_limited.
 */
export function createSearchLimit({ now }: { now: () => Date }): (organizationId: string, limit: number) => void {
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
