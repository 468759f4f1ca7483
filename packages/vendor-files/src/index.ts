export type { Column, Mapping } from "./columns/columns.ts";
export { type Field, fields } from "./columns/fields.ts";
export { csvRow } from "./csv-row.ts";
export { type FileFormat, type FileLimits, VendorFileError } from "./file.ts";
export { type Problem, problemText } from "./problems.ts";
export { readVendorFile, type VendorFile, type VendorRow } from "./read.ts";
export { maskedCells, type RowResult, type WrittenList, writeResults } from "./results/write.ts";
export type { Vendor } from "./vendors/vendor.ts";
