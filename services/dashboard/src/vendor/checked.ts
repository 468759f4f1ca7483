import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Check, checkNames, toCheckType } from "@vvs/checks";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import type { CheckedResult } from "../ui/verdict.ts";

/** A result, and the verification that it is part of. */
export interface MadeResult extends CheckedResult {
  readonly verification: Verification;
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
export function madeChecks(verifications: readonly Verification[], tin: string): MadeCheck[] {
  return checkNames.map((check) => {
    const all = verifications.flatMap((verification) =>
      verification.results
        .filter(({ checkType }) => checkType === toCheckType(check))
        .map((result) => ({ result, at: timestampDate(verification.createdAt!), verification })),
    );
    const own = all.filter(({ result }) => !result.details?.tin || result.details.tin === tin);
    const made = own.some(isAnswer) ? own : all;
    const newest = made[0];
    return {
      check,
      newest,
      answered: made.find(isAnswer),
      ofAnotherTin: made === own && all[0] !== newest ? all[0] : undefined,
    };
  });
}

const isAnswer = ({ result }: MadeResult) => result.status === CheckStatus.PASS || result.status === CheckStatus.FAIL;
