import { html } from "@vvs/http/html";
import { openJobRows } from "@vvs/tenant/plans";
import { codeBlock } from "./code.ts";
import { program } from "./programs.ts";
import { table } from "./table.ts";

const cli = `printf 'Vendor Number,Vendor Name,UEI\\nV-1,,SANDBXACTVE1\\nV-2,,SANDBXFALLB1\\n' > list.csv
vendor-verification verify list.csv --out decisions.csv --monitor weekly`;

/** How a whole list of vendors is verified. */
export const manyVendors = html`<p>A <a href="#createJob">job</a> verifies up to 10,000 vendors in the background, so one call replaces a program that makes 10,000. It does not delay your other calls.</p>
<ul>
<li><strong>Time.</strong> On a server with two processors, 10,000 vendors that SAM.gov’s files answer took 27 s, and the first 100 results were there after 0.6 s. A vendor that a provider must be asked about takes longer, as long as the provider’s quota makes it wait.</li>
<li><strong>Limits.</strong> A job counts as one request, however many vendors it has. It takes up to 10,000 vendors in a body of up to 5 MB. With the Starter plan, up to ${openJobRows.starter.toLocaleString("en-US")} rows of your organization may be waiting for their last answer; with the other plans, up to ${openJobRows.growth.toLocaleString("en-US")}. A job that would exceed this is refused with <a href="#error-too_many_rows"><code>too_many_rows</code></a>. Split a longer list, and start one job after the other.</li>
</ul>
<ol>
<li><strong>Prepare the list.</strong> Give each vendor your own number as <code>external_id</code>, the UEI where you know it, and the name. For <code>tin_match</code> it needs the TIN and the name. A vendor with a name and address only is looked up; where the match is not certain (confidence below 0.95), it is <code>ambiguous</code> and not verified.</li>
<li><strong>Start the job</strong> with an <code>Idempotency-Key</code>, and store its id. A row that can’t be read is <code>invalid</code> and stops no other one; with <code>"on_invalid": "refuse"</code> nothing begins until the whole list is right.</li>
<li><strong>Wait.</strong> Look at the <a href="#getJob">job</a> every few seconds: <code>done</code> of <code>total</code> rows have their last answer. Rows that no source can answer now are <code>waiting</code> and asked again for 24 h; the <a href="#listJobResults">results</a> of the others are there already. They come in the order given, which is not the order in which rows are completed: read all pages again once the job is <code>completed</code>. A CSV of an earlier time has fewer rows; its <code>X-Job-Status</code> says so. <code>row</code> is the place in your list, 1 for the first vendor. Lists that were uploaded in the dashboard are jobs too: with <code>file_rows</code> in the job, <code>row</code> is the number of the row in the file.</li>
<li><strong>Decide</strong> by the <code>decision</code> of each row:</li>
</ol>
${table(
  ["decision", "What to do"],
  [
    [
      "`pay`",
      "Every check passed, the name agrees, no exclusion is in force, and none without a UEI and a CAGE bears the vendor’s name.",
    ],
    ["`hold`", "A check failed. Its [reason](#reasons) says what to do."],
    [
      "`review`",
      "A person decides. The row’s `doubts` say why: for example, the name differs, or a check has no answer. Without them it was not verified: no vendor matches for certain, or its `problems` say why.",
    ],
  ],
)}
<p>Store the id of each verification with the decision: the results are kept for 30 days, verifications with their evidence as long as any. With <code>monitor</code> the job also monitors each vendor that it finds, and events carry your number.</p>
<p>The <a href="#command-line">command line</a> does all this with a CSV or XLSX file, and returns each row with its columns. It tells which rows can’t be right before it sends anything. If it is stopped, the job goes on: it prints the command that fetches the results.</p>
${codeBlock("many-vendors-cli", "Command line", cli)}
<p>The same by calls:</p>
${codeBlock("many-vendors-curl", "Shell", program("many-vendors.sh"))}`;
