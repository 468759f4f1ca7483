import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { RegistryFileError } from "./errors.ts";
import { openMember } from "./member.ts";

/** A file that SAM.gov publishes: the registry's of a month, or the exclusions' of a day. */
export type WantedFile =
  | { readonly kind: "registry"; readonly month: string }
  | { readonly kind: "exclusions"; readonly day: string };

export interface DownloadOptions {
  /** https, or http on this machine, without a final slash. */
  readonly baseUrl: string;
  /** Sent in a header to `baseUrl` alone: redirects lead to storage of others. */
  readonly apiKey: string;
  readonly wanted: WantedFile;
  readonly directory: string;
  /** Told of bytes so far, and of how many there will be where that is known. */
  readonly onBytes?: (done: number, total: number | undefined) => void;
  /** Longest silence of the server, in milliseconds. */
  readonly silenceMs?: number;
  readonly maxBytes?: number;
}

const SILENCE_MS = 60_000;
const TOTAL_MS = 2 * 60 * 60 * 1_000;
/** The registry's file is of some 150 MB. */
const MAX_BYTES = 2_000_000_000;
const MAX_REDIRECTS = 3;

/**
 * Fetches a file by SAM.gov's extract download API (GSA's SAM Entity Extracts documentation) into a directory, under
 * the name that SAM.gov gives it; returns its path. It is there whole and readable as a ZIP, or not at all. One call of
 * the key's daily quota. Errors: RegistryFileError with what the operator can do; never the key, nor where a redirect
 * leads, which is signed.
 */
export async function downloadFile(options: DownloadOptions): Promise<string> {
  const { directory, wanted } = options;
  await mkdir(directory, { recursive: true });
  const silence = createSilenceGuard(options.silenceMs ?? SILENCE_MS);
  try {
    const { response, name } = await request(options, silence);
    const partial = join(directory, `.${name}.part.zip`);
    try {
      await receive(response, partial, options, silence);
      silence.end();
      await requireWholeArchive(partial, wanted);
      const path = join(directory, name);
      await rename(partial, path);
      return path;
    } finally {
      await rm(partial, { force: true });
    }
  } catch (cause) {
    if (cause instanceof RegistryFileError) throw cause;
    if (silence.signal.aborted)
      throw new RegistryFileError("SAM.gov fell silent, or takes hours; try again", { cause });
    throw new RegistryFileError("The download broke off; try again", { cause });
  } finally {
    silence.end();
  }
}

/** The address of a file: by its kind and date, as SAM.gov names the files by days that one can't know. */
function addressOf({ baseUrl, wanted }: DownloadOptions): string {
  const url = new URL(`${baseUrl}/data-services/v1/extracts`);
  const [year, month, day] = (wanted.kind === "registry" ? wanted.month : wanted.day).split("-");
  const asked =
    wanted.kind === "registry"
      ? { fileType: "ENTITY", sensitivity: "PUBLIC", frequency: "MONTHLY", charset: "UTF-8", date: `${month}/${year}` }
      : { fileType: "EXCLUSION", date: `${month}/${day}/${year}` };
  for (const [name, value] of Object.entries({ ...asked, version: "V2" })) url.searchParams.set(name, value);
  return url.href;
}

async function request(options: DownloadOptions, silence: SilenceGuard): Promise<{ response: Response; name: string }> {
  let url = addressOf(options);
  let name = "";
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const headers: Record<string, string> = { Accept: "application/zip, application/octet-stream" };
    if (hop === 0) headers["X-Api-Key"] = options.apiKey;
    const response = await fetch(url, { headers, redirect: "manual", signal: silence.signal });
    silence.heard();
    name = nameOf(response, url) ?? name;
    if (response.status === 200) return { response, name: name || defaultName(options.wanted) };
    await response.body?.cancel();
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || !location) throw refusal(response, hop);
    url = redirectTarget(location, url);
  }
  throw new RegistryFileError("SAM.gov sends from one address to another without an end");
}

