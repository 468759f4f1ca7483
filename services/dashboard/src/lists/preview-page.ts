import { maskTin } from "@vvs/identifiers";
import type { JobRow } from "@vvs/jobs";
import { type Column, fields, problemText } from "@vvs/vendor-files";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { frequencyOptions } from "../monitors/monitor-form.ts";
import { checksField, option, selectField } from "../ui/fields.ts";
import type { Refusal } from "../ui/form-refusal.ts";
import { card, formTokenField, section, stats } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import { counted, numberText } from "../ui/vocabulary.ts";
import { columnName, type VendorList } from "./vendor-list.ts";

/** What a preview asks for besides the fields of columns. */
export interface PreviewInput {
  readonly checks: readonly string[];
  /** Of the monitor that each vendor gets; empty: none. */
  readonly frequency: string;
}

const ROWS_SHOWN = 20;
const PROBLEMS_SHOWN = 50;

/** Renders how a list is read. The form holds the list itself, so that nothing is stored before it is started. */
export function previewPage(
  options: Pick<Partial<Refusal>, "problems"> & {
    readonly visit: Visit;
    readonly list: VendorList;
    readonly bytes: Uint8Array;
    readonly input: PreviewInput;
    readonly tinHint: Html | undefined;
  },
): Html {
  const { visit, list, bytes, input, problems = {} } = options;
  const { path } = visit.view;
  const bad = list.rows.length - list.good;
  return html`${card("counts", "Rows", "unseen")`${stats([
    ["Rows that can be verified", numberText(list.good)],
    ["Rows with problems", numberText(bad)],
    ["Repeated rows", list.repeated > 0 && numberText(list.repeated)],
  ])}`}
${problemList(list)}
<form method="post" action="${path}/lists" enctype="multipart/form-data" class="card" data-busy="Sending the list …">
  ${formTokenField(visit)}
  <input type="hidden" name="content" value="${Buffer.from(bytes).toString("base64")}">
  ${checksField(input.checks, options.tinHint, problems.checks)}
  ${visit.may("manage_monitors") && monitorField(input)}
  <p class="hint">${bad > 0 && "Rows with problems are left out, and reported with the results. "}${visit.view.environment === "live" && "This asks real providers. "}The list and its results are kept for 30 days, with TINs masked.</p>
  ${list.good > 0 && html`<p class="choices"><button>Verify ${counted(list.good, "row")}</button> <a class="button quiet" href="${path}/lists/new">Choose another list</a></p>`}
  <h2>Columns</h2>
  <p class="hint">Correct what a column means, and then update the preview. A column that is not used is left out.</p>
  <div class="columns">${list.file.columns.map((column) => columnField(column, list))}</div>
  <button class="quiet" formaction="${path}/lists/preview">Update the preview</button>
</form>
${section(
  "rows",
  list.rows.length > ROWS_SHOWN ? `The first ${ROWS_SHOWN} of ${numberText(list.rows.length)} rows` : "All rows",
)`
${table<JobRow>("list", list.rows.slice(0, ROWS_SHOWN), [
  ["Row", ({ row }) => String(row)],
  ["Name", ({ legalName }) => legalName, "long"],
  ["Identifiers", (row) => identifiersText(row), "long"],
  ["Address", ({ address }) => address, "long"],
  ["Your number", ({ externalId }) => externalId, "short"],
  [
    "Will be",
    ({ problems: own = [], sameAs }) =>
      own.length > 0 ? "left out" : sameAs ? `answered as row ${sameAs}` : "verified",
  ],
])}`}`;
}

function problemList({ problems, file: { notices } }: VendorList): Html {
  const more = problems.length - PROBLEMS_SHOWN;
  return html`${notices.length > 0 && html`<ul class="notice warning">${notices.map((notice) => html`<li>${problemText(notice)}</li>`)}</ul>`}
${
  problems.length > 0 &&
  card("problems", "Problems")`
<ul>${problems.slice(0, PROBLEMS_SHOWN).map((problem) => html`<li>${problemText(problem)}</li>`)}</ul>
${more > 0 && html`<p class="hint">And ${numberText(more)} more.</p>`}`
}`;
}

function columnField(column: Column, list: VendorList): Html {
  const { index, field = "" } = column;
  const row = list.rows.find(({ cells }) => cells[index]?.trim());
  const example = row?.cells[index]?.slice(0, 40);
  const options = [
    option("", field, "Not used"),
    ...Object.entries(fields).map(([value, text]) => option(value, field, text)),
  ];
  const label = list.columns[index] || `Column ${index + 1}`;
  return selectField({ name: columnName(index), label, options, ...(example && { hint: `Such as “${example}”` }) });
}

function monitorField({ frequency }: PreviewInput): Html {
  const options = [option("", frequency, "no"), ...frequencyOptions(frequency)];
  const hint = "A monitor repeats the checks and reports changes.";
  return selectField({ name: "frequency", label: "Monitor each vendor", options, hint });
}

function identifiersText({ entityId, identifiers }: JobRow): string {
  const { uei, cage, duns, tin } = identifiers ?? {};
  const named = { UEI: uei, "CAGE code": cage, "D-U-N-S": duns, TIN: tin && maskTin(tin), ID: entityId };
  return Object.entries(named)
    .flatMap(([name, value]) => (value ? `${name} ${value}` : []))
    .join(", ");
}
