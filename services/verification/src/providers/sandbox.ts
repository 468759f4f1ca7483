import type { GetRegistryRecordResponse } from "@vvs/proto/entity/v1/entity";
import { type Facts, ProviderError } from "./provider.ts";
import { registrationFacts, registrationVerdict } from "./registration-verdict.ts";

/** The sandbox's providers, in the order they are asked. */
export type SandboxProvider = "sandbox_primary" | "sandbox_secondary";

/** Its registration is active at odd turns and expired at even ones. */
export const CHANGING_UEI = "SANDBXCHNGE1";
const FAILING_UEI = "SANDBXERRR01";
const FALLBACK_UEI = "SANDBXFALLB1";

/** Far from now, so that they stay true as time passes. */
const FUTURE = "2099-03-31";
const PAST = "2021-03-31";

/** What a sandbox provider says. */
export interface SandboxVerdict {
  readonly outcome: "pass" | "fail";
  readonly reason: string;
  readonly facts: Facts;
}

/**
 * sam_registration in the sandbox: the documented UEIs behave as documented, other registry entities answer by their
 * registration, and one that the synthetic registry lacks is not found. `turn` counts from 1 and matters to the
 * changing UEI alone. Errors: ProviderError for the UEIs that stand for an outage.
 */
export function sandboxRegistration(options: {
  provider: SandboxProvider;
  uei: string;
  registry: GetRegistryRecordResponse;
  turn: number;
  today: string;
}): SandboxVerdict {
  const { provider, uei, registry, turn, today } = options;
  if (uei === FAILING_UEI || (uei === FALLBACK_UEI && provider === "sandbox_primary")) throw simulatedOutage();
  if (!registry.record) return { outcome: "fail", reason: "not_found", facts: {} };
  const record = uei === CHANGING_UEI ? { ...registry.record, ...registrationAt(turn) } : registry.record;
  const verdict = registrationVerdict(record, registry.exclusions, today);
  return {
    outcome: verdict.outcome,
    reason: verdict.reason,
    facts: registrationFacts(record, verdict.registrationStatus),
  };
}

function registrationAt(turn: number) {
  return turn % 2 === 1 ? { extractCode: "A", expirationDate: FUTURE } : { extractCode: "E", expirationDate: PAST };
}

/**
 * tin_match in the sandbox: the TIN's last digit is the IRS's result code, and 9 stands for an outage of the first
 * provider. Errors: ProviderError for the codes that are no answer.
 */
export function sandboxTinMatch(provider: SandboxProvider, tin: string): SandboxVerdict & { irsCode: string } {
  const digit = tin.slice(-1);
  if (digit === "9") {
    if (provider === "sandbox_primary") throw simulatedOutage();
    return { outcome: "pass", reason: "", facts: {}, irsCode: "0" };
  }
  if ("0678".includes(digit)) return { outcome: "pass", reason: "", facts: {}, irsCode: digit };
  if (digit === "2") return { outcome: "fail", reason: "not_issued", facts: {}, irsCode: digit };
  if (digit === "3") return { outcome: "fail", reason: "mismatch", facts: {}, irsCode: digit };
  throw new ProviderError(`irs_code_${digit}`, { isFault: false });
}

/** Asked for by a client's choice of identifiers, so it is no sign of the provider's health. */
function simulatedOutage(): ProviderError {
  return new ProviderError("http_503", { isFault: false });
}
