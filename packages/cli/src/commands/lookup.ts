import type { Candidate } from "@vendor-verification/client";
import { ApiError } from "@vendor-verification/client";
import type { Command } from "../command.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { identifierOptions, readIdentifiers } from "../identifiers.ts";
import { table } from "../output.ts";
import { entityText } from "./entities.ts";

export const lookup: Command = {
  name: "lookup",
  summary: "Find a vendor by identifiers, name or address.",
  options: {
    ...identifierOptions,
    name: { value: "NAME", does: "Legal name." },
    address: { value: "ADDRESS", does: "Address in one line." },
    fuzzy: { does: "Tolerate typing errors; returns candidates if it cannot decide." },
    explain: { does: "With --json: also why each entity matches." },
  },
  help: `
Nothing is created. Exits with 0 if one entity was found, with 1 if there is none or there are several candidates.

  vendor-verification lookup --uei SANDBXACTVE1
  vendor-verification lookup --name "Acme Tools" --fuzzy`,
  async run({ client, output, signal }, args) {
    const body = {
      identifiers: readIdentifiers(args),
      legal_name: args.text("name"),
      address: args.text("address"),
      mode: args.flag("fuzzy") ? ("fuzzy" as const) : ("exact" as const),
    };
    if (!body.identifiers && body.legal_name === undefined && body.address === undefined) {
      throw new UsageError("Give an identifier, --name or --address. See vendor-verification lookup --help.");
    }
    try {
      const found = await client().lookup(body, { signal, explain: args.flag("explain") || undefined });
      output.result(found, () => ("candidates" in found ? candidatesText(found.candidates) : entityText(found)));
      return "candidates" in found ? exitCodes.negative : exitCodes.ok;
    } catch (error) {
      if (!(error instanceof ApiError) || !["entity_not_found", "ambiguous_match"].includes(error.code)) throw error;
      output.error(error);
      return exitCodes.negative;
    }
  },
};

function candidatesText(candidates: readonly Candidate[]): string {
  const rows = candidates.map(({ id, confidence, legal_name }) => [id, confidence.toFixed(2), legal_name]);
  return table(["Entity", "Confidence", "Name"], rows);
}
