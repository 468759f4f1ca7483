import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Check, checkNames, toCheckType } from "@vvs/checks";
import { isId, timeOfId } from "@vvs/ids";
import type { Result, Verification } from "@vvs/proto/verification/v1/verification";
import { unlessRefused } from "../http/refusal.ts";
import type { Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { unlessUnavailable } from "../page/panels.ts";
import { type CheckedResult, isAnswer } from "../verdicts/verdict.ts";

/** A result, and the verification that it is part of. */
export interface MadeResult extends CheckedResult {
  readonly verification: Verification;
  /** It is about another TIN than the vendor's, although both may look alike masked. */
  readonly aboutOther?: true;
}

/** A vendor's TIN: masked, "" if it has none, and its fingerprint, empty where that is not known. */
interface VendorTin {
  readonly tin: string;
  readonly tinFingerprint: Uint8Array;
}

/** A check, with its newest result and its newest answer; undefined where it was never made or never answered. */
export interface MadeCheck {
  readonly check: Check;
  readonly newest: MadeResult | undefined;
  readonly answered: MadeResult | undefined;
  /** A newer TIN match of another TIN than the vendor's, which the two above leave out. */
  readonly ofAnotherTin: MadeResult | undefined;
}

/**
 * Returns every check of this version as made by verifications of one vendor, newest first. TIN matches of another TIN than
 * the vendor's are left out where there are others.
 */
export function madeChecks(verifications: readonly Verification[], own: VendorTin): MadeCheck[] {
  return checkNames.map((check) => {
    const all = verifications.flatMap((verification) =>
      verification.results
        .filter(({ checkType }) => checkType === toCheckType(check))
        .map((result): MadeResult => {
          const made = { result, at: answeredAt(result, timestampDate(verification.createdAt!)), verification };
          return isOfOtherTin(made, own) ? { ...made, aboutOther: true } : made;
        }),
    );
    const ofOwn = all.filter(({ aboutOther }) => !aboutOther);
    const made = ofOwn.some(isAnswer) ? ofOwn : all;
    const newest = made[0];
    return {
      check,
      newest,
      answered: made.find(isAnswer),
      ofAnotherTin: made === ofOwn && all[0] !== newest ? all[0] : undefined,
    };
  });
}

/** Returns whether a result is about another TIN than the vendor's, by fingerprints where both are known. */
function isOfOtherTin({ result, verification }: MadeResult, { tin, tinFingerprint }: VendorTin): boolean {
  const asked = result.details?.tin;
  if (!asked) return false;
  const isKnown = tinFingerprint.length > 0 && verification.tinFingerprint.length > 0;
  return isKnown ? !Buffer.from(tinFingerprint).equals(verification.tinFingerprint) : asked !== tin;
}

/** Returns when a check was made: before its verification was stored, where that used a stored answer again. */
function answeredAt({ evidenceId }: Result, storedAt: Date): Date {
  const at = isId("evd", evidenceId) ? timeOfId(evidenceId) : storedAt;
  return at < storedAt ? at : storedAt;
}

/** Maximum number of a vendor's newest verifications that are read. */
const NEWEST_READ = 20;

/**
 * Returns a vendor's newest verifications, and older ones with the newest result or answer of a check, newest first: a
 * monitor's runs must not hide a check that only a person made. Undefined while verification is unavailable; without the
 * older ones while these are.
 */
export async function readVerifications(
  { verification, vendorList, readPanel, logger }: PageContext,
  visit: Visit,
  entityId: string,
): Promise<Verification[] | undefined> {
  const { caller } = visit;
  const page = { limit: NEWEST_READ };
  const newest = await unlessUnavailable(logger, visit, () =>
    verification.listVerifications({ caller, entityId, page }),
  );
  if (!newest?.next) return newest?.verifications;
  const known = new Set(newest.verifications.map(({ id }) => id));
  const older = await readPanel(visit, "older checks of a vendor", async (options) => {
    const { vendors } = await vendorList.getVendors({ caller, entityIds: [entityId] }, options);
    const ids = (vendors[0]?.checks ?? []).flatMap((each) => [each.verificationId, each.lastAnswered?.verificationId]);
    const missing = [...new Set(ids)].filter((id) => id !== undefined && id !== "" && !known.has(id)) as string[];
    return Promise.all(
      missing.map((verificationId) =>
        // The list of vendors keeps the result of a verification for longer than the verification is kept.
        unlessRefused(verification.getVerification({ caller, verificationId }, options), "verification_not_found"),
      ),
    );
  });
  const found = (older ?? []).flatMap((each) => each?.verification ?? []);
  return [...newest.verifications, ...found].sort((a, b) => timestampMs(b.createdAt!) - timestampMs(a.createdAt!));
}
