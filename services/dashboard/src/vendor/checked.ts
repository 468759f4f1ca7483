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
}

/** Returns every check of this version as made by verifications of one vendor, newest first. */
export function madeChecks(verifications: readonly Verification[]): MadeCheck[] {
  return checkNames.map((check) => {
    const made = verifications.flatMap((verification) =>
      verification.results
        .filter(({ checkType }) => checkType === toCheckType(check))
        .map((result) => ({ result, at: timestampDate(verification.createdAt!), verification })),
    );
    return {
      check,
      newest: made[0],
      answered: made.find(({ result }) => result.status === CheckStatus.PASS || result.status === CheckStatus.FAIL),
    };
  });
}
