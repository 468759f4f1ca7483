import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import { type Prepared, prepare } from "./http/prepared.ts";

/** How long keys are kept before verification is asked again, in milliseconds. */
const KEPT_MS = 60_000;
/** Clients may keep the keys for five minutes. */
const HEADERS = { "Cache-Control": "public, max-age=300" };

/**
 * Creates a function that returns the answer with the public keys of receipts. Verification is asked at most once a minute, by
 * all requests together; while it is unavailable, the answer before is repeated. Errors: those of the call.
 */
export function createReadReceiptKeys(
  verification: Pick<Client<typeof VerificationService>, "getReceiptKeys">,
  clock: () => number,
): () => Promise<Prepared> {
  let known: { readonly answer: Prepared; readonly until: number } | undefined;
  let asking: Promise<Prepared> | undefined;

  async function ask(): Promise<Prepared> {
    const { jwks } = await verification.getReceiptKeys({});
    const answer = prepare(jwks, "application/json", HEADERS);
    known = { answer, until: clock() + KEPT_MS };
    return answer;
  }

  return async () => {
    if (known && clock() < known.until) return known.answer;
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking.catch((error: unknown) => known?.answer ?? Promise.reject(error));
  };
}
