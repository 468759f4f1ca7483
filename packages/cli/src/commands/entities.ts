import type { Entity } from "@vendor-verification/client";
import type { Command } from "../command.ts";
import { idempotencyOption } from "../idempotency.ts";
import { identifierOptions, readIdentifiers } from "../identifiers.ts";
import { limitOption, printList } from "../lists.ts";
import { fieldLines, table } from "../output.ts";
import { oneCall } from "./one-call.ts";

export const getEntity = oneCall({
  name: "entities get",
  summary: "Show an entity.",
  operands: ["ENT_ID"],
  help: "`lookup` finds the id.",
  call: (client, { operands }, options) => client.getEntity(operands[0]!, options),
  text: entityText,
});

export const listEntities: Command = {
  name: "entities list",
  summary: "List the entities that your organization created, newest first.",
  options: { ...limitOption, "external-id": { value: "ID", does: "Only those with this number of yours." } },
  help: "With --json one entity per line.",
  run: ({ client, output, signal }, args) =>
    printList(output, args, {
      read: (page) => client().allEntities({ ...page, external_id: args.text("external-id") }, { signal }),
      text: entitiesText,
    }),
};

const addressOptions = {
  line1: { value: "TEXT", does: "Address: street and number." },
  line2: { value: "TEXT", does: "Address: suite or floor." },
  city: { value: "CITY", does: "Address: city." },
  state: { value: "STATE", does: "Address: state, such as VA." },
  zip: { value: "ZIP", does: "Address: ZIP code." },
  country: { value: "COUNTRY", does: "Address: country. Default: US." },
};

export const createEntity = oneCall({
  name: "entities create",
  summary: "Create an entity that `lookup` does not find.",
  options: {
    name: { value: "NAME", does: "Legal name. Required." },
    ...identifierOptions,
    "external-id": { value: "ID", does: "Your own number of the vendor." },
    ...addressOptions,
    ...idempotencyOption,
  },
  help: `
\`verify\` creates the entity itself if a vendor has none.

  vendor-verification entities create --name "Acme Tools LLC" --tin 123456780 --external-id V-1001`,
  call: (client, args, options) => {
    const hasAddress = Object.keys(addressOptions).some((option) => args.text(option) !== undefined);
    const body = {
      legal_name: args.required("name"),
      identifiers: readIdentifiers(args),
      external_id: args.text("external-id"),
      address: hasAddress
        ? {
            line1: args.required("line1"),
            line2: args.text("line2"),
            city: args.required("city"),
            state: args.required("state"),
            zip: args.required("zip"),
            country: args.text("country") ?? "US",
          }
        : undefined,
    };
    return client.createEntity(body, options);
  },
  text: entityText,
});

/** Returns an entity with a line for each of its facts. */
export function entityText(entity: Entity): string {
  const { id, external_id, legal_name, identifiers, sam_gov, addresses, confidence, sources } = entity;
  const until = sam_gov.expiration_date && `until ${sam_gov.expiration_date}`;
  return fieldLines([
    ["Entity", id],
    ["Your number", external_id],
    ["Name", legal_name],
    ...Object.entries(identifiers).map(([type, value]) => [type.toUpperCase(), value] as const),
    ["SAM.gov", [sam_gov.registration_status, until].filter(Boolean).join(" ")],
    ...addresses.map(({ type, line1, line2, city, state, zip, country }) => {
      const parts = [line1, line2, city, `${state} ${zip}`.trim(), country];
      return [`Address (${type})`, parts.filter(Boolean).join(", ")] as const;
    }),
    ["Confidence", confidence],
    ["Sources", sources.map(({ name, retrieved_at }) => `${name} (${retrieved_at.slice(0, 10)})`).join(", ")],
  ]);
}

function entitiesText(entities: readonly Entity[]): string {
  const rows = entities.map(({ id, external_id = "", legal_name, identifiers, sam_gov }) => [
    id,
    external_id,
    String(identifiers.uei ?? ""),
    sam_gov.registration_status,
    legal_name,
  ]);
  return table(["Entity", "Your number", "UEI", "SAM.gov", "Name"], rows);
}
