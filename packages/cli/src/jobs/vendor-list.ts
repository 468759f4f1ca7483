import { readFile } from "node:fs/promises";
import { problemText, readVendorFile, type VendorFile, VendorFileError } from "@vvs/vendor-files";
import { UsageError } from "../exit-codes.ts";

/** Columns that are only copied can make a file large. */
const limits = { bytes: 50_000_000, unpackedBytes: 300_000_000 };

/**
 * Reads a file with as many vendors as a job can have. Errors: UsageError if it can't be read, has more, or has no column
 * that names vendors.
 */
export async function readVendorList(file: string): Promise<VendorFile> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(error.code === "ENOENT" ? `There is no file ${file}.` : error.message, { cause: error });
  });
  const list = await readVendorFile(bytes, { limits }).catch((error: unknown) => {
    throw error instanceof VendorFileError ? new UsageError(`${file}: ${error.message}`, { cause: error }) : error;
  });
  const [problem] = list.problems;
  if (problem) {
    const texts = [problem, ...list.notices].map((each) => `${problemText(each)}.`);
    throw new UsageError(`${file}: ${texts.join(" ")}`);
  }
  return list;
}
