import type { Verification } from "@vendor-verification/client";
import { checksOption, modeOption, readChecks, readMode } from "../checks.ts";
import { type Arguments, type Command, type Context, wholeNumber } from "../command.ts";
import { type ExitCode, exitCodes, UsageError } from "../exit-codes.ts";
import { identifierOptions, readIdentifiers } from "../identifiers.ts";
import { table } from "../output.ts";
import { verifyFile } from "./verify-file.ts";

const DEFAULT_PARALLEL = 8;
const MAX_PARALLEL = 32;

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
    parallel: {
      value: "N",
      does: `For a file: maximum number of calls at the same time, 1–${MAX_PARALLEL}. Default: ${DEFAULT_PARALLEL}.`,
    },
  },
  help: `
One vendor: exits with 0 for pass, 1 for fail, 5 if a check has no verdict because no provider answered.

A CSV or XLSX file: one row names the columns. They are recognized by the names that people use, such as UEI, Tax ID, EIN,
DUNS, CAGE Code, Vendor Name, and entity_id. A column vendor_number is saved as your own number of the vendor (external_id).
A row is refused if a value in it can't be right, such as a TIN that has lost its leading zeros. All columns are copied to the
results, TINs only with their last 4 digits. Added are verification_result (pass, fail, error, or refused with the reason in
verification_error), verification_id and more. Cells that a spreadsheet would run as formulas begin with an apostrophe.

Calls keep within the rate limit of the key. Equal rows are verified once. Progress is kept in OUT.progress: if the program
is stopped, run the same command again to continue; no row is verified twice within 24 hours.
Exits with 0 if all rows pass, 1 if one fails, else 5 if one has no verdict.

  vendor-verification verify --uei SANDBXACTVE1
  vendor-verification verify --tin 123456780 --name "Acme Tools LLC" --checks tin_match
  vendor-verification verify vendors.csv --out results.csv --checks sam_registration,tin_match`,
  async run(context, args) {
    const [file] = args.operands;
    const question = { checks: readChecks(args.text("checks")), mode: readMode(args.text("mode")) };
    if (file === undefined) return verifyOne(context, args, question);
    const single = ["entity", "name", ...Object.keys(identifierOptions)].find((name) => args.text(name) !== undefined);
    if (single) throw new UsageError(`--${single} can't be given together with a file.`);
    const parallel = wholeNumber(args.text("parallel") ?? String(DEFAULT_PARALLEL), "parallel", 1, MAX_PARALLEL);
    return verifyFile(context, { file, out: args.required("out"), parallel, ...question });
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
  const verification = await client().verify({ ...vendor, ...question }, { signal });
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
