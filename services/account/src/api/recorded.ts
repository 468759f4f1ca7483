import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { PeopleDomain } from "../domain.ts";
import type { AccountMetrics } from "../metrics.ts";
import type { BegunSession } from "../sessions/begin-session.ts";

/** What the parts of the API have that sign people in. */
export interface RecordedPeople {
  readonly domain: PeopleDomain;
  readonly metrics: AccountMetrics;
  readonly logger: Logger;
}

/** Runs a step of a sign-in; counts and logs its outcome. `explain` returns the outcome of an error, and what to log. */
export async function recordedSignIn<T extends BegunSession>(
  { metrics, logger }: Omit<RecordedPeople, "domain">,
  step: string,
  { clientAddress, providerId }: { readonly clientAddress: string; readonly providerId?: string },
  run: () => Promise<T>,
  explain: (error: unknown) => { outcome: string } = (error) => ({ outcome: ServiceError.from(error).code }),
): Promise<T> {
  const ids = { client_address: clientAddress, ...(providerId && { identity_provider: providerId }) };
  const record = ({ outcome, ...fields }: { outcome: string }) => {
    metrics.signIn(outcome);
    logger.info({ outcome, step, ...ids, ...fields }, "sign-in");
  };
  try {
    const begun = await run();
    const { userId: user_id, organizationId: organization_id } = begun.session;
    record({ outcome: "ok", user_id, organization_id } as { outcome: string });
    return begun;
  } catch (error) {
    record(explain(error));
    throw error;
  }
}
