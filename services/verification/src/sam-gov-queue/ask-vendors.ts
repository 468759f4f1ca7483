import type { Parts } from "@vvs/registration";
import { ProviderError } from "../providers/provider.ts";
import type { SamGovClient } from "../providers/sam-gov/client.ts";
import { type ExclusionRow, exclusionsPart, flaggedPart } from "../providers/sam-gov/exclusion.ts";
import {
  lookUpExclusions,
  lookUpManyExclusions,
  lookUpRegistration,
  lookUpRegistrations,
  type VendorRows,
} from "../providers/sam-gov/look-up.ts";
import {
  chooseRegistration,
  type EntityRow,
  type Registration,
  readRegistration,
  registrationPart,
} from "../providers/sam-gov/registration.ts";
import type { QuestionDocument } from "../questions/documents.ts";
import type { ReceivedAnswer } from "../questions/rules.ts";
import type { SettledQuestion } from "../questions/settled.ts";

/**
 * Asks SAM.gov about vendors in one call. Vendors that the quota no longer covered have no result, and are to be asked again.
 * Errors: ProviderError where it failed for any of the others.
 */
export type AskVendors = (questions: readonly QuestionDocument[], signal: AbortSignal) => Promise<SettledQuestion[]>;

/** A vendor whose registration was answered. */
interface Answered {
  readonly question: QuestionDocument;
  readonly found: VendorRows<EntityRow>;
  readonly registration: Registration | undefined;
}

/**
 * Creates the function that asks SAM.gov's APIs about up to 100 vendors with a UEI, or about one of any kind. A failure of
 * a part of it counts for all, so that no answer rests on half a listing. Where SAM.gov refuses one vendor, or its row
 * can't be read, this vendor has no answer and the others do.
 */
export function createAskVendors(client: SamGovClient): AskVendors {
  return async (questions, signal) => {
    const registrations = await registrationsOf(client, questions, signal);
    const answered = registrations.filter((each) => "found" in each);
    const asking = answered.filter(({ question, registration }) =>
      registration?.isFlagged ? !question.knows_exclusions : question.asks_exclusions,
    );
    const exclusions = await exclusionsOf(client, asking, signal);
    const isUnasked = ({ question }: Pick<Answered, "question">) => isUsedUp(exclusions.get(question._id));
    return registrations
      .filter((each) => !isUnasked(each))
      .map((each): SettledQuestion => {
        const { question } = each;
        if (!("found" in each)) return { question, answer: undefined };
        return { question, answer: answerOf(each, exclusions.get(question._id)) };
      });
  };
}

/** Returns the answer about a vendor; undefined where SAM.gov can't answer about it. */
function answerOf(
  { question, found, registration }: Answered,
  excluded: VendorRows<ExclusionRow> | ProviderError | undefined,
): ReceivedAnswer | undefined {
  if (excluded instanceof ProviderError) return undefined;
  try {
    const parts: Parts = {
      registration: registrationPart(registration, found.receivedAt),
      ...(registration?.isFlagged && { exclusions: flaggedPart(found.receivedAt) }),
      ...(excluded && { exclusions: exclusionsPart(excluded, registration) }),
    };
    const bodies = [...found.bodies, ...(excluded?.bodies ?? [])];
    const asked = excluded && { exclusionsAskedAt: excluded.receivedAt };
    return { key: question._id, parts, bodies, askedAt: found.receivedAt, ...asked };
  } catch (error) {
    if (error instanceof ProviderError) return undefined;
    throw error;
  }
}

async function registrationsOf(
  client: SamGovClient,
  questions: readonly QuestionDocument[],
  signal: AbortSignal,
): Promise<(Answered | Pick<Answered, "question">)[]> {
  const found = await lookUpEach(questions, {
    one: (question) => lookUpRegistration(client, question, signal),
    many: (ueis) => lookUpRegistrations(client, ueis, signal),
  });
  return questions.map((question) => {
    const rows = found.get(question._id)!;
    if (rows instanceof ProviderError) return { question };
    try {
      return { question, found: rows, registration: chooseRegistration(rows.rows.map(readRegistration)) };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return { question };
    }
  });
}

async function exclusionsOf(client: SamGovClient, answered: readonly Answered[], signal: AbortSignal) {
  // A vendor that is known by its CAGE is asked for by the UEI that its registration has.
  const vendors = answered.map(({ question, registration }) => ({
    ...question,
    uei: registration?.listed.uei ?? question.uei,
  }));
  return lookUpEach(vendors, {
    one: (vendor) => lookUpExclusions(client, vendor, signal),
    many: (ueis) => lookUpManyExclusions(client, ueis, signal),
  });
}

/**
 * Returns what was found by question, or the error of one vendor that SAM.gov can't answer about. Errors: any other
 * ProviderError.
 */
async function lookUpEach<Row, Vendor extends Pick<QuestionDocument, "_id" | "uei" | "failures">>(
  vendors: readonly Vendor[],
  lookUp: {
    one: (vendor: Vendor) => Promise<VendorRows<Row>>;
    many: (ueis: readonly string[]) => Promise<ReadonlyMap<string, VendorRows<Row> | ProviderError>>;
  },
): Promise<ReadonlyMap<string, VendorRows<Row> | ProviderError>> {
  if (vendors.length === 0) return new Map();
  if (vendors.length === 1) {
    const [vendor] = vendors;
    const found = await lookUp.one(vendor!).catch((error: unknown) => unanswerable(error, vendor!.failures));
    return new Map([[vendor!._id, found]]);
  }
  const found = await lookUp.many(vendors.map(({ uei }) => uei));
  return new Map(
    vendors.map(({ _id, uei }) => {
      const rows = found.get(uei) ?? new ProviderError("wrong_shape");
      return [_id, rows instanceof ProviderError && !isUsedUp(rows) ? unanswerable(rows) : rows];
    }),
  );
}

/** Has the quota been used up before this vendor? */
function isUsedUp(rows: unknown): boolean {
  return rows instanceof ProviderError && rows.reason === "quota_exhausted";
}

/** The reasons for which SAM.gov, or we, refuse to ask about a vendor. */
const REFUSED = new Set(["http_400", "http_422", "unaskable", "ambiguous_cage"]);
/** The reasons that may be a vendor's own where it was asked for by itself and keeps failing. */
const OWN_IF_LASTING = new Set(["wrong_shape", "too_large", "http_404", "http_500"]);
/** Number of failures after which such a reason is the vendor's own. */
const LASTING_FAILURES = 5;

function unanswerable(error: unknown, failures = 0): ProviderError {
  if (error instanceof ProviderError && REFUSED.has(error.reason)) return error;
  if (error instanceof ProviderError && failures >= LASTING_FAILURES && OWN_IF_LASTING.has(error.reason)) return error;
  throw error;
}
