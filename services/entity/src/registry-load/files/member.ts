import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import { type Entry, openPromise } from "yauzl";
import type { IsoDate } from "../../model/dates.ts";
import { RegistryFileError } from "./errors.ts";

/** A registry or exclusions file that was read to its end and is sound. */
export interface LoadedFile {
  readonly fileName: string;
  /** The date of the registry's state in the file. */
  readonly cutDate: IsoDate;
  readonly rows: number;
  /** SHA-256, in hex, of the file on disk: of the ZIP, if it is one. */
  readonly sha256: string;
  /** False for a daily extract: its rows have codes 1 to 4, and entities that it lacks have not changed. */
  readonly isComplete: boolean;
}

/** A row of a file, or the reason why it can't be trusted. */
export type Parsed<Row> =
  | { readonly row: Row; readonly reason?: undefined }
  | { readonly row?: undefined; readonly reason: string };

/** The text file of a registry path: the file itself, or the only wanted member of a ZIP. */
export interface Member {
  /** Name of the text file: the ZIP's member, or the path's last part. */
  readonly name: string;
  /** Size of the text, and the part of it that was read so far, in bytes. */
  readonly size: number;
  readonly readBytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Opens the text of a registry file. A ZIP is recognized by its first bytes, and must have exactly one file that ends in
 * `extension` (such as `.dat`, in any case). Constant memory. Errors: RegistryFileError if the file is absent, is not a
 * ZIP although its name says so, or has another number of such members; also while reading the content of a damaged ZIP.
 */
export async function openMember(path: string, extension: string): Promise<Member> {
  const fileName = basename(path);
  const start = await firstBytes(path);
  if (start.toString("latin1") === "PK") return openZipMember(path, fileName, extension);
  if (/\.zip$/i.test(fileName)) throw new RegistryFileError(`${fileName} is not a ZIP archive`);
  return memberOf({ name: fileName, fileName, size: (await stat(path)).size, stream: createReadStream(path) });
}

/** Returns the SHA-256, in hex, of the file on disk. Errors: RegistryFileError. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk);
  } catch (cause) {
    throw new RegistryFileError(`${basename(path)} cannot be read`, { cause });
  }
  return hash.digest("hex");
}

async function firstBytes(path: string): Promise<Buffer> {
  try {
    await using file = await open(path, "r");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.subarray(0, bytesRead);
  } catch (cause) {
    throw new RegistryFileError(`${basename(path)} cannot be read`, { cause });
  }
}

async function openZipMember(path: string, fileName: string, extension: string): Promise<Member> {
  try {
    const zip = await openPromise(path, { autoClose: false });
    const wanted: Entry[] = [];
    for await (const entry of zip.eachEntry()) {
      // Archives made on a Mac have a second entry for each file, with its attributes.
      const isForMac = basename(entry.fileName).startsWith("._");
      if (!isForMac && entry.fileName.toLowerCase().endsWith(extension.toLowerCase())) wanted.push(entry);
    }
    const [entry] = wanted;
    if (!entry || wanted.length > 1) {
      zip.close();
      throw new RegistryFileError(`${fileName} must have exactly one ${extension} file, and has ${wanted.length}`);
    }
    const stream = await zip.openReadStreamPromise(entry);
    return memberOf({
      name: basename(entry.fileName),
      fileName,
      size: entry.uncompressedSize,
      stream,
      checksum: entry.crc32,
      close: () => zip.close(),
    });
  } catch (cause) {
    if (cause instanceof RegistryFileError) throw cause;
    throw new RegistryFileError(`${fileName} is a damaged ZIP archive`, { cause });
  }
}

interface Source {
  readonly name: string;
  readonly fileName: string;
  readonly size: number;
  readonly stream: Readable;
  /** CRC-32 of the text by the archive; yauzl does not compare it. */
  readonly checksum?: number;
  readonly close?: () => void;
}

function memberOf({ name, fileName, size, stream, checksum, close }: Source): Member {
  let readBytes = 0;
  let sum = 0;
  const damaged = (cause?: unknown) =>
    new RegistryFileError(`${fileName} cannot be read to its end: it is damaged`, { cause });
  async function* content(): AsyncGenerator<Uint8Array> {
    const chunks = stream[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await chunks.next().catch((cause: unknown) => {
          throw damaged(cause);
        });
        if (next.done) break;
        readBytes += next.value.length;
        if (checksum !== undefined) sum = crc32(next.value, sum);
        yield next.value;
      }
      if (checksum !== undefined && sum !== checksum) throw damaged();
    } finally {
      stream.destroy();
      close?.();
    }
  }
  return {
    name,
    size,
    get readBytes() {
      return readBytes;
    },
    content: content(),
  };
}
