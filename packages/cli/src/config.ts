import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { UsageError } from "./exit-codes.ts";

/** Where to call and as whom. */
export interface Settings {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of this process. */
export const processEnvironment: Environment = process.env;

const FILE = join("vendor-verification", "config.json");

/** Returns the file that `login` writes, in the user's folder for configuration. */
export function settingsFile(env: Environment, platform: string = process.platform): string {
  const home = env.HOME || env.USERPROFILE || homedir();
  const byDefault = platform === "win32" ? env.APPDATA || join(home, "AppData", "Roaming") : join(home, ".config");
  return join(env.XDG_CONFIG_HOME || byDefault, FILE);
}

/** Returns the settings; variables override the file. Errors: UsageError if one is missing or unusable. */
export function loadSettings(env: Environment): Settings {
  const stored = readStored(settingsFile(env));
  const baseUrl = env.VENDOR_VERIFICATION_BASE_URL || stored.baseUrl;
  const apiKey = env.VENDOR_VERIFICATION_API_KEY || stored.apiKey;
  if (baseUrl && apiKey) return { baseUrl: readBaseUrl(baseUrl), apiKey: readApiKey(apiKey) };
  throw new UsageError(
    "Not signed in. Run `vendor-verification login`, or set VENDOR_VERIFICATION_BASE_URL and VENDOR_VERIFICATION_API_KEY.",
  );
}

/** Returns the address of the service without slashes at its end. Errors: UsageError if it is not one. */
export function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable = url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash;
  // Paths begin with /v1 themselves.
  if (isUsable && !/\/v1\/*$/.test(url.pathname)) return url.href.replace(/\/+$/, "");
  throw new UsageError(
    `"${text}" is not the address of a service. It begins with http:// or https:// and does not end with /v1, such as https://api.example.com.`,
  );
}

/** Returns the first API key in a text, such as a line of a shell script. Errors: UsageError, without the text. */
export function readApiKey(text: string): string {
  const [apiKey] = /\bsvc_(live|test)_[0-9A-Za-z]{38}\b/.exec(text) ?? [];
  if (apiKey) return apiKey;
  throw new UsageError("This is not an API key. It begins with svc_live_ or svc_test_ and has 47 characters.");
}

/** Writes the settings, readable only by the user. Returns the file. */
export function storeSettings(env: Environment, settings: Settings): string {
  const file = settingsFile(env);
  const unfinished = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  rmSync(unfinished, { force: true });
  writeFileSync(unfinished, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  renameSync(unfinished, file);
  return file;
}

function readStored(file: string): Partial<Settings> {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Partial<Settings>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new UsageError(`${file} can't be read. Run \`vendor-verification login\` to write it again.`, {
      cause: error,
    });
  }
}
