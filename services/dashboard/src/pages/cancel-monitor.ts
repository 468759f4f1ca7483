import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";

export function cancelMonitorPage(options: {
  view: EnvironmentView;
  monitor: Monitor;
  /** Undefined where it can't be had at the moment. */
  vendor: Entity | undefined;
}): Html {
  const { view, monitor, vendor } = options;
  const path = `${view.path}/monitors/${monitor.id}`;
  const name = vendor?.legalName ?? monitor.entityId;
  if (monitor.status !== "active") {
    return html`<div class="card narrow"><h1>${name}</h1>
<p>This monitor is canceled already.</p>
<p><a class="button" href="${path}">Back to the monitor</a></p></div>`;
  }
  return html`<div class="card narrow"><h1>Stop watching ${name}?</h1>
<p>The ${view.name.toLowerCase()} monitor <code>${monitor.id}</code> runs no more, and changes of this vendor are not told any longer. What it found stays, and its deliveries go on and can be replayed. It can’t be started again; another one can be created.</p>
<form method="post" action="${path}/cancel" class="choices">
  <button class="danger">Cancel monitor</button>
  <a class="button quiet" href="${path}">Keep it</a>
</form></div>`;
}
