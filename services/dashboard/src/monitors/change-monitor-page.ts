import type { Entity } from "@vvs/proto/entity/v1/entity";
import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { type Notice, noticeBox } from "../ui/parts.ts";
import { frequencyFields, urlField } from "./create-monitor-page.ts";
import type { MonitorProblems, TypedMonitor } from "./monitor-form.ts";

export interface ChangeMonitorView {
  readonly view: EnvironmentView;
  readonly monitorId: string;
  readonly input: TypedMonitor;
  /** Undefined while unavailable. */
  readonly vendor: Entity | undefined;
  readonly notice?: Notice;
  readonly problems?: MonitorProblems;
}

/** The page to change a monitor's frequency and webhook URL. Its checks and entity can't change. */
export function changeMonitorPage(options: ChangeMonitorView): Html {
  const { view, monitorId, vendor, notice, problems = {} } = options;
  const path = `${view.path}/monitors/${monitorId}`;
  const refused: Notice | undefined =
    Object.keys(problems).length > 0
      ? { kind: "problem", text: "Nothing was changed. Correct the marked fields and try again." }
      : undefined;
  return html`<p class="path"><a href="${path}">${vendor?.legalName ?? "Monitor"}</a></p>
<h1>Change this monitor</h1>
${noticeBox(notice ?? refused)}
<form method="post" action="${path}/change" class="card">
  ${frequencyFields(options)}
  ${urlField(options)}
  <p class="hint">Later runs are still compared with the last one. Events that wait for another attempt go to the new URL; without one, they are not sent.</p>
  <p class="choices"><button>Save</button> <a class="button quiet" href="${path}">Go back</a></p>
</form>`;
}
