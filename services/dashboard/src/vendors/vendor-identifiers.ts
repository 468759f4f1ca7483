import type { Entity } from "@vvs/proto/entity/v1/entity";
import { type Html, html } from "../http/html.ts";
import { copyableId, state } from "../ui/parts.ts";
import { isInRegistry } from "../verdicts/vendor-status.ts";
import { identifierLabels } from "../verifications/verification-form.ts";

/** Returns the known identifiers of a vendor with their labels. */
export function knownIdentifiers({ identifiers }: Pick<Entity, "identifiers">): { label: string; value: string }[] {
  return Object.entries(identifierLabels).flatMap(([type, label]) => {
    const value = identifiers[type];
    return value ? [{ label, value }] : [];
  });
}

/** Renders the known identifiers of a vendor as a list; undefined if there are none. */
export function identifierList(entity: Entity): Html | undefined {
  const known = knownIdentifiers(entity);
  if (known.length === 0) return undefined;
  return html`<ul class="plain">${known.map(({ label, value }) => html`<li>${label} ${value.startsWith("*") ? html`<code>${value}</code>` : copyableId(value)}</li>`)}</ul>`;
}

/** Renders how a source lists a vendor's registration, which is no answer of a check; undefined where none does. */
export function registrationState(entity: Entity): Html | undefined {
  const status = entity.samGov?.registrationStatus;
  if (!status || !isInRegistry(entity)) return undefined;
  return status === "active" ? state("listed", "listed as active") : state(status, `listed as ${status}`);
}
