import { readFileSync, writeFileSync } from "node:fs";
import { checkReceipt, type JobReceipt, type Receipt, type ReceiptKeys } from "@vendor-verification/client";
import type { Command, Context } from "../command.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { fieldLines } from "../output.ts";

export const getReceipt: Command = {
  name: "receipt get",
  summary: "Get the receipt of a verification or a job: a signed text that proves its results.",
  operands: ["ID"],
  options: { out: { value: "FILE", does: "Where it goes. It must not exist yet. Default: it is printed." } },
  help: `
  vendor-verification receipt get ver_… --out receipt.jwt`,
  async run({ client, output, signal }, args) {
    const [id = ""] = args.operands;
    const { getReceipt: ofVerification, getJobReceipt: ofJob } = client();
    const receipt = await (id.startsWith("job_") ? ofJob : ofVerification)(id, { signal });
    const file = args.text("out");
    if (file === undefined) output.result(receipt, () => receipt);
    else write(file, receipt);
    return exitCodes.ok;
  },
};

export const checkReceiptFile: Command = {
  name: "receipt check",
  summary: "Check a receipt, and say what it proves.",
  operands: ["FILE"],
  options: {
    keys: {
      value: "FILE|URL",
      does: "The service's public keys, with which no key of yours is needed. Default: it is asked.",
    },
  },
  help: `
Exits with 0 for a genuine receipt, also if a check failed, and with 1 for a receipt that was altered or that the service
did not sign. The keys are at /.well-known/jwks.json of the service. With a file of them no connection is needed. Never take
them from the sender of the receipt. With --json it prints all that the receipt says.

  vendor-verification receipt check receipt.jwt --keys keys.json
  vendor-verification receipt check receipt.jwt --keys https://api.example.com/.well-known/jwks.json`,
  async run(context, args) {
    const [file = ""] = args.operands;
    const text = read(file);
    const keys = await keysOf(context, args.text("keys"));
    const receipt = await checkReceipt<Receipt | JobReceipt>(text, keys).catch((error: unknown) => {
      if (error instanceof TypeError) throw new UsageError("These are not the keys of the service.", { cause: error });
      throw error;
    });
    context.output.result(receipt, () => ("job" in receipt ? jobText(receipt) : receiptText(receipt)));
    return exitCodes.ok;
  },
};

async function keysOf({ client, signal }: Context, place: string | undefined): Promise<ReceiptKeys> {
  if (place === undefined) return client().getReceiptKeys({ signal });
  const text = /^https?:/.test(place) ? await download(place, signal) : read(place);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`${place} is not JSON.`, { cause });
  }
}

async function download(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, { signal }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new UsageError(`${url} can't be reached.`, { cause });
  });
  if (!response.ok) throw new UsageError(`${url} answers ${response.status}.`);
  return response.text();
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw unusable(file, cause);
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, `${text}\n`, { flag: "wx" });
  } catch (cause) {
    throw unusable(file, cause);
  }
}

function unusable(file: string, cause: unknown): UsageError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const known: Record<string, string> = { ENOENT: `There is no file ${file}.`, EEXIST: `${file} exists already.` };
  return new UsageError(known[code ?? ""] ?? `${message}.`, { cause });
}

const GENUINE = "The receipt is genuine: it was signed with one of these keys, and not altered.";
const SANDBOX = "Test environment: the answers are invented. It proves nothing about a real vendor.";

function heading(environment: string): string[] {
  return [GENUINE, ...(environment === "live" ? [] : [SANDBOX]), ""];
}

function jobText({ iss, environment, job, files, results }: JobReceipt): string {
  const decided = (wanted: string) => String(results.filter(({ decision }) => decision === wanted).length);
  return [
    ...heading(environment),
    fieldLines([
      ["Signed by", iss],
      ["Job", job.id],
      ["Status", job.status],
      ["Created", job.created_at],
      ["Completed", job.completed_at],
      ["Vendors", String(job.total)],
      ["Results", String(results.length)],
      ["  pay", decided("pay")],
      ["  hold", decided("hold")],
      ["  review", decided("review")],
      ...files.flatMap(({ file, origin, data_as_of, sha256 }) => [
        ["File", [file ?? origin, data_as_of].join("  ")] as const,
        ["  SHA-256", sha256] as const,
      ]),
    ]),
    "",
    "The result of each row is in the output of --json.",
  ].join("\n");
}

function receiptText({ iss, environment, verification, evidence }: Receipt): string {
  const { id, entity_id, overall_result, results, created_at } = verification;
  const parts = results.map(({ check_type, status, reason, origin, details, evidence_uri }) => {
    const rests = evidence.find((each) => evidence_uri.endsWith(`/${each.id}`));
    return fieldLines([
      [check_type, [status, reason].filter(Boolean).join(", ")],
      ["  Source", origin],
      ["  Name", details?.name ?? details?.legal_name],
      ["  TIN", details?.tin],
      ["  Registration", details?.registration_status],
      ["  Expires", details?.expiration_date],
      [
        "  Exclusions",
        details?.exclusions?.map(({ program, effect }) => [program, effect].filter(Boolean).join(", ")).join("; "),
      ],
      ["  Data as of", details?.data_as_of],
      ["  Evidence", rests?.id ?? "was no longer kept"],
      ["  SHA-256", rests?.sha256],
      ...(rests?.sources ?? []).flatMap(({ part, origin, data_as_of, file, sha256 }) => [
        [`  ${part}`, [file ?? origin, data_as_of].join("  ")] as const,
        ["  SHA-256", sha256] as const,
      ]),
    ]);
  });
  return [
    ...heading(environment),
    fieldLines([
      ["Signed by", iss],
      ["Verification", id],
      ["Entity", entity_id],
      ["Verified", created_at],
      ["Result", overall_result],
    ]),
    ...parts.flatMap((part) => ["", part]),
  ].join("\n");
}
