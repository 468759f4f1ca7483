import type { GetRegistryRecordResponse } from "@vvs/proto/entity/v1/entity";
import { type Parts, registryDay, verdictOf } from "@vvs/registration";
import type { Question } from "../providers/provider.ts";
import { filePartsOf, isNamedIn } from "../providers/sam-gov/file-parts.ts";
import type { Asking } from "./question.ts";
import { keptRowsServe } from "./rules.ts";

/**
 * Returns what to ask SAM.gov's API about a vendor whose known parts are too old or do not suffice; undefined where that
 * does not help: the registration is known, and only the exclusions file is overdue.
 */
export function askingAbout(
  { uei, cage, stored, kept }: Pick<Question, "uei" | "cage" | "stored" | "kept">,
  { files, parts, now }: { files: GetRegistryRecordResponse; parts: Parts; now: Date },
): Asking | undefined {
  const { hasExclusionsFile, unknownSince, parts: onFile } = filePartsOf(files, now);
  const verdict = verdictOf(parts, registryDay(now));
  const asksExclusions = !hasExclusionsFile || unknownSince.exclusions !== undefined;
  if (verdict?.outcome === "pass" && !asksExclusions) return undefined;
  const registration = parts.registration ?? stored?.registration ?? onFile.registration;
  return {
    uei,
    cage,
    priority: verdict && kept ? 2 : 1,
    isRegistered: registration !== undefined && registration.listed_as !== "not_found" && !registration.id_only,
    asksExclusions,
    knowsExclusions: (onFile.exclusions !== undefined && isNamedIn(onFile.exclusions, now)) || keptRowsServe(kept, now),
    knownSince: kept?.asked_at,
  };
}
