import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import type { MonitorProblems, TypedMonitor } from "../monitor-form.ts";
import { frequencyFields, urlField } from "./create-monitor.ts";
import { type Notice, noticeBox } from "./parts.ts";

export interface ChangeMonitorView {
  readonly view: EnvironmentView;
  readonly monitorId: string;
  readonly input: TypedMonitor;
  /** Undefined where it can't be had at the moment. */
  readonly vendor: Entity | undefined;
  readonly notice?: Notice;
  readonly problems?: MonitorProblems;
}

/** What of a monitor may be changed; for other checks or another entity there is another monitor. */
export function changeMonitorPage(options: ChangeMonitorView): Html {
  const { view, monitorId, vendor, notice, problems = {} } = options;
  const path = `${view.path}/monitors/${monitorId}`;
  const refused: Notice | undefined =
    Object.keys(problems).length > 0
      ? { kind: "problem", text: "Nothing was changed: see what is noted in the form." }
      : undefined;
  return html`<p class="path"><a href="${path}">${vendor?.legalName ?? "Monitor"}</a></p>
<h1>Change this monitor</h1>
${noticeBox(notice ?? refused)}
<form method="post" action="${path}/change" class="card">
  ${frequencyFields(options)}
  ${urlField(options)}
  <p class="hint">What changes are told from stays as it is. Webhooks that wait for another attempt still go where they were meant to.</p>
  <p class="choices"><button>Save</button> <a class="button quiet" href="${path}">Go back</a></p>
</form>`;
}
