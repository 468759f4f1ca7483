import type { Address, Entity } from "@vvs/proto/entity/v1/entity";
import type { Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import { statusName } from "../checks.ts";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import { frequencyName } from "../monitor-form.ts";
import { identifierLabels } from "../verification-form.ts";
import { type History, historySection, type KnownActors } from "./history.ts";
import { facts, state, time } from "./parts.ts";

export function entityPage(options: {
  view: EnvironmentView;
  entity: Entity;
  /** Undefined where it can't be had at the moment. */
  history: History | undefined;
  /** The newest; undefined where they can't be had at the moment. */
  verifications: readonly Verification[] | undefined;
  /** The newest that are active; undefined where they can't be had at the moment. */
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

/** In the place of an entity while the service that has it is away. */
export function entityAwayPage(): Html {
  return html`<h1>Entity</h1>
<p class="notice problem" role="alert">This can’t be shown at the moment: the entity service is away. Nothing is lost. Try again in a moment.</p>`;
}

function about(entity: Entity): Html {
  const { identifiers, samGov, addresses, sources } = entity;
  const known = Object.entries(identifierLabels).filter(([type]) => identifiers[type]);
  return facts([
    ["Entity", html`<code>${entity.id}</code>`],
    [
      "Identifiers",
      known.length > 0 &&
        html`<ul class="plain">${known.map(([type, label]) => html`<li>${label} <code>${identifiers[type]}</code></li>`)}</ul>`,
    ],
    ["Registration", samGov && registration(samGov)],
    ["Kind", samGov?.entityType],
    ...addresses.map((address) => [`${capitalized(address.type)} address`, addressText(address)] as const),
    [
      "Sources",
      html`<ul class="plain">${sources.map(({ name, version, retrievedAt }) => html`<li><code>${name}</code> ${version} <span class="hint">taken ${time(retrievedAt)}</span></li>`)}</ul>`,
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
<div class="heading"><h2 id="verifications">Newest verifications</h2>
<p><a href="${view.path}/verifications?entity_id=${id}">All of this entity</a></p></div>
${!found && html`<p class="notice warning">They can’t be shown at the moment. They are not lost.</p>`}
${found?.length === 0 && html`<p class="empty">It has not been verified yet.${mayVerify && html` <a href="${view.path}/verifications/new">Run a verification</a>`}</p>`}
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
<p class="actions"><a href="${view.path}/monitors?${search}">All of this entity</a>${mayMonitor && html` <a href="${view.path}/monitors/new?${search}">Create a monitor</a>`}</p></div>
${!monitors && html`<p class="notice warning">They can’t be shown at the moment. They go on running.</p>`}
${monitors?.length === 0 && html`<p class="empty">Nobody watches it. A monitor tells your webhook when something changes.</p>`}
${
  monitors &&
  monitors.length > 0 &&
  html`<ul class="plain">${monitors.map((each) => html`<li>${each.lastRun ? state(statusName(each.lastRun.outcome)) : state("pending", "first run")} <a href="${view.path}/monitors/${each.id}"><code>${each.id}</code></a> <span class="hint">${frequencyName(each.frequency)}</span></li>`)}</ul>`
}
</section>`;
}
