import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

/** How the content of a body is stored. */
export interface Encoding {
  /** Size of the content, before it is compressed. */
  readonly bytes: number;
  /** Absent where it is not compressed. */
  readonly compression?: "gzip";
}

/** Returns a content as it is stored: unchanged where compressing makes it no smaller. */
export async function compress(content: Buffer): Promise<Encoding & { readonly stored: Buffer }> {
  const smaller = await promisify(gzip)(content);
  const bytes = content.length;
  return smaller.length < bytes ? { bytes, compression: "gzip", stored: smaller } : { bytes, stored: content };
}

/** Returns the content. What can't be decompressed is returned as it is stored, so that it differs from its hash. */
export async function decompress(stored: Uint8Array, { bytes, compression }: Encoding): Promise<Uint8Array> {
  if (!compression) return stored;
  return promisify(gunzip)(stored, { maxOutputLength: bytes }).catch(() => stored);
}
