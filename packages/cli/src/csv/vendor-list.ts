import { readFile } from "node:fs/promises";
import type { VerifyRequest } from "@vendor-verification/client";
import { problemText, readVendorFile, type VendorFile, VendorFileError, type VendorRow } from "@vvs/vendor-files";
import type { Check, Mode } from "../checks.ts";
import { UsageError } from "../exit-codes.ts";

const limits = { bytes: 50_000_000, rows: 1_000_000, unpackedBytes: 300_000_000 };

/** Reads a file of vendors. Errors: UsageError if it can't be read, or has no column that names vendors. */
export async function readVendorList(file: string): Promise<VendorFile> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(error.code === "ENOENT" ? `There is no file ${file}.` : error.message, { cause: error });
  });
  const list = await readVendorFile(bytes, { limits }).catch((error: unknown) => {
    throw error instanceof VendorFileError ? new UsageError(`${file}: ${error.message}`, { cause: error }) : error;
  });
  const [problem] = list.problems;
  if (problem) throw new UsageError(`${file}: ${problemText(problem)}.`);
  return list;
}

/** Returns the call that verifies the vendor of a row, or the problem why it can't be verified. */
export function requestOf(
  { vendor, problems }: VendorRow,
  question: { checks: Check[]; mode: Mode },
): VerifyRequest | { readonly problem: string } {
  if (!vendor) return { problem: problems.map(problemText).join("; ") };
  const { entity_id, identifiers, legal_name } = vendor;
  if (entity_id) return { entity_id, ...question };
  return identifiers ? { identifiers, legal_name, ...question } : { problem: "no identifier: a name is not enough" };
}

/** Returns the index of the column whose numbers are saved as external_id; -1 without one. Other names are only copied. */
export function numberColumn({ columns }: Pick<VendorFile, "columns">): number {
  return columns.findIndex(({ name }) => /^(?:vendor[\s_-]*number|external[\s_-]*id)$/i.test(name));
}
