import { setImmediate as nextTurn } from "node:timers/promises";
import sax from "sax";
import { type Entry, fromBufferPromise } from "yauzl";
import { VendorFileError } from "../file.ts";

const MAX_PARTS = 2_000;

/** What is called while a part is read. Names are without their namespace. */
export interface XmlHandlers {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

export type Archive = Awaited<ReturnType<typeof openArchive>>;

/**
 * Opens the ZIP archive that an XLSX file is. At most `maxBytes` are unpacked, over all parts that are read. Errors:
 * VendorFileError if it is none, or is damaged.
 */
export async function openArchive(bytes: Uint8Array, maxBytes: number) {
  const parts = new Map<string, Entry>();
  const zip = await damagedUnless(fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
  let left = maxBytes;

  const entries = zip.eachEntry();
  for (;;) {
    const { value: entry, done } = await damagedUnless(entries.next());
    if (done) break;
    if (parts.size === MAX_PARTS) throw new VendorFileError("The file has too many parts to be a workbook.");
    parts.set(entry.fileName, entry);
  }

  return {
    has: (part: string) => parts.has(part),
    /**
     * Reads a part, in chunks between which other work runs. Does nothing if the archive lacks it. Yields after each chunk,
     * so that the caller can take what the handlers found.
     */
    async *read(part: string, handlers: XmlHandlers): AsyncGenerator<void> {
      const entry = parts.get(part);
      if (!entry) return;
      const parser = xmlParser(handlers);
      const decoder = new TextDecoder();
      const chunks = (await damagedUnless(zip.openReadStreamPromise(entry))).iterator();
      try {
        for (;;) {
          const { value: chunk, done } = await damagedUnless<IteratorResult<Uint8Array>>(chunks.next());
          if (done) break;
          left -= chunk.length;
          if (left < 0) throw new VendorFileError("The workbook is too large once it is unpacked. Split it.");
          parser.write(decoder.decode(chunk, { stream: true }));
          yield;
          await nextTurn();
        }
        parser.write(decoder.decode()).close();
        yield;
      } finally {
        await chunks.return?.();
      }
    },
  };
}

function xmlParser({ open, text, close }: XmlHandlers): sax.SAXParser {
  const parser = sax.parser(true);
  parser.onopentag = ({ name, attributes }) => open?.(localName(name), attributes as Record<string, string>);
  parser.onclosetag = (name) => close?.(localName(name));
  parser.ontext = (value) => text?.(value);
  parser.oncdata = (value) => text?.(value);
  parser.onerror = (cause) => {
    throw damaged(cause);
  };
  return parser;
}

const localName = (name: string) => name.slice(name.indexOf(":") + 1);

async function damagedUnless<T>(result: Promise<T>): Promise<T> {
  return result.catch((cause: unknown) => {
    throw damaged(cause);
  });
}

export function damaged(cause?: unknown): VendorFileError {
  return new VendorFileError(
    "The workbook can't be read: it is damaged, or not an .xlsx file. Save it as .xlsx or CSV.",
    {
      cause,
    },
  );
}
