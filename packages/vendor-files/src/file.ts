/** Maximum size of what is read. A file beyond it is refused with a message that says so. */
export interface FileLimits {
  readonly bytes: number;
  /** Rows with vendors. */
  readonly rows: number;
  readonly columns: number;
  /** Characters of a row. */
  readonly rowLength: number;
  /** Bytes of an XLSX file once it is unpacked, of the parts that are read; and characters of its cells. */
  readonly unpackedBytes: number;
}

/** What a spreadsheet program shows as a row: `number` counts from 1, blank rows included. */
export interface FileRow {
  readonly number: number;
  readonly cells: readonly string[];
}

/** How the file is written. Results are written the same way. */
export interface FileFormat {
  readonly delimiter: string;
  /** Whether Excel needs a byte order mark to read the results as UTF-8. */
  readonly bom: boolean;
}

/** Why a file can't be read, in a sentence for the person who chose it. */
export class VendorFileError extends Error {
  override readonly name = "VendorFileError";
}
