import type { Address, Entity } from "@vvs/proto/entity/v1/entity";
import type { Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import { type Html, html } from "../http/html.ts";
import { frequencyName } from "../monitors/monitor-form.ts";
import { statusName } from "../ui/checks.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { facts, state, time } from "../ui/parts.ts";
import { identifierLabels } from "../verifications/verification-form.ts";
import { type History, historySection, type KnownActors } from "./history.ts";

export function entityPage(options: {
  view: EnvironmentView;
  entity: Entity;
  /** Undefined while unavailable. */
  history: History | undefined;
  /** The newest verifications; undefined while unavailable. */
  verifications: readonly Verification[] | undefined;
  /** The newest active monitors; undefined while unavailable. */
  monitors: readonly Monitor[] | undefined;
  mayMonitor: boolean;
  mayVerify: boolean;
  known: KnownActors;
}): Html {
  const { view, entity, history, known } = options;
  const status = entity.samGov?.registrationStatus;
  return html`<p class="path"><a href="${view.path}/entities">Entities</a></p>
<div class="heading"><h1>${entity.legalName}</h1> ${status && state(status)}</div>
<section class="card" aria-labelledby="about">
<h2 id="about" class="unseen">About this entity</h2>
${about(entity)}
</section>
${verificationSection(options)}
${monitorSection(options)}
${historySection({ view, entityId: entity.id, history, known })}`;
}

/** The content of an entity's page while the entity service is unavailable. */
export function entityUnavailablePage(): Html {
  return html`<h1>Entity</h1>
<p class="notice problem" role="alert">This entity can’t be shown: the entity service is temporarily unavailable. No data is lost. Try again in a moment.</p>`;
}

function about(entity: Entity): Html {
  const { identifiers, samGov, addresses, sources } = entity;
  const known = Object.entries(identifierLabels).filter(([type]) => identifiers[type]);
  return facts([
    ["Entity ID", html`<code>${entity.id}</code>`],
    [
      "Identifiers",
      known.length > 0 &&
        html`<ul class="plain">${known.map(([type, label]) => html`<li>${label} <code>${identifiers[type]}</code></li>`)}</ul>`,
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

function verificationSection(options: Parameters<typeof entityPage>[0]): Html {
  const { view, verifications: found, mayVerify } = options;
  const { id } = options.entity;
  return html`<section aria-labelledby="verifications">
<div class="heading"><h2 id="verifications">Latest verifications</h2>
<p><a href="${view.path}/verifications?entity_id=${id}">View all verifications of this entity</a></p></div>
${!found && html`<p class="notice warning">Verifications are temporarily unavailable. None are lost. Try again in a moment.</p>`}
${found?.length === 0 && html`<p class="empty">This entity has not been verified yet.${mayVerify && html` <a href="${view.path}/verifications/new">Run a verification</a>`}</p>`}
${
  found &&
  found.length > 0 &&
  html`<ul class="plain">${found.map((each) => html`<li>${state(statusName(each.overallResult))} <a href="${view.path}/verifications/${each.id}">${time(each.createdAt, "second")}</a></li>`)}</ul>`
}
</section>`;
}

function monitorSection({ view, entity, monitors, mayMonitor }: Parameters<typeof entityPage>[0]): Html {
  const search = new URLSearchParams({ entity_id: entity.id }).toString();
  return html`<section aria-labelledby="monitors">
<div class="heading"><h2 id="monitors">Monitors</h2>
<p class="actions"><a href="${view.path}/monitors?${search}">View all monitors of this entity</a>${mayMonitor && html` <a href="${view.path}/monitors/new?${search}">Create a monitor</a>`}</p></div>
${!monitors && html`<p class="notice warning">Monitors are temporarily unavailable on this page. They keep running. Try again in a moment.</p>`}
${monitors?.length === 0 && html`<p class="empty">This entity has no monitor. A monitor sends changes to your webhook endpoint.</p>`}
${
  monitors &&
  monitors.length > 0 &&
  html`<ul class="plain">${monitors.map((each) => html`<li>${each.lastRun ? state(statusName(each.lastRun.outcome)) : state("pending", "first run")} <a href="${view.path}/monitors/${each.id}"><code>${each.id}</code></a> <span class="hint">${frequencyName(each.frequency)}</span></li>`)}</ul>`
}
</section>`;
}
