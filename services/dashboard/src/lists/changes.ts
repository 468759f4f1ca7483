import { timestampDate } from "@bufbuild/protobuf/wkt";
import { readJobResults } from "@vvs/jobs";
import { type Job, type JobResult, JobStatus } from "@vvs/proto/verification/v1/jobs";
import { exactTime } from "@vvs/registration";
import { pathId, queryValue } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { option, selectField } from "../ui/fields.ts";
import { emptyNote } from "../ui/listing.ts";
import { noticeBox, problemNotice, section } from "../ui/parts.ts";
import { aside, none, table } from "../ui/table.ts";
import { counted, numberText } from "../ui/vocabulary.ts";
import { evidenceOf, vendorOf, whyOf } from "./list.ts";
import { decisionState } from "./words.ts";

/** Earlier lists that are offered. */
const MAX_EARLIER = 100;
const SHOWN = 500;

interface Change {
  readonly result: JobResult;
  /** The row of the same vendor, or else one that had its number. Undefined for a vendor that was not in the earlier list. */
  readonly before: JobResult | undefined;
}

/** What changed from one list to another. Rows with neither a number nor a vendor can't be found again. */
interface Comparison {
  readonly changes: readonly Change[];
  readonly same: number;
  readonly gone: number;
  readonly unnamed: number;
}

/** Creates the handler that compares a list with an earlier one. */
export function createChangesHandler({ jobs, layout }: PageContext): PageHandler {
  async function rowsOf({ caller }: Visit, { id: jobId }: Job): Promise<JobResult[]> {
    const rows: JobResult[] = [];
    for await (const row of await readJobResults(jobs, { caller, jobId })) rows.push(row);
    return rows;
  }

  return async (request, response, visit) => {
    const { caller } = visit;
    const { job } = await jobs.getJob({ caller, jobId: pathId(request, "job_id", "job") });
    const { id, createdAt } = job!;
    const { jobs: listed } = await jobs.listJobs({ caller, page: { limit: MAX_EARLIER, after: { id, createdAt } } });
    const earlier = listed.filter(({ status }) => status === JobStatus.COMPLETED);
    const since = queryValue(request, "since");
    const chosen =
      since === ""
        ? (earlier.find((each) => isAlike(each, job!)) ?? earlier[0])
        : earlier.find((each) => each.id === since);
    if (since !== "" && !chosen) throw new ProblemError("page_not_found");
    const comparison = chosen && compare(await rowsOf(visit, job!), await rowsOf(visit, chosen));
    const { path } = visit.view;
    const options = earlier.map((each) =>
      option(each.id, chosen?.id ?? "", `${atText(each)}, ${counted(each.total, "row")}`),
    );
    const content =
      chosen && comparison
        ? html`<form method="get" action="${path}/lists/${id}/changes" class="filters" data-applied>
  ${selectField({ name: "since", label: "Since the list of", options })}
  <button class="quiet">Compare</button>
</form>
${comparisonOf(comparison, chosen, path)}`
        : emptyNote("There is no earlier list. Results are kept for 30 days.");
    const parents = [[`/lists/${id}`, `List of ${counted(job!.total, "row")}`]] as const;
    layout.sendPage(response, { visit, title: "What changed", parents, content, script: "filter.js" });
  };
}

/** Finds vendors by their numbers where both lists have some, and else as the same vendors. */
function compare(rows: readonly JobResult[], earlier: readonly JobResult[]): Comparison {
  const haveNumbers = [rows, earlier].every((list) => list.some(({ externalId }) => externalId !== ""));
  const keyOf = ({ externalId, entityId }: JobResult) =>
    haveNumbers && externalId !== "" ? `number ${externalId}` : entityId;
  const known = Map.groupBy(earlier.filter(keyOf), keyOf);
  const named = rows.filter(keyOf);
  const found = named
    .map((result) => ({ result, before: takeSame(known.get(keyOf(result)) ?? [], result) }))
    // Only now is it known which numbers are left for vendors that did not have them.
    .map(({ result, before }) => ({ result, before: before ?? known.get(keyOf(result))?.shift() }));
  const changes = found.filter(({ result, before }) => !before || standingOf(before) !== standingOf(result));
  const same = found.length - changes.length;
  return { changes, same, unnamed: rows.length - named.length, gone: [...known.values()].flat().length };
}

/** Removes the row of the same vendor from the earlier rows with the key of a row, and returns it. */
function takeSame(known: JobResult[], { entityId }: JobResult): JobResult | undefined {
  const place = known.findIndex((each) => each.entityId === entityId);
  return place < 0 ? undefined : known.splice(place, 1)[0];
}

/** Returns what counts as a change. */
function standingOf({ outcome, decision, doubts, nameAgrees, entityId, legalName, verification }: JobResult): string {
  const answers = verification?.results
    .map(({ checkType, reason, details }) => `${checkType} ${reason} ${details?.expirationDate ?? ""}`)
    .toSorted();
  return JSON.stringify([outcome, decision, doubts, nameAgrees, entityId, legalName, answers]);
}

/** Returns whether two lists are likely of the same vendors: the same checks, and neither has more than twice the other's rows. */
function isAlike(one: Job, other: Job): boolean {
  const checksOf = ({ checks }: Job) => checks.toSorted().join();
  const isNear = one.total <= 2 * other.total && other.total <= 2 * one.total;
  return isNear && checksOf(one) === checksOf(other);
}

const atText = ({ createdAt }: Job): string => exactTime(timestampDate(createdAt!));

function comparisonOf({ changes, same, gone, unnamed }: Comparison, earlier: Job, path: string): Html {
  const hasCommon = same > 0 || gone === 0 || changes.some(({ before }) => before);
  const notes = [
    `As before: ${numberText(same)}.`,
    gone > 0 && `Only in the earlier list: ${numberText(gone)}.`,
    unnamed > 0 && `Not compared, because they have no vendor number and no vendor: ${counted(unnamed, "row")}.`,
    changes.length > SHOWN && `The first ${SHOWN} of ${numberText(changes.length)} changes are shown.`,
  ].filter(Boolean);
  return section("changes", counted(changes.length, "change"))`
${!hasCommon && noticeBox(problemNotice("The two lists have no vendor in common. Choose another list above."))}
<p>Since <a href="${path}/lists/${earlier.id}">the list of ${counted(earlier.total, "row")} of ${atText(earlier)}</a>. ${notes.join(" ")}</p>
${
  changes.length > 0 &&
  table<Change>("list", changes.slice(0, SHOWN), [
    [
      "Vendor",
      ({ result, before }) =>
        html`${vendorOf(result, path)}${aside(result.externalId)}${before && before.legalName !== result.legalName && aside(`before: ${before.legalName || "no name"}`)}`,
      "long",
    ],
    ["Before", ({ before }) => (before ? decisionState(before) : none("not in the list"))],
    ["Now", ({ result }) => decisionState(result)],
    ["Why before", ({ before }) => before && whyOf(before, path), "long"],
    ["Why now", ({ result }) => whyOf(result, path), "long"],
    ["Evidence", ({ result }) => evidenceOf(result, path)],
  ])
}`;
}
