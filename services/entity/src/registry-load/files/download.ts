import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { LoadDocument } from "../../model/documents.ts";
import { RegistryFileError } from "./errors.ts";
import { openMember } from "./member.ts";

/** A file that SAM.gov publishes: the registry of a month (YYYY-MM) or the exclusions of a day (YYYY-MM-DD). */
export interface WantedFile {
  readonly kind: LoadDocument["kind"];
  readonly date: string;
}

export interface DownloadOptions {
  /** https, or http on this machine, without a final slash. */
  readonly baseUrl: string;
  /** Sent in a header, and only to `baseUrl`: redirects lead to other companies' storage. */
  readonly apiKey: string;
  readonly wanted: WantedFile;
  readonly directory: string;
  /** Called with the number of bytes so far, and the total if it is known. */
  readonly onBytes?: (done: number, total: number | undefined) => void;
  /** Maximum time without data, in milliseconds. */
  readonly silenceMs?: number;
  readonly maxBytes?: number;
}

const SILENCE_MS = 60_000;
const TOTAL_MS = 2 * 60 * 60 * 1_000;
/** The registry file has about 150 MB. */
const MAX_BYTES = 2_000_000_000;
const MAX_REDIRECTS = 3;

/**
 * Downloads a file from SAM.gov's extract API (GSA's SAM Entity Extracts documentation) into a directory, under the name
 * that SAM.gov gives it; returns its path. The file appears only once it is whole and readable as a ZIP. Uses one call of
 * the key's daily quota. Errors: RegistryFileError with what the operator can do, without the key or the signed address
 * of a redirect.
 */
export async function downloadFile(options: DownloadOptions): Promise<string> {
  const { directory, wanted } = options;
  await mkdir(directory, { recursive: true });
  using silence = createSilenceGuard(options.silenceMs ?? SILENCE_MS);
  try {
    const { response, name } = await request(options, silence);
    const partial = join(directory, `.${name}.part.zip`);
    try {
      await receive(response, partial, options, silence);
      await requireWholeArchive(partial, wanted);
      const path = join(directory, name);
      await rename(partial, path);
      return path;
    } finally {
      await rm(partial, { force: true });
    }
  } catch (cause) {
    if (cause instanceof RegistryFileError) throw cause;
    const reason = silence.signal.aborted ? "SAM.gov stopped sending, or takes hours" : "The download broke off";
    throw new RegistryFileError(`${reason}; try again`, { cause, isTemporary: true });
  }
}

/** Returns the address of a file by its kind and date; its file name is not known in advance. */
function addressOf({ baseUrl, wanted }: DownloadOptions): string {
  const [year, month, day] = wanted.date.split("-");
  const query: Record<string, string> =
    wanted.kind === "registry"
      ? { fileType: "ENTITY", sensitivity: "PUBLIC", frequency: "MONTHLY", charset: "UTF-8", date: `${month}/${year}` }
      : { fileType: "EXCLUSION", date: `${month}/${day}/${year}` };
  return `${baseUrl}/data-services/v1/extracts?${new URLSearchParams({ ...query, version: "V2" })}`;
}

async function request(options: DownloadOptions, silence: SilenceGuard): Promise<{ response: Response; name: string }> {
  let url = addressOf(options);
  let name = "";
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const headers: Record<string, string> = { Accept: "application/zip, application/octet-stream" };
    if (hop === 0) headers["X-Api-Key"] = options.apiKey;
    const response = await fetch(url, { headers, redirect: "manual", signal: silence.signal });
    silence.reset();
    name = nameOf(response, url) ?? name;
    if (response.status === 200) return { response, name: name || defaultName(options.wanted) };
    await response.body?.cancel();
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || !location) throw refusal(response, hop);
    url = redirectTarget(location, url);
  }
  throw new RegistryFileError("SAM.gov redirects too often");
}

function redirectTarget(location: string, from: string): string {
  const target = new URL(location, from);
  if (target.protocol !== "https:" && new URL(from).protocol === "https:") {
    throw new RegistryFileError("SAM.gov redirects to an address that is not secure; nothing was downloaded");
  }
  return target.href;
}

function refusal({ status }: Response, hop: number): RegistryFileError {
  if (status === 204 || status === 404) {
    return new RegistryFileError(
      "SAM.gov has no such file (yet): the registry is published on a month's first Sunday, exclusions daily",
      { isMissing: true },
    );
  }
  if (hop === 0 && (status === 401 || status === 403)) {
    return new RegistryFileError(
      `SAM.gov refuses the key (${status}): keys are valid for 90 days; renew SAM_GOV_API_KEY`,
    );
  }
  if (status === 429) {
    const message = "The key has used up its calls of today; try again after midnight UTC";
    return new RegistryFileError(message, { isTemporary: true });
  }
  const isTemporary = status >= 500;
  return new RegistryFileError(`SAM.gov answered ${status} instead of a file; try again later`, { isTemporary });
}

/** Returns the file name that a server gives, unless it could lead to another directory. */
function nameOf(response: Response, url: string): string | undefined {
  const given = /filename\*?=(?:UTF-8'')?"?([^";]+)/i.exec(response.headers.get("content-disposition") ?? "")?.[1];
  const name = basename((given ?? decodeURIComponent(new URL(url).pathname)).trim());
  return /^\w[\w.-]*\.zip$/i.test(name) ? name : undefined;
}

function defaultName(wanted: WantedFile): string {
  return `${wanted.kind === "registry" ? "SAM_PUBLIC_MONTHLY_V2" : "SAM_Exclusions"}_${wanted.date}.ZIP`;
}

async function receive(
  response: Response,
  path: string,
  { onBytes = () => {}, maxBytes = MAX_BYTES }: DownloadOptions,
  silence: SilenceGuard,
): Promise<void> {
  const length = Number(response.headers.get("content-length"));
  const total = Number.isSafeInteger(length) && length > 0 ? length : undefined;
  if (!response.body) {
    throw new RegistryFileError("SAM.gov answered without a file; try again later", { isTemporary: true });
  }
  let done = 0;
  const counting = new Transform({
    transform(chunk: Uint8Array, _encoding, next) {
      silence.reset();
      done += chunk.length;
      onBytes(done, total);
      if (done > maxBytes)
        next(new RegistryFileError(`The download is larger than ${maxBytes} bytes, and no such file is`));
      else next(null, chunk);
    },
  });
  await pipeline(Readable.fromWeb(response.body as never), counting, createWriteStream(path, { mode: 0o644 }));
  if (done === 0 || (total !== undefined && done !== total)) {
    const message = `The download has ${done} bytes${total ? ` instead of ${total}` : ""}; try again`;
    throw new RegistryFileError(message, { isTemporary: true });
  }
}

/** Reads an archive to its end, which checks its checksum. */
async function requireWholeArchive(path: string, { kind }: WantedFile): Promise<void> {
  const extension = kind === "registry" ? ".dat" : ".csv";
  try {
    const member = await openMember(path, extension);
    for await (const chunk of member.content) if (chunk.length === 0) break;
  } catch (cause) {
    const message = `The download is not a whole ZIP archive of one ${extension} file; try again`;
    throw new RegistryFileError(message, { cause, isTemporary: true });
  }
}

type SilenceGuard = ReturnType<typeof createSilenceGuard>;

/** Creates a signal that is aborted when a server has sent nothing for `silenceMs`, or does not finish in hours. */
function createSilenceGuard(silenceMs: number) {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), silenceMs);
  return {
    signal: AbortSignal.any([silent.signal, AbortSignal.timeout(TOTAL_MS)]),
    /** Call it whenever the server has sent something. */
    reset: () => void timer.refresh(),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
