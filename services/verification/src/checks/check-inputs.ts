import { hash } from "node:crypto";
import type { Check, MissingInput } from "@vvs/checks";
import { repairName } from "@vvs/identifiers/written-name";

/** What is known of a vendor, for its checks. Unknown values are empty. */
export interface CheckSubject {
  readonly entityId: string;
  /** Empty while the entity has only a placeholder. */
  readonly legalName: string;
  /** The entity's own name, also where the call supplied another; absent where it is unknown. */
  readonly entityName?: string;
  readonly uei: string;
  readonly cage: string;
  /** The entity's own TIN, masked, also where the call supplied another; "" if it has none; absent where it is unknown. */
  readonly entityTin?: string;
  /** Keyed hash of that TIN; empty if it has none; absent where it is unknown. */
  readonly entityTinHash?: Uint8Array;
  /** Keyed hash that stands for the TIN. */
  readonly tinHash: Uint8Array;
  /** A match of this TIN need not be reported to the entity service. */
  readonly tinMatchRecorded: boolean;
  /** The registry's text, such as Sole Proprietorship. */
  readonly entityType: string;
  /** The organization created the entity itself, and no registry has it. */
  readonly createdByOrganization: boolean;
  /** The organization's own number of the vendor, for its monitors' events. No check uses it. */
  readonly externalId: string;
}

/** What is sent to providers. */
type AskedSubject = Pick<CheckSubject, "legalName" | "uei" | "cage" | "tinHash">;

/** What one check needs to know of a vendor. */
interface CheckInputs {
  /** Returns the public reason why the check can't be made, or undefined when nothing is missing. */
  readonly missing: (subject: CheckSubject) => MissingInput | undefined;
  /** Returns the values that the check sends to providers, the TIN as its keyed hash. */
  readonly values: (subject: AskedSubject) => readonly string[];
  /** An answer rests on parts of a registration, which a newer answer may reuse. */
  readonly restsOnParts: boolean;
  /** Live answers reveal what is secret, so the operator approves each organization, and guessing is limited. */
  readonly revealsSecrets: boolean;
}

const inputs: Readonly<Record<Check, CheckInputs>> = {
  sam_registration: {
    missing: ({ uei, cage }) => (uei || cage ? undefined : "missing_uei"),
    // A UEI identifies a registration by itself. Its CAGE is a watched fact that may change, so it is left out.
    values: ({ uei, cage }) => [uei, uei === "" ? cage : ""],
    restsOnParts: true,
    revealsSecrets: false,
  },
  tin_match: {
    missing({ tinHash, legalName }) {
      if (tinHash.length === 0) return "missing_tin";
      return legalName ? undefined : "missing_name";
    },
    // Repaired, since answers about a damaged name are answers to another question.
    values: ({ tinHash, legalName }) => [Buffer.from(tinHash).toString("hex"), repairName(legalName)],
    restsOnParts: false,
    revealsSecrets: true,
  },
};

/** Returns the public reason why a check of this vendor can't be made, or undefined when nothing is missing. */
export function missingInput(check: Check, subject: CheckSubject): MissingInput | undefined {
  return inputs[check].missing(subject);
}

/**
 * Returns the SHA-256, in lower-case hex, of a JSON list of the check and its inputs. Stored answers and monitors'
 * baselines belong to one fingerprint: where it changes, the check asks about something else.
 */
export function inputsFingerprint(check: Check, subject: AskedSubject): string {
  return hash("sha256", JSON.stringify([check, ...inputs[check].values(subject)]));
}

/** Returns true where live answers of the check rest on parts of a registration, which a newer answer may reuse. */
export function restsOnParts(check: Check): boolean {
  return inputs[check].restsOnParts;
}

/** Returns true where only organizations that the operator approved may make the check live, and guessing is limited. */
export function revealsSecrets(check: Check): boolean {
  return inputs[check].revealsSecrets;
}
