import { effectInForce, registryDay } from "@vvs/registration";
import type { KnownExclusions, Question } from "./provider.ts";
import { filePartsOf, usableFor } from "./sam-gov/file-parts.ts";
import { NO_UEI, type RegistryReader, readRegistry, withRegistered } from "./sam-gov/registry-reader.ts";
import { canShowPass } from "./sam-gov/stale-data.ts";
import { sandboxExclusions } from "./sandbox/sandbox.ts";

/**
 * Reads what the loaded files say of a vendor's exclusions, by its identifiers, by those that SAM.gov registered it with, and by all
 * its names. What they can't tell is unknown: no exclusions file is loaded, or it is too old for a pass. Errors: service_unavailable.
 */
export type ReadExclusions = (
  vendor: Pick<Question, "tenant" | "uei" | "cage"> & {
    readonly names: readonly string[];
    /** Unknown values are empty. */
    readonly registered: { readonly uei: string; readonly cage: string };
  },
  signal: AbortSignal,
) => Promise<KnownExclusions>;

export function createReadExclusions({ entities, now }: { entities: RegistryReader; now: () => Date }): ReadExclusions {
  return async ({ tenant, uei, cage, names, registered }, signal) => {
    const question = { tenant, uei: uei || (cage ? "" : NO_UEI), cage, legalName: "" };
    const read = await readRegistry(entities, question, signal, names);
    if (tenant.environment === "sandbox") return sandboxExclusions(uei, names, read);
    const vendor = { entities, question, registered: { ...registered, legal_name: "" }, names };
    const files = await withRegistered(read, vendor, signal);
    const at = now();
    const { exclusions } = filePartsOf(usableFor({ uei: registered.uei || question.uei }, files), at).parts;
    const isInForce = exclusions !== undefined && effectInForce(exclusions, registryDay(at)) !== undefined;
    const isLookedUp = files.exclusionsLoad !== "" && names.length > 0;
    return {
      isExcluded: isInForce || (canShowPass(exclusions, at) ? false : undefined),
      sameName: isLookedUp ? (files.sameNames.length > 0 ? "found" : "none") : "unknown",
    };
  };
}
