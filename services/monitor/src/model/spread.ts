import { createHash } from "node:crypto";

/**
 * Returns a monitor's own share of a time span, in milliseconds: 0 or more, and less than the span. It depends only on the
 * id, and spreads monitors evenly, also those that were created together.
 */
export function spreadMs(monitorId: string, spanMs: number): number {
  return createHash("sha256").update(monitorId).digest().readUIntBE(0, 6) % spanMs;
}
