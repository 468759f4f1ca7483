import { checkNames, toCheckType } from "@vvs/checks";
import { addJobRows } from "@vvs/jobs";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { openJobRows, type Plan } from "@vvs/tenant/plans";
import { VendorFileError } from "@vvs/vendor-files";
import type { Request, Response } from "express";
import { field, fieldValues } from "../http/form.ts";
import { formIdempotency } from "../http/form-token.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import { frequencies } from "../monitors/monitor-form.ts";
import { liveTinMatchHint } from "../page/live-tin-match.ts";
import type { PageContext } from "../page/page-context.ts";
import { invalid, type Refusal, type RefusalTexts, refusalOf } from "../ui/form-refusal.ts";
import { problemNotice } from "../ui/parts.ts";
import { type PreviewInput, previewPage } from "./preview-page.ts";
import { readUpload } from "./upload.ts";
import { sendUploadForm, unreadableText } from "./upload-form.ts";
import { readMapping, readVendorList, type VendorList } from "./vendor-list.ts";

const refusals: RefusalTexts = {
  sentBefore: "This form was already sent, so the list was not verified again. Find it among your lists.",
  unavailable:
    "The list may not have been started, because a service is temporarily unavailable. Look among your lists before you try again.",
  invalid: "Nothing was verified. Correct the marked fields and try again.",
  fields: {},
};

export function createPreviewHandlers(context: PageContext) {
  const { jobs, organization, layout } = context;

  async function sendPreview(
    response: Response,
    visit: Visit,
    { status, notice, ...shown }: Partial<Refusal> & { list: VendorList; bytes: Uint8Array; input?: PreviewInput },
  ): Promise<void> {
    const tinHint = await liveTinMatchHint(context, visit);
    const { input = firstInput(shown.list, tinHint === undefined) } = shown;
    const content = previewPage({ ...shown, input, visit, tinHint });
    const parents = [["/lists", "Lists"]] as const;
    layout.sendPage(response, { visit, title: "Preview of a list", parents, status, notice, content });
  }

  /** Stores the rows and starts their job. Returns its id. */
  async function start(
    request: Request,
    visit: Visit,
    { columns, rows }: VendorList,
    input: PreviewInput,
  ): Promise<string> {
    const { plan, activeMonitors, createdEntities } = await organization.getOrganization({ caller: visit.caller });
    const caller = { ...visit.caller, createdEntities };
    const jobId = await addJobRows(jobs, { caller, rows });
    const { frequency, checks } = input;
    const { job } = await jobs.startJob({
      ...{ caller, jobId, total: rows.length, columns: [...columns], mode: Mode.REALTIME },
      checks: checkNames.filter((name) => checks.includes(name)).map(toCheckType),
      monitor: frequency === "" ? undefined : { frequency, webhookUrl: "", activeLimit: activeMonitors },
      openRows: openJobRows[plan as Plan],
      idempotency: formIdempotency(visit, "lists", request),
    });
    return job!.id;
  }

  /** Errors: VendorFileError for a form without a list. */
  async function startList(request: Request, response: Response, visit: Visit): Promise<void> {
    const { bytes } = await readList(request, response);
    const { list, refused } = await readMapped(request, bytes, visit);
    const input = inputOf(request);
    const shown = { list, bytes, input };
    if (input.frequency !== "" && !visit.may("manage_monitors")) throw new ProblemError("not_permitted");
    if (refused !== undefined) {
      return sendPreview(response, visit, { ...shown, status: 400, notice: problemNotice(refused) });
    }
    const problems = { ...(input.checks.length === 0 && { checks: "Choose at least one check." }) };
    if (input.checks.length === 0 || list.good === 0) {
      return sendPreview(response, visit, { ...shown, ...invalid(problems, refusals) });
    }
    try {
      const id = await visit.forms.once(() => start(request, visit, list, input));
      response.redirect(303, `${visit.view.path}/lists/${id}`);
    } catch (error) {
      await sendPreview(response, visit, { ...shown, ...refusalOf(response, error, refusals) });
    }
  }

  return {
    async preview(request, response, visit) {
      try {
        const { bytes, isFirst } = await readList(request, response);
        const { list, refused } = await readMapped(request, bytes, visit);
        const notice = refused === undefined ? {} : { status: 400, notice: problemNotice(refused) };
        const input = isFirst ? {} : { input: inputOf(request) };
        await sendPreview(response, visit, { ...notice, list, bytes, ...input });
      } catch (error) {
        sendUploadForm(context, response, visit, unreadableText(error));
      }
    },

    async start(request, response, visit) {
      try {
        await startList(request, response, visit);
      } catch (error) {
        sendUploadForm(context, response, visit, unreadableText(error));
      }
    },
  } satisfies PageHandlers;
}

/** Reads the list of a form: a file, pasted rows, or what a preview sent back. Errors: VendorFileError for none, or two. */
async function readList(request: Request, response: Response): Promise<{ bytes: Uint8Array; isFirst: boolean }> {
  const file = await readUpload(request, response);
  const content = field(request, "content");
  if (content !== "") return { bytes: Buffer.from(content, "base64"), isFirst: false };
  const rows = field(request, "rows");
  const hasRows = rows.trim() !== "";
  if (file && hasRows) throw new VendorFileError("Choose a file or paste rows, not both.");
  if (!file && !hasRows) throw new VendorFileError("Choose a file, or paste rows.");
  // The first column may have no name, so what a row begins with stays.
  return { bytes: file ?? Buffer.from(rows), isFirst: true };
}

/** Reads a list with the fields that were chosen; where they do not fit, without them, and with the reason. */
async function readMapped(request: Request, bytes: Uint8Array, { view: { environment } }: Visit) {
  const mapping = readMapping(request);
  try {
    return { list: await readVendorList(bytes, { mapping, environment }) };
  } catch (error) {
    if (Object.keys(mapping).length === 0) throw error;
    const refused = unreadableText(error);
    return { list: await readVendorList(bytes, { mapping: {}, environment }), refused };
  }
}

/** Returns what a preview proposes: a list with TINs is to have them checked, where that is possible. */
function firstInput({ file: { columns } }: VendorList, canMatchTins: boolean): PreviewInput {
  const hasTins = columns.some(({ field: meaning }) => meaning === "tin");
  return { checks: ["sam_registration", ...(hasTins && canMatchTins ? ["tin_match"] : [])], frequency: "" };
}

function inputOf(request: Request): PreviewInput {
  const frequency = field(request, "frequency");
  return {
    checks: fieldValues(request, "checks").filter((name) => checkNames.some((known) => known === name)),
    frequency: Object.hasOwn(frequencies, frequency) ? frequency : "",
  };
}
