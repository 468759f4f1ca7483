import { answer, type Call, type FakeApi, refuse, startApi } from "./fake-api.ts";

const JOB_ID = "job_1";

/** Returns the result of a vendor by the last letter of its UEI: P pay, F hold, W waiting, anything else review. */
function resultOf({ external_id, identifiers, legal_name }: Call["body"], index: number, number = index + 1): object {
  const uei: string = identifiers?.uei ?? "";
  const row = { row: number, external_id };
  if (uei.endsWith("W")) return { ...row, outcome: "waiting", decision: "review" };
  if (!/[PF]$/.test(uei)) {
    const candidates = [{ id: "ent_9", legal_name: "Acme Two", confidence: 0.7 }];
    return { ...row, outcome: "ambiguous", decision: "review", candidates };
  }
  const [outcome, decision] = uei.endsWith("P") ? ["pass", "pay"] : ["fail", "hold"];
  const sam = {
    check_type: "sam_registration",
    status: outcome,
    ...(outcome === "fail" && { reason: "expired" }),
    evidence_uri: `http://api.example/v1/evidence/evd_${index}`,
    details: { legal_name: "ACME INC", expiration_date: "2099-03-31", tin: "****6780", name: legal_name },
  };
  const doubts = outcome === "fail" ? ["other_name"] : undefined;
  return { ...row, outcome, decision, doubts, verification: { id: "ver_1", results: [sam] } };
}

/**
 * Starts an API with one job, as the service keeps it for one key. Each look at the job completes another vendor, until
 * `stopsAfter` looks. The first start is answered with 503 if `losesStart`, though it takes effect. Vendors are answered by `resultOf`, in pages of two. With `fileRows`, the job is a list of the dashboard with
 * these row numbers.
 */
export async function startJobApi(
  options: {
    stopsAfter?: number;
    losesStart?: boolean;
    onLook?: (looks: number) => void;
    refusal?: [number, string];
    fileRows?: number[];
  } = {},
): Promise<FakeApi & { readonly vendors: () => Call["body"][] }> {
  let vendors: Call["body"][] = [];
  let looks = 0;
  const done = () => Math.min(looks, options.stopsAfter ?? looks, vendors.length);
  const job = () => ({
    id: JOB_ID,
    status: "running",
    total: vendors.length,
    file_rows: options.fileRows !== undefined,
    done: done(),
    counts: { pass: done(), waiting: 0 },
    ...(done() === vendors.length && { completed_at: "2026-11-21T09:30:00.000Z" }),
  });
  const api = await startApi((call, response) => {
    const url = new URL(call.path, "http://api.example");
    if (options.refusal && url.pathname !== "/v1/jobs") return refuse(response, ...options.refusal);
    if (call.method === "POST") {
      ({ vendors } = call.body);
      if (options.losesStart && api.calls.length === 1) {
        return refuse(response, 503, "service_unavailable", { headers: { "Retry-After": "3600" } });
      }
      return answer(response, 202, job());
    }
    if (url.pathname === `/v1/jobs/${JOB_ID}`) {
      looks++;
      options.onLook?.(looks);
      return answer(response, 200, job());
    }
    const from = Number(url.searchParams.get("cursor"));
    const results = vendors.slice(0, done()).map((vendor, index) => resultOf(vendor, index, options.fileRows?.[index]));
    const next_cursor = from + 2 < results.length ? String(from + 2) : null;
    answer(response, 200, { results: results.slice(from, from + 2), next_cursor });
  });
  return Object.assign(api, { vendors: () => vendors });
}
