import { html } from "../http/html.ts";
import { permissionHint } from "../http/roles.ts";
import { byTime, listPage } from "../page/list-page.ts";
import type { PageContext } from "../page/page-context.ts";
import { checkTitle, timeAgo } from "../ui/parts.ts";
import { counted, numberText } from "../ui/vocabulary.ts";
import { decisionCounts, progress } from "./words.ts";

/** Creates the page of the lists that were verified, newest first. */
export const createListOfLists = (context: PageContext) =>
  listPage(context, {
    path: "/lists",
    noun: "lists",
    fields: {},
    positions: byTime("job"),
    limit: 25,
    async read({ caller }, _filter, page) {
      const { jobs, next } = await context.jobs.listJobs({ caller, page });
      return { rows: jobs, next };
    },
    columns: ({ visit: { view, now } }) => [
      [
        "List",
        ({ id, total, createdAt }) =>
          html`<a href="${view.path}/lists/${id}">${counted(total, "row")}, ${timeAgo(createdAt, now)}</a>`,
      ],
      ["Progress", progress],
      ["Pay", (job) => numberText(decisionCounts(job).pay), "number"],
      ["Hold", (job) => numberText(decisionCounts(job).hold), "number"],
      ["Review", (job) => numberText(decisionCounts(job).review), "number"],
      ["Checks", ({ checks }) => checks.map(checkTitle).join(", "), "short"],
    ],
    actions: ({ view, may }) =>
      may("verify") && html`<p><a class="button" href="${view.path}/lists/new">Verify a list</a></p>`,
    meanwhile: "They keep running.",
    empty: ({ view, may }) =>
      may("verify")
        ? html`<p class="empty">No lists yet. <a href="${view.path}/lists/new">Verify a list</a> of vendors from a file, or call <code>POST /v1/jobs</code>.</p>`
        : html`<p class="empty">No lists yet.</p>${permissionHint(view, "verify", "verify lists")}`,
    curl: () => ["listJobs", "List jobs", { path: "/v1/jobs" }],
  });
