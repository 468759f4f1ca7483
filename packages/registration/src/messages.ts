import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  Exclusion as ExclusionMessage,
  PartSource as PartSourceMessage,
  RegistrationParts,
  RegistrationPartsSchema,
} from "@vvs/proto/events/v1/events";
import { isEffect } from "./exclusion-effect.ts";
import type { Exclusion, PartSource, Parts, RegistrationPart } from "./parts.ts";

/** Returns parts as a message, with the withdrawn loads that their source knows. */
export function partsToMessage(
  { registration, exclusions }: Parts,
  withdrawnLoads: readonly string[],
): MessageInitShape<typeof RegistrationPartsSchema> {
  return {
    registration: registration && {
      source: sourceToMessage(registration),
      listedAs: registration.listed_as,
      idOnly: registration.id_only,
      expirationDate: registration.expiration_date,
      legalName: registration.legal_name,
      cage: registration.cage,
      entityType: registration.entity_type,
    },
    exclusions: exclusions && {
      source: sourceToMessage(exclusions),
      flagged: exclusions.flagged,
      exclusions: exclusions.exclusions.map(exclusionToMessage),
    },
    withdrawnLoads: [...withdrawnLoads],
  };
}

const LISTED_AS: readonly string[] = [
  "active",
  "inactive",
  "expired",
  "not_found",
] satisfies RegistrationPart["listed_as"][];

/** Returns the parts of a message. Errors: TypeError for a part without a date, or with an unknown `listedAs`. */
export function partsFromMessage({ registration, exclusions }: RegistrationParts): Parts {
  if (registration && !LISTED_AS.includes(registration.listedAs))
    throw new TypeError("the registration has an unknown listed_as");
  return {
    ...(registration && {
      registration: {
        ...sourceOf(registration.source),
        listed_as: registration.listedAs as RegistrationPart["listed_as"],
        id_only: registration.idOnly,
        expiration_date: registration.expirationDate,
        legal_name: registration.legalName,
        cage: registration.cage,
        entity_type: registration.entityType,
      },
    }),
    ...(exclusions && {
      exclusions: {
        ...sourceOf(exclusions.source),
        flagged: exclusions.flagged,
        exclusions: exclusions.exclusions.map(exclusionFromMessage),
      },
    }),
  };
}

function sourceToMessage({ origin, date, load }: PartSource) {
  return { origin, date: timestampFromDate(date), load };
}

function sourceOf(source: PartSourceMessage | undefined): PartSource {
  if (!source?.date) throw new TypeError("a part has no date");
  return { origin: source.origin, date: timestampDate(source.date), load: source.load };
}

/** Returns an exclusion with the field names of messages. */
export function exclusionToMessage({ active_date, termination_date, without_uei: _, ...others }: Exclusion) {
  return { ...others, activeDate: active_date, terminationDate: termination_date };
}

/** Returns an exclusion of a message. One without an effect is from an older version. */
export function exclusionFromMessage(message: Omit<ExclusionMessage, "$typeName">): Exclusion {
  const { program, type, agency, activeDate, terminationDate, effect, comment } = message;
  return {
    program,
    type,
    agency,
    active_date: activeDate,
    termination_date: terminationDate,
    ...(isEffect(effect) && { effect }),
    ...(comment && { comment }),
  };
}
