import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { ApiError, createClient } from "@vendor-verification/client";
import type { Command, Context } from "../command.ts";
import { readApiKey, readBaseUrl, type Settings, storeSettings } from "../config.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";

export const login: Command = {
  name: "login",
  summary: "Check an API key and store it for the other commands.",
  options: {
    "base-url": { value: "URL", does: "Address of the service, such as https://api.example.com." },
  },
  help: `
The key is read from VENDOR_VERIFICATION_API_KEY, else from the terminal (where it is not shown), else from stdin.
Text around the key, such as \`export API_KEY=\`, quotes or a comment, is ignored. The address is read from --base-url, else
from VENDOR_VERIFICATION_BASE_URL, else from the terminal. One call checks both. They are stored in the user's configuration folder,
in a file that only the user can read.

  vendor-verification login --base-url https://api.example.com
  vendor-verification login --base-url https://api.example.com < .env`,
  async run(context, args) {
    const settings = await readSettings(context, args.text("base-url"));
    await check(settings, context.signal);
    const file = storeSettings(context.env, settings);
    const { baseUrl, apiKey } = settings;
    const environment = environmentOf(apiKey);
    const shown = `${apiKey.slice(0, 9)}…${apiKey.slice(-4)}`;
    context.output.result(
      { base_url: baseUrl, environment, file },
      () => `Signed in to ${baseUrl} with the ${environment} key ${shown}. Stored in ${file}.`,
    );
    return exitCodes.ok;
  },
};

/** Returns which data a key sees. */
export function environmentOf(apiKey: string): "live" | "sandbox" {
  return apiKey.startsWith("svc_live_") ? "live" : "sandbox";
}

async function readSettings({ env, stdin, signal }: Context, baseUrlOption: string | undefined): Promise<Settings> {
  const terminal = stdin.isTTY ? createTerminal(stdin, signal) : undefined;
  try {
    const baseUrl =
      baseUrlOption ?? env.VENDOR_VERIFICATION_BASE_URL ?? (await terminal?.ask("Address of the service: "));
    if (!baseUrl) throw new UsageError("--base-url is missing.");
    const address = readBaseUrl(baseUrl);
    const apiKey =
      env.VENDOR_VERIFICATION_API_KEY ?? (await (terminal ? terminal.askHidden("API key: ") : text(stdin)));
    return { baseUrl: address, apiKey: readApiKey(apiKey) };
  } finally {
    terminal?.close();
  }
}

/** Makes one call. A key without the right to make it is still a valid key. */
async function check(settings: Settings, signal: AbortSignal): Promise<void> {
  try {
    await createClient({ ...settings, maxAttempts: 2 }).listProviders({ signal });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "forbidden")) throw error;
  }
}

/** Returns functions that ask on the terminal. Errors: UsageError if the terminal is closed; the reason of the signal. */
function createTerminal(input: NodeJS.ReadStream, signal: AbortSignal) {
  let isHidden = false;
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!isHidden) process.stderr.write(chunk);
      done();
    },
  });
  const closed = new AbortController();
  const lines = createInterface({ input, output, terminal: true });
  lines.once("close", () => closed.abort());
  // The terminal gives Ctrl-C to the interface, not to the process.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));

  async function question(text: string): Promise<string> {
    try {
      return (await lines.question(text, { signal: AbortSignal.any([signal, closed.signal]) })).trim();
    } catch (cause) {
      signal.throwIfAborted();
      throw new UsageError("Nothing was entered.", { cause });
    }
  }

  return {
    ask: question,
    async askHidden(text: string): Promise<string> {
      process.stderr.write(text);
      isHidden = true;
      try {
        return await question("");
      } finally {
        isHidden = false;
        process.stderr.write("\n");
      }
    },
    close: () => lines.close(),
  };
}
