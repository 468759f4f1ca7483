import type { Verification } from "@vendor-verification/client";
import { checksOption, modeOption, readChecks, readMode } from "../checks.ts";
import { type Arguments, type Command, type Context, oneOf } from "../command.ts";
import { type ExitCode, exitCodes, UsageError } from "../exit-codes.ts";
import { idempotencyOption } from "../idempotency.ts";
import { identifierOptions, readIdentifiers } from "../identifiers.ts";
import { table } from "../output.ts";
import { frequencies } from "./monitors.ts";
import { verifyFile } from "./verify-file.ts";

export const verify: Command = {
  name: "verify",
  summary: "Verify a vendor, or every vendor of a CSV or XLSX file.",
  optionalOperand: "FILE",
  options: {
    entity: { value: "ENT_ID", does: "The vendor's entity, instead of identifiers." },
    ...identifierOptions,
    name: { value: "NAME", does: "Legal name, for tin_match and for a new entity." },
    checks: checksOption,
    mode: modeOption,
    out: { value: "FILE", does: "For a file: where the results go, as CSV. It must not exist yet." },
    monitor: { value: "FREQUENCY", does: `For a file: also monitor each vendor ${frequencies.join(", ")}.` },
    job: {
      value: "JOB",
      does: "For a file: continue the job that was started with it. As it was printed, or only its id.",
    },
    "no-wait": {
      does: "For a file: start the job and print the command for its results; with --job, write the results that it has by now.",
    },
    ...idempotencyOption,
  },
  help: `
One vendor: exits with 0 for pass, 1 for fail, 5 if a check has no verdict because no provider answered.

A CSV or XLSX file of up to 10,000 vendors: one row names the columns. They are recognized by the names that people use, such
as UEI, Tax ID, EIN, DUNS, CAGE Code, Vendor Name, Vendor Number, Address, and entity_id. A vendor with a name only is looked up.
Rows with a value that can't be right, such as a TIN that has lost its leading zeros, are reported before anything is sent; the
others are verified by the service as one job. If this program is stopped, the job goes on: it prints the command for the results.

The results have all rows and columns of the file, TINs only with their last 4 digits. Added are outcome, decision (pay, hold,
review), registry_name, asked_tin, asked_name, expires_on, reasons and evidence. Cells that a spreadsheet would run as formulas
begin with an apostrophe. While no provider answers, a row waits for up to 24 hours: --job with --no-wait writes what there is.
Exits with 0 if all rows are pay, 1 if one is hold, else 5.

  vendor-verification verify --uei SANDBXACTVE1
  vendor-verification verify --tin 123456780 --name "Acme Tools LLC" --checks tin_match
  vendor-verification verify vendors.csv --out results.csv --checks sam_registration,tin_match
  vendor-verification verify vendors.csv --out results.csv --job job_…`,
  async run(context, args) {
    const [file] = args.operands;
    const refuse = (names: readonly string[], reason: string) => {
      const given = names.find((name) => args.text(name) !== undefined);
      if (given) throw new UsageError(`--${given} can't be given ${reason}.`);
    };
    const question = { checks: readChecks(args.text("checks")), mode: readMode(args.text("mode")) };
    if (file === undefined) {
      refuse(["out", "monitor", "job"], "without a file");
      return verifyOne(context, args, question);
    }
    refuse(["entity", "name", ...Object.keys(identifierOptions)], "together with a file");
    const waits = !args.flag("no-wait");
    const job = args.text("job");
    if (job !== undefined) {
      refuse(["checks", "mode", "monitor", "idempotency-key"], "together with --job, which was started with its own");
      return verifyFile(context, { file, out: args.required("out"), job, waits });
    }
    const frequency = args.text("monitor");
    const monitor = frequency === undefined ? undefined : { frequency: oneOf(frequency, "monitor", frequencies) };
    const out = waits ? args.required("out") : args.text("out");
    const idempotencyKey = args.text("idempotency-key");
    return verifyFile(context, { file, out, job: { ...question, monitor }, idempotencyKey, waits });
  },
};

async function verifyOne(
  { client, output, signal }: Context,
  args: Arguments,
  question: { checks: ReturnType<typeof readChecks>; mode: ReturnType<typeof readMode> },
): Promise<ExitCode> {
  const entityId = args.text("entity");
  const identifiers = readIdentifiers(args);
  if ((entityId === undefined) === (identifiers === undefined)) {
    throw new UsageError("Give --entity, or one or more of --uei, --tin, --duns and --cage, or a file.");
  }
  const vendor =
    entityId === undefined ? { identifiers: identifiers!, legal_name: args.text("name") } : { entity_id: entityId };
  const verification = await client().verify(
    { ...vendor, ...question },
    { signal, idempotencyKey: args.text("idempotency-key") },
  );
  output.result(verification, () => verificationText(verification));
  const known: Record<string, ExitCode> = { pass: exitCodes.ok, fail: exitCodes.negative };
  return known[verification.overall_result] ?? exitCodes.undecided;
}

function verificationText({ id, entity_id, overall_result, results }: Verification): string {
  const rows = results.map(({ check_type, status, reason = "", details, origin, evidence_uri }) => [
    check_type,
    status,
    // The reason of a failed registration can be its status.
    [...new Set([reason, details?.registration_status, details?.expiration_date && `until ${details.expiration_date}`])]
      .filter(Boolean)
      .join(", "),
    origin,
    evidence_uri,
  ]);
  const header = ["Check", "Result", "Because", "Source", "Evidence"];
  return `${overall_result.toUpperCase()}  ${id}  ${entity_id}\n${table(header, rows)}`;
}
