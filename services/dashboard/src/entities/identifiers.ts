import type { Entity } from "@vvs/proto/entity/v1/entity";
import { type Html, html } from "../http/html.ts";
import { identifierLabels } from "../verifications/verification-form.ts";

/** Returns the known identifiers of an entity with their labels. */
export function knownIdentifiers({ identifiers }: Pick<Entity, "identifiers">): { label: string; value: string }[] {
  return Object.entries(identifierLabels).flatMap(([type, label]) => {
    const value = identifiers[type];
    return value ? [{ label, value }] : [];
  });
}

/** Renders the known identifiers of an entity as a list; undefined if there are none. */
export function identifierList(entity: Entity): Html | undefined {
  const known = knownIdentifiers(entity);
  if (known.length === 0) return undefined;
  return html`<ul class="plain">${known.map(({ label, value }) => html`<li>${label} <code>${value}</code></li>`)}</ul>`;
}
