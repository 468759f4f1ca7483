import { isUtf8 } from "node:buffer";
import { WINDOWS_1252 } from "@vvs/identifiers/written-name";
import { VendorFileError } from "../file.ts";

/** Small enough to be parsed within some milliseconds, even if each byte is a row. */
const SLICE_BYTES = 4_096;
const SAMPLE_BYTES = 4_096;

type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";

/** The text of a file, without its byte order mark. */
export interface FileText {
  readonly encoding: Encoding;
  readonly hasBom: boolean;
  /** Returns the text from its beginning, in slices of at most 4 kB. */
  slices(): Iterable<string>;
}

/**
 * Recognizes the encoding: by the byte order mark, else UTF-16 by its zero bytes, else UTF-8 if all bytes are valid, else
 * Windows-1252. Errors: VendorFileError if it is not text.
 */
export function readText(bytes: Uint8Array): FileText {
  const marked = encodingOfMark(bytes);
  const encoding = marked ?? encodingOfZeros(bytes) ?? (isUtf8(bytes) ? "utf-8" : "windows-1252");
  return {
    encoding,
    hasBom: marked !== undefined,
    *slices() {
      const decode = decoderOf(encoding);
      for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
        const text = decode(bytes.subarray(start, start + SLICE_BYTES), start + SLICE_BYTES < bytes.length);
        if (text.includes("\0")) {
          throw new VendorFileError("This is not a text file. Save the list as CSV or as .xlsx.");
        }
        yield text;
      }
    },
  };
}

function encodingOfMark([first, second, third]: Uint8Array): Encoding | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return undefined;
}

/** UTF-16 has a zero byte in each ASCII character, always on the same side. */
function encodingOfZeros(bytes: Uint8Array): Encoding | undefined {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const zeros = [0, 0];
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 2]!++;
  const [even, odd] = zeros.map((count) => count / sample.length > 0.2);
  if (even === odd) return undefined;
  return odd ? "utf-16le" : "utf-16be";
}

function decoderOf(encoding: Encoding): (bytes: Uint8Array, stream: boolean) => string {
  // TextDecoder of Node 20 takes Windows-1252 for Latin-1.
  if (encoding === "windows-1252") return windows1252;
  const decoder = new TextDecoder(encoding);
  return (bytes, stream) => decoder.decode(bytes, { stream });
}

function windows1252(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/[\x80-\x9f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80]!);
}
