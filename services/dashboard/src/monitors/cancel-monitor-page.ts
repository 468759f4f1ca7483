import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { Monitor } from "@vvs/proto/monitor/v1/monitor";
import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";

export function cancelMonitorPage(options: {
  view: EnvironmentView;
  monitor: Monitor;
  /** Undefined while unavailable. */
  vendor: Entity | undefined;
}): Html {
  const { view, monitor, vendor } = options;
  const path = `${view.path}/monitors/${monitor.id}`;
  const name = vendor?.legalName ?? monitor.entityId;
  if (monitor.status !== "active") {
    return html`<div class="card narrow"><h1>${name}</h1>
<p>This monitor is already canceled.</p>
<p><a class="button" href="${path}">Go back to the monitor</a></p></div>`;
  }
  return html`<div class="card narrow"><h1>Cancel the monitor of ${name}?</h1>
<p>The ${view.name.toLowerCase()} monitor <code>${monitor.id}</code> will stop running and report no more changes. Changes that it already found are kept, and their deliveries continue and can be replayed. You can’t restart it, but you can create a new monitor.</p>
<form method="post" action="${path}/cancel" class="choices">
  <button class="danger">Cancel monitor</button>
  <a class="button quiet" href="${path}">Keep monitor</a>
</form></div>`;
}
