import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { Address, Entity } from "@vvs/proto/entity/v1/entity";
import type { Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import { type Html, html } from "../http/html.ts";
import { pathWithQuery } from "../http/paths.ts";
import type { Visit } from "../http/session.ts";
import { frequencyName } from "../monitors/monitor-form.ts";
import { statusName } from "../ui/checks.ts";
import { listing } from "../ui/listing.ts";
import { facts, type Notice, noticeBox, state, time } from "../ui/parts.ts";
import { type History, historySection } from "./history.ts";
import { identifierList } from "./identifiers.ts";

interface EntityView {
  readonly visit: Visit;
  readonly entity: Entity;
  /** Undefined while unavailable. */
  readonly history: History | undefined;
  /** The newest verifications; undefined while unavailable. */
  readonly verifications: readonly Verification[] | undefined;
  /** The newest active monitors; undefined while unavailable. */
  readonly monitors: readonly Monitor[] | undefined;
  /** To name who changed the entity. */
  readonly keys: readonly ApiKey[];
  readonly notice: Notice | undefined;
}

export function entityPage(options: EntityView): Html {
  const { visit, entity, history, keys } = options;
  const { path } = visit.view;
  const status = entity.samGov?.registrationStatus;
  return html`<p class="path"><a href="${path}/entities">Entities</a></p>
<div class="heading"><h1>${entity.legalName}</h1> ${status && state(status)}</div>
${noticeBox(options.notice)}
<section class="card" aria-labelledby="about">
<h2 id="about" class="unseen">About this entity</h2>
${about(visit, entity)}
</section>
${verificationSection(options)}
${monitorSection(options)}
${historySection({ path: `${path}/entities/${entity.id}`, history, known: { session: visit.session, keys } })}`;
}

/** Shown in place of an entity while the entity service is unavailable. */
export const entityUnavailable = html`<p class="notice problem" role="alert">This entity can’t be shown: the entity service is temporarily unavailable. No data is lost. Try again in a moment.</p>`;

function about({ view, may }: Visit, entity: Entity): Html {
  const { samGov, addresses, sources, externalId } = entity;
  const change = `${view.path}/entities/${entity.id}/vendor-number`;
  return facts([
    ["Entity ID", html`<code>${entity.id}</code>`],
    ["Identifiers", identifierList(entity)],
    [
      "Your vendor number",
      html`${externalId ? html`<code>${externalId}</code>` : "none"}${may("verify") && html` <a href="${change}">Change<span class="unseen"> your vendor number</span></a>`}`,
    ],
    ["Registration", samGov && registration(samGov)],
    ["Entity type", samGov?.entityType],
    ...addresses.map((address) => [`${capitalized(address.type)} address`, addressText(address)] as const),
    [
      "Sources",
      html`<ul class="plain">${sources.map(({ name, version, retrievedAt }) => html`<li><code>${name}</code> ${version} <span class="hint">retrieved ${time(retrievedAt)}</span></li>`)}</ul>`,
    ],
  ]);
}

function registration({ registrationStatus, expirationDate }: NonNullable<Entity["samGov"]>): Html {
  return html`${registrationStatus} in SAM.gov${expirationDate && html`, until <time datetime="${expirationDate}">${expirationDate}</time>`}`;
}

function addressText({ line1, line2, city, state: region, zip, country }: Address): string {
  return [line1, line2, city, [region, zip].filter(Boolean).join(" "), country].filter(Boolean).join(", ");
}

function capitalized(text: string): string {
  return text === "" ? "" : `${text[0]!.toUpperCase()}${text.slice(1)}`;
}

function verificationSection({ visit: { view, may }, entity, verifications }: EntityView): Html {
  return html`<section aria-labelledby="verifications">
<div class="heading"><h2 id="verifications">Latest verifications</h2>
<p><a href="${view.path}/verifications?entity_id=${entity.id}">View all verifications of this entity</a></p></div>
${listing(verifications, {
  unavailable: html`<p class="notice warning">Verifications are temporarily unavailable. None are lost. Try again in a moment.</p>`,
  empty: html`<p class="empty">This entity has not been verified yet.${may("verify") && html` <a href="${view.path}/verifications/new">Run a verification</a>`}</p>`,
  list: (items) =>
    html`<ul class="plain">${items.map((each) => html`<li>${state(statusName(each.overallResult))} <a href="${view.path}/verifications/${each.id}">${time(each.createdAt, "second")}</a></li>`)}</ul>`,
})}
</section>`;
}

function monitorSection({ visit: { view, may }, entity, monitors }: EntityView): Html {
  const path = `${view.path}/monitors`;
  const filter = { entity_id: entity.id };
  return html`<section aria-labelledby="monitors">
<div class="heading"><h2 id="monitors">Monitors</h2>
<p class="actions"><a href="${pathWithQuery(path, filter)}">View all monitors of this entity</a>${may("manage_monitors") && html` <a href="${pathWithQuery(`${path}/new`, filter)}">Create a monitor</a>`}</p></div>
${listing(monitors, {
  unavailable: html`<p class="notice warning">Monitors are temporarily unavailable on this page. They keep running. Try again in a moment.</p>`,
  empty: "This entity has no monitor. A monitor sends changes to your webhook endpoint.",
  list: (items) =>
    html`<ul class="plain">${items.map((each) => html`<li>${each.lastRun ? state(statusName(each.lastRun.outcome)) : state("pending", "first run")} <a href="${path}/${each.id}"><code>${each.id}</code></a> <span class="hint">${frequencyName(each.frequency)}</span></li>`)}</ul>`,
})}
</section>`;
}
