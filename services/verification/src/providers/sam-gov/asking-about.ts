import type { RegistryAnswer } from "@vvs/proto/entity/v1/entity";
import { type Parts, registryDay, verdictOf } from "@vvs/registration";
import type { Asking } from "../../questions/question.ts";
import { keptRowsServe } from "../../questions/rules.ts";
import type { Question } from "../provider.ts";
import { type FileParts, filePartsOf, isNamedIn } from "./file-parts.ts";

/**
 * Returns what to ask SAM.gov's API about a vendor whose known parts are too old or do not suffice; undefined where that
 * does not help: the registration is known, and only the exclusions file is overdue.
 */
export function askingAbout(
  { uei, cage, stored, kept }: Pick<Question, "uei" | "cage" | "stored" | "kept">,
  { files, parts, now }: { files: RegistryAnswer; parts: Parts; now: Date },
): Asking | undefined {
  const verdict = verdictOf(parts, registryDay(now));
  const inFiles = filePartsOf(files, now);
  const exclusions = exclusionsAsked(kept, inFiles, now);
  if (verdict?.outcome === "pass" && !exclusions.asksExclusions) return undefined;
  const registration =
    parts.registration ?? stored?.registration ?? kept?.parts.registration ?? inFiles.parts.registration;
  return {
    uei,
    cage,
    priority: verdict && kept ? 2 : 1,
    isRegistered: isRegistered(registration),
    ...exclusions,
    knownSince: kept?.asked_at,
  };
}

/** Returns true where SAM.gov is expected to have a registration, be it active or not. */
export function isRegistered(registration: Parts["registration"]): boolean {
  return registration !== undefined && registration.listed_as !== "not_found" && !registration.id_only;
}

/** Returns whether the Exclusions API is asked about a vendor, and whether it is asked what a flag stands for. */
export function exclusionsAsked(
  kept: Question["kept"],
  { hasExclusionsFile, unknownSince, parts }: FileParts,
  now: Date,
): Pick<Asking, "asksExclusions" | "knowsExclusions"> {
  return {
    asksExclusions: !hasExclusionsFile || unknownSince.exclusions !== undefined,
    knowsExclusions: (parts.exclusions !== undefined && isNamedIn(parts.exclusions, now)) || keptRowsServe(kept, now),
  };
}
