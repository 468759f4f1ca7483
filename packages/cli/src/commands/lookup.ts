import type { Candidate, Entity } from "@vendor-verification/client";
import { ApiError } from "@vendor-verification/client";
import type { Command } from "../command.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { identifierOptions, readIdentifiers } from "../identifiers.ts";
import { table } from "../output.ts";

export const lookup: Command = {
  name: "lookup",
  summary: "Find a vendor by identifiers, name or address.",
  options: {
    ...identifierOptions,
    name: { type: "string", value: "NAME", does: "Legal name." },
    address: { type: "string", value: "ADDRESS", does: "Address in one line." },
    fuzzy: { type: "boolean", does: "Tolerate typing errors; returns candidates if it cannot decide." },
    explain: { type: "boolean", does: "With --json: also why each entity matches." },
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
      const { code, message, requestId, candidates } = error;
      output.error({ error: code, message, request_id: requestId, candidates }, message);
      if (candidates.length > 0) output.note(candidatesText(candidates));
      return exitCodes.negative;
    }
  },
};

function entityText({ id, legal_name, identifiers, sam_gov, addresses, confidence, sources }: Entity): string {
  const lines: [string, string][] = [
    ["Entity", id],
    ["Name", legal_name],
    ...Object.entries(identifiers).map(([type, value]): [string, string] => [type.toUpperCase(), String(value)]),
    [
      "SAM.gov",
      [sam_gov.registration_status, sam_gov.expiration_date && `until ${sam_gov.expiration_date}`]
        .filter(Boolean)
        .join(" "),
    ],
    ...addresses.map(({ type, line1, line2, city, state, zip, country }): [string, string] => [
      `Address (${type})`,
      [line1, line2, city, `${state} ${zip}`.trim(), country].filter(Boolean).join(", "),
    ]),
    ["Confidence", String(confidence)],
    ["Sources", sources.map(({ name, retrieved_at }) => `${name} (${retrieved_at.slice(0, 10)})`).join(", ")],
  ];
  const width = Math.max(...lines.map(([label]) => label.length));
  return lines.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join("\n");
}

function candidatesText(candidates: readonly Candidate[]): string {
  const rows = candidates.map(({ id, confidence, legal_name }) => [id, confidence.toFixed(2), legal_name]);
  return table(["Entity", "Confidence", "Name"], rows);
}
