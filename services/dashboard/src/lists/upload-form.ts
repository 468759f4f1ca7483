import { VendorFileError } from "@vvs/vendor-files";
import type { Response } from "express";
import { SANDBOX_UEI } from "../api-keys/first-call.ts";
import { type Html, html } from "../http/html.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { problemNotice } from "../ui/parts.ts";

/** Sends the form to which a list is given, with the reason if one was refused. */
export function sendUploadForm(
  { layout }: Pick<PageContext, "layout">,
  response: Response,
  visit: Visit,
  refused?: string,
): void {
  layout.sendPage(response, {
    ...{ visit, title: "Verify a list", parents: [["/lists", "Lists"]], content: uploadPage(visit), script: "file.js" },
    ...(refused !== undefined && { status: 400, notice: problemNotice(refused) }),
  });
}

/** Returns what to say of a list that can't be read. Other errors are thrown as they are. */
export function unreadableText(error: unknown): string {
  if (error instanceof VendorFileError) return error.message;
  throw error;
}

export function createUploadHandlers(context: PageContext) {
  return {
    async ask(_request, response, visit) {
      sendUploadForm(context, response, visit);
    },

    async sample(_request, response) {
      response.set("content-disposition", 'attachment; filename="sample-vendors.csv"').type("text/csv").send(SAMPLE);
    },
  } satisfies PageHandlers;
}

/** Vendors of the sandbox with each kind of answer. */
const SAMPLE = [
  "Vendor number,Vendor name,UEI,Address,City,State,ZIP",
  `V-1001,Sandbox Active Vendor LLC,${SANDBOX_UEI},,,,`,
  "V-1002,Sandbox Inactive Vendor Inc,SANDBXNACTV1,,,,",
  "V-1003,Sandbox Expired Vendor Corp,SANDBXEXPRD1,,,,",
  "V-1004,Sandbox Debarred Vendor LLC,SANDBXDEBAR1,,,,",
  "V-1005,Sandbox Provider Fallback Partners LLP,SANDBXFALLB1,,,,",
  "V-1006,Sandbox Changing Status Inc,SANDBXCHNGE1,,,,",
  "V-1007,Another Name LLC,SANDBXEXP40D,,,,",
  "V-1008,A Company That Nobody Knows,,12 Nowhere Rd,Reno,NV,89501",
  "V-1009,A Mistyped Number Inc,SANDBX-1,,,,",
  "",
].join("\r\n");

function uploadPage({ view }: Visit): Html {
  const sample = html`<a href="/test/lists/sample.csv" download>a sample list</a>`;
  return html`<form method="post" action="${view.path}/lists/preview" enctype="multipart/form-data" class="card" data-busy="Reading the list …">
  <p>Give the list as your accounting system exports it, or drop a file here. Its first row names the columns. One of these is enough: UEI, CAGE code, D-U-N-S number, TIN, or name and address.</p>
  <div class="field"><label for="file">File</label>
  <input id="file" name="file" type="file" accept=".csv,.tsv,.txt,.xlsx" aria-describedby="file-hint">
  <p class="hint" id="file-hint">CSV or Excel (.xlsx), up to 5 MB and 10,000 vendors. ${view.environment === "sandbox" ? html`Try it with ${sample}.` : html`Try it first in <a href="/test/lists/new">Test</a>, with ${sample}.`}</p></div>
  <div class="field"><label for="rows">Or paste rows from a spreadsheet</label>
  <textarea class="wide" id="rows" name="rows" rows="5" spellcheck="false" autocomplete="off" aria-describedby="rows-hint"></textarea>
  <p class="hint" id="rows-hint">Include the row with the names of the columns.</p></div>
  <p class="hint">Next you see how the list is read. Nothing is verified or stored before you say so.</p>
  <button>Preview</button>
</form>`;
}