function redirectTarget(location: string, from: string): string {
  const target = new URL(location, from);
  if (target.protocol !== "https:" && new URL(from).protocol === "https:") {
    throw new RegistryFileError("SAM.gov sends to an address that is not secure; nothing was downloaded");
  }
  return target.href;
}

function refusal({ status }: Response, hop: number): RegistryFileError {
  if (status === 204 || status === 404) {
    return new RegistryFileError(
      "SAM.gov has no such file (yet): a month's comes on its first Sunday, exclusions daily",
    );
  }
  if (hop === 0 && (status === 401 || status === 403)) {
    return new RegistryFileError(`SAM.gov refuses the key (${status}): it lives for 90 days; renew SAM_GOV_API_KEY`);
  }
  if (status === 429) {
    return new RegistryFileError("The key has used up its calls of today; SAM.gov counts anew at midnight UTC");
  }
  return new RegistryFileError(`SAM.gov answered ${status} instead of a file; try again later`);
}

/** A file name that a server gives, without anything that could lead elsewhere. */
function nameOf(response: Response, url: string): string | undefined {
  const given = /filename\*?=(?:UTF-8'')?"?([^";]+)/i.exec(response.headers.get("content-disposition") ?? "")?.[1];
  const name = basename((given ?? decodeURIComponent(new URL(url).pathname)).trim());
  return /^\w[\w.-]*\.zip$/i.test(name) ? name : undefined;
}

function defaultName(wanted: WantedFile): string {
  return wanted.kind === "registry" ? `SAM_PUBLIC_MONTHLY_V2_${wanted.month}.ZIP` : `SAM_Exclusions_${wanted.day}.ZIP`;
}

async function receive(
  response: Response,
  path: string,
  { onBytes = () => {}, maxBytes = MAX_BYTES }: DownloadOptions,
  silence: SilenceGuard,
): Promise<void> {
  const length = Number(response.headers.get("content-length"));
  const total = Number.isSafeInteger(length) && length > 0 ? length : undefined;
  if (!response.body) throw new RegistryFileError("SAM.gov answered without a file; try again later");
  let done = 0;
  const counting = new Transform({
    transform(chunk: Uint8Array, _encoding, next) {
      silence.heard();
      done += chunk.length;
      onBytes(done, total);
      if (done > maxBytes)
        next(new RegistryFileError(`What SAM.gov sends is larger than ${maxBytes} bytes: no file is`));
      else next(null, chunk);
    },
  });
  await pipeline(Readable.fromWeb(response.body as never), counting, createWriteStream(path, { mode: 0o644 }));
  const { size } = await stat(path);
  if (size === 0 || (total !== undefined && size !== total)) {
    throw new RegistryFileError(`The download has ${size} bytes${total ? ` instead of ${total}` : ""}; try again`);
  }
}

/** Reads it to its end, against its checksum. */
async function requireWholeArchive(path: string, { kind }: WantedFile): Promise<void> {
  const extension = kind === "registry" ? ".dat" : ".csv";
  try {
    const member = await openMember(path, extension);
    for await (const chunk of member.content) if (chunk.length === 0) break;
  } catch (cause) {
    throw new RegistryFileError(`What SAM.gov sent is no whole ZIP archive of one ${extension} file; try again`, {
      cause,
    });
  }
}

interface SilenceGuard {
  readonly signal: AbortSignal;
  heard(): void;
  end(): void;
}

/** A large file may take long; a server that says nothing more, or never comes to an end, is given up. */
function createSilenceGuard(silenceMs: number): SilenceGuard {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), silenceMs);
  const total = setTimeout(() => controller.abort(), TOTAL_MS);
  return {
    signal: controller.signal,
    heard: () => void timer.refresh(),
    end() {
      clearTimeout(timer);
      clearTimeout(total);
    },
  };
}
