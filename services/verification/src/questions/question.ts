import type { Parts } from "@vvs/registration";

/** A response body as it was received, without keys. */
export interface ReceivedBody {
  /** URL of the call; it holds no key, since keys are sent in headers. */
  readonly url: string;
  readonly receivedAt: Date;
  readonly text: string;
}

/** SAM.gov's answer to a question, kept for all organizations, since the identifiers are public. */
export interface KeptAnswer {
  readonly parts: Parts;
  /** What was received about this vendor; it names no other. */
  readonly bodies: readonly ReceivedBody[];
  readonly asked_at: Date;
  /**
   * Only where the answer is other than active: since when it is (the day after the expiration date, else the first such
   * answer), and when it is asked again.
   */
  readonly not_active_since?: Date;
  readonly ask_again_at?: Date;
  /** When the Exclusions API gave the rows of its exclusions part; absent where it was not asked for them. */
  readonly exclusions_asked_at?: Date;
}

/** What is to be asked about one vendor, and how soon. */
export interface Asking {
  /** Empty where the vendor has none; it is then asked for by its CAGE. */
  readonly uei: string;
  readonly cage: string;
  /**
   * 1: the registration is unknown, or has expired since its date, so a lapse may not be reported yet. 2: a known answer
   * other than active is asked for again.
   */
  readonly priority: 1 | 2;
  /** SAM.gov is expected to have a registration, be it active or not. */
  readonly isRegistered: boolean;
  /** No exclusions file can decide, so the Exclusions API is asked too. */
  readonly asksExclusions: boolean;
  /** The exclusions that a flag of the registration would stand for are known, so the Exclusions API is not asked for them. */
  readonly knowsExclusions: boolean;
  /** When the kept answer was received that did not suffice; undefined where there was none. */
  readonly knownSince: Date | undefined;
}

/**
 * The call that a question goes into. Registered and absent vendors are asked apart, since a call with both costs further
 * pages. `single` questions are asked one by one: vendors without a UEI, and those whose shared calls kept failing.
 */
export const questionKinds = ["registered", "absent", "single"] as const;
export type QuestionKind = (typeof questionKinds)[number];

/** Returns the key of a vendor's question and of its kept answer. */
export function questionKey({ uei, cage }: { readonly uei: string; readonly cage: string }): string {
  return uei ? `uei:${uei}` : `cage:${cage}`;
}

/** Returns the kind of a new question. */
export function questionKind({ uei, isRegistered }: Pick<Asking, "uei" | "isRegistered">): QuestionKind {
  if (!uei) return "single";
  return isRegistered ? "registered" : "absent";
}
