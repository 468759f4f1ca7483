import { beforeEach, describe, expect, test } from "@jest/globals";
import { Decision, JobStatus, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { workbook } from "@vvs/vendor-files/testing";
import { dashboardPerTest, ORIGIN, type Page } from "../testing/dashboard.ts";
import { ENTITY_ID } from "../testing/fake-entity.ts";
import { JOB_ID, jobOf, jobResultOf } from "../testing/fake-jobs.ts";
import { VERIFICATION_ID, verificationOf } from "../testing/fake-verification.ts";

const TIN = "912345678";
const FILE = `Vendor,UEI,Tax ID,Vendor No\nAcme,SANDBXACTVE1,${TIN},V-1\nBad,SANDBX,,V-2\nAcme,SANDBXACTVE1,${TIN},V-3\n`;

const { dashboard, visitor } = dashboardPerTest();

/** Returns a small XLSX file with 5.1 million characters. */
function longWorkbook(): Buffer {
  const cell = (place: string, text: string) => `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`;
  const row = (number: number) => `<row r="${number}">${cell(`B${number}`, "x".repeat(30_000))}</row>`;
  const rows = Array.from({ length: 170 }, (_, index) => row(index + 2));
  return workbook(`<row r="1">${cell("A1", "UEI")}${cell("B1", "Note")}</row>${rows.join("")}`);
}

type Fields = Readonly<Record<string, string | Blob>>;

const send = (path: string, fields: Fields) => {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return visitor.request(path, { method: "POST", body, headers: { origin: ORIGIN } });
};

/** What a browser sends where no file was chosen. */
const noFile = () => new File([], "");

const preview = (fields: Fields, view = "test") => send(`/${view}/lists/preview`, fields);
const upload = (text: string) => preview({ file: new Blob([text]), rows: "" });

/** Returns the fields of the form of a preview as a browser sends them. */
function fieldsOf({ text }: Page): Record<string, string> {
  const hidden = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  const selects = [...text.matchAll(/<select id="(\w+)".*?<\/select>/gs)].map(([select, name]) => {
    return [name!, /value="(\w*)" selected/.exec(select)?.[1] ?? ""] as const;
  });
  return Object.fromEntries([...hidden.map(([, name, value]) => [name!, value!] as const), ...selects]);
}

describe("the preview of a list", () => {
  test("says how columns are read and what is wrong, shows no TIN, and neither verifies nor stores anything", async () => {
    const page = await upload(FILE);
    expect(page.status).toBe(200);
    expect(page.text).toContain("Verify 2 rows");
    expect(page.text).toContain("Row 3, &quot;UEI&quot; must be 12 letters and digits");
    expect(page.text).toContain("answered as row 2");
    expect(page.text).toContain('value="tin_match" checked');
    expect(fieldsOf(page)).toMatchObject({ column_0: "legal_name", column_1: "uei", column_2: "tin" });
    expect(page.text).toContain("****5678");
    expect(page.text).not.toContain(TIN);
    expect(dashboard.state.calls).toEqual([]);
  });

  test("takes pasted rows, and reads columns as they are corrected", async () => {
    const first = await preview({ file: noFile(), rows: "Number\tCode\r\nV-1\tSANDBXACTVE1\r\n" });
    expect(first.text).toContain("names no column by which a vendor can be found");
    const corrected = { ...fieldsOf(first), column_0: "external_id", column_1: "uei" };
    const second = await preview(corrected);
    expect(second.text).toContain("Verify 1 row<");
    expect(second.text).toContain("UEI SANDBXACTVE1");
    const twice = await preview({ ...corrected, column_0: "uei" });
    expect(twice.status).toBe(400);
    expect(twice.text).toContain("Two columns are chosen as UEI.");
  });

  test("shows no TIN of a column that is not known as one", async () => {
    const page = await upload(`Vendor,Code\nAcme,91-2345678\n`);
    expect(page.text).not.toContain("2345678");
  });

  test.each([
    ["nothing", { file: noFile(), rows: " " }, "Choose a file, or paste rows."],
    ["an empty file", { file: new Blob([]), rows: "" }, "The file is empty. Its first row must name the columns."],
    [
      "a file and rows",
      { file: new Blob([FILE]), rows: "UEI\nSANDBXDEBAR1" },
      "Choose a file or paste rows, not both.",
    ],
    ["a file of another kind", { file: new Blob(["<html><table>"]) }, "This is a web page or an XML file."],
    ["a file of more than 5 MB", { file: new Blob(["x".repeat(5_000_001)]) }, "The file has more than 5 MB. Split it."],
    ["cells with more than 5 MB", { file: new Blob([new Uint8Array(longWorkbook())]) }, "more than 5 MB of text."],
    ["a form of more than 7 MB", { file: new Blob(["x".repeat(7_000_001)]) }, "The file has more than 5 MB. Split it."],
  ])("of %s says what to do", async (_name, fields: Fields, text) => {
    const page = await preview(fields);
    expect(page.status).toBe(400);
    expect(page.text).toContain(text);
  });

  test("refuses sandbox UEIs in live", async () => {
    const page = await preview({ file: new Blob([FILE]) }, "live");
    expect(page.text).toContain("Row 2, &quot;UEI&quot; must not begin with SANDBX");
    expect(page.text).not.toContain("Verify 2 rows");
  });

  test("can't be sent by another site, or without a file’s form", async () => {
    const body = new FormData();
    const foreign = await visitor.request("/test/lists/preview", {
      method: "POST",
      body,
      headers: { origin: "https://x.example" },
    });
    expect(foreign.status).toBe(403);
    expect((await visitor.post("/test/lists/preview", { rows: "UEI" })).status).toBe(415);
  });
});

describe("a list that is verified", () => {
  test("is given as a job with its good and bad rows, once", async () => {
    const fields = { ...fieldsOf(await upload(FILE)), checks: "sam_registration", frequency: "weekly" };
    const { status, location } = await send("/test/lists", fields);
    expect([status, location]).toEqual([303, `/test/lists/${JOB_ID}`]);
    const [{ caller, rows }] = dashboard.callsOf("addJobRows");
    expect(caller).toMatchObject({ actor: "usr_1", createdEntities: 250_000 });
    const acme = { identifiers: { uei: "SANDBXACTVE1", tin: TIN }, legalName: "Acme" };
    const cells = (number: string) => ["Acme", "SANDBXACTVE1", "****5678", number];
    expect(rows).toEqual([
      { row: 2, externalId: "V-1", ...acme, cells: cells("V-1") },
      {
        ...{ row: 3, externalId: "V-2", cells: ["Bad", "SANDBX", "", "V-2"] },
        problems: [{ path: "UEI", message: expect.stringMatching(/^must be 12/) }],
      },
      { row: 4, externalId: "V-3", ...acme, sameAs: 2, cells: cells("V-3") },
    ]);
    expect(dashboard.callsOf("startJob")).toEqual([
      expect.objectContaining({
        jobId: JOB_ID,
        total: 3,
        columns: ["Vendor", "UEI", "Tax ID", "Vendor No"],
        checks: ["CHECK_TYPE_SAM_REGISTRATION"],
        mode: "MODE_REALTIME",
        openRows: 100_000,
        monitor: { frequency: "weekly", activeLimit: expect.any(Number) },
        idempotency: expect.objectContaining({ path: "/test/lists" }),
      }),
    ]);
    const again = await send("/test/lists", fields);
    expect(again.status).toBe(409);
    expect(again.text).toContain("already sent");
    expect(dashboard.callsOf("startJob")).toHaveLength(1);
  });

  test("stores no TIN as the number of a bad row", async () => {
    const file = `UEI,Tax ID,Vendor No\nSANDBX,${TIN},91-2345678\n,SANDBXACTVE1,V-1\nSANDBXACTVE1,,V-2\n`;
    await send("/test/lists", { ...fieldsOf(await upload(file)), checks: "sam_registration" });
    const [{ rows }] = dashboard.callsOf("addJobRows");
    expect(rows.map(({ externalId }: { externalId?: string }) => externalId)).toEqual([undefined, "V-1", "V-2"]);
  });

  test("is not started by a form without a list", async () => {
    const page = await send("/test/lists", { checks: "sam_registration" });
    expect(page.status).toBe(400);
    expect(page.text).toContain("Choose a file, or paste rows.");
  });

  test("with TINs proposes no TIN match where it is not enabled", async () => {
    dashboard.state.liveTinMatch = false;
    const page = await preview({ file: new Blob(["UEI,TIN\nABCDEFGHJK71,\n"]) }, "live");
    expect(page.text).toContain("is not enabled for your organization");
    expect(page.text).not.toContain('value="tin_match" checked');
  });

  test("that is refused comes back with its columns and the reason", async () => {
    const fields = fieldsOf(await upload(FILE));
    const unchecked = await send("/test/lists", fields);
    expect(unchecked.status).toBe(400);
    expect(unchecked.text).toContain("Choose at least one check.");
    dashboard.fail("startJob", "too_many_rows", { message: "Wait for other lists." });
    const refused = await send("/test/lists", { ...fields, checks: "sam_registration" });
    expect(refused.status).toBe(409);
    expect(refused.text).toContain("Wait for other lists.");
    expect(refused.text).toContain(`name="content" value="${Buffer.from(FILE).toString("base64")}"`);
  });
});

describe("the page of a list", () => {
  beforeEach(() => {
    dashboard.state.jobs = [jobOf()];
    dashboard.state.jobResults = [
      jobResultOf(),
      jobResultOf({
        ...{ row: 3, externalId: "", entityId: "", legalName: "", verification: undefined },
        ...{ outcome: RowOutcome.AMBIGUOUS, decision: Decision.REVIEW },
        candidates: [{ id: ENTITY_ID, legalName: "Acme & Sons", confidence: 0.7 }],
      }),
    ];
  });

  test("shows decisions with links to vendors, evidence and candidates", async () => {
    const { text } = await visitor.get(`/test/lists/${JOB_ID}`);
    expect(text).toContain(`<a href="/test/lists/${JOB_ID}?decision=hold">1</a>`);
    expect(text).toContain(`<a href="/test/vendors/${ENTITY_ID}">Acme &amp; Co</a>`);
    expect(text).toContain(`<a href="/test/verifications/${VERIFICATION_ID}">`);
    expect(text).toContain(`<a href="/test/vendors/${ENTITY_ID}">Acme &amp; Sons</a>`);
    expect(text).toContain("Monitor all that passed");
    expect(text).not.toContain("http-equiv");
    expect((await visitor.get("/test/lists")).text).toContain(`<a href="/test/lists/${JOB_ID}">`);
  });

  test("says why a row is not simply paid, on the page and in the file", async () => {
    const doubts = ["same_name", "name_not_compared"];
    dashboard.state.jobResults = [jobResultOf({ decision: Decision.REVIEW, doubts, cells: ["Acme"] })];
    expect((await visitor.get(`/test/lists/${JOB_ID}`)).text).toContain(
      "To check: an exclusion without a UEI and a CAGE bears the vendor’s name, and no source confirms the name.",
    );
    const file = async () => (await visitor.get(`/test/lists/${JOB_ID}.csv`)).text;
    expect(await file()).toContain('"same_name; name_not_compared"');
    dashboard.state.jobs = [jobOf({ columns: ["Vendor"] })];
    expect(await file()).toContain(
      '"an exclusion without a UEI and a CAGE bears the vendor’s name; no source confirms the name"',
    );
  });

  test("is loaded again while the list goes on, and can be canceled", async () => {
    dashboard.state.jobs = [jobOf({ status: JobStatus.RUNNING, done: 1 })];
    const { text } = await visitor.get(`/test/lists/${JOB_ID}`);
    expect(text).toContain('<noscript><meta http-equiv="refresh" content="5"></noscript>');
    expect(text).toContain("1 of 3");
    expect(text).not.toContain("Monitor all that passed");
    const { location } = await visitor.post(`/test/lists/${JOB_ID}/cancel`);
    expect(location).toBe(`/test/lists/${JOB_ID}?done=canceled`);
    expect(dashboard.callsOf("cancelJob")).toEqual([expect.objectContaining({ jobId: JOB_ID })]);
  });

  test.each([
    [true, "whose rows all have an answer, but which has not ended", { done: 3, counts: { pass: 3 } }],
    [true, "with a row that waits beside one that is verified", { done: 1, counts: { pass: 1, waiting: 1 } }],
    [false, "of which all that is left waits for a source", { done: 2, counts: { pass: 2, waiting: 1 } }],
  ])("is loaded again (%s) for a list %s", async (isLoadedAgain, _list, job) => {
    dashboard.state.jobs = [jobOf({ status: JobStatus.RUNNING, ...job })];
    const { text } = await visitor.get(`/test/lists/${JOB_ID}`);
    expect(text.includes('http-equiv="refresh"')).toBe(isLoadedAgain);
  });

  test("has a file with every row and column of the file that it came from", async () => {
    dashboard.state.jobs = [jobOf({ columns: ["Vendor", "Remark", "UEI"] })];
    dashboard.state.jobResults = [
      jobResultOf({ cells: ["Acme", "=1+1", "SANDBXACTVE1"] }),
      jobResultOf({
        ...{ row: 3, outcome: RowOutcome.INVALID, decision: Decision.REVIEW, verification: undefined },
        ...{ problems: [{ path: "UEI", message: "must be 12 letters and digits" }], cells: ["Bad", "", "SANDBX"] },
      }),
      { row: 4, cells: ["Not yet", "", ""] },
    ];
    const { text } = await visitor.get(`/test/lists/${JOB_ID}.csv`);
    expect(dashboard.callsOf("listJobResults")).toEqual([expect.objectContaining({ wholeRows: true })]);
    const [titles, ...rows] = text.trim().split("\r\n");
    expect(titles).toBe(
      `"Vendor","Remark","UEI","outcome","decision","registry_name","asked_tin","asked_name","expires_on","reasons","evidence"`,
    );
    expect(rows).toEqual([
      expect.stringMatching(/^"Acme","'=1\+1","SANDBXACTVE1","pass","pay",/),
      '"Bad","","SANDBX","invalid","review","","","","","UEI must be 12 letters and digits",""',
      '"Not yet","","","","","","","","","",""',
    ]);
    expect(rows[0]).toContain(`,"${ORIGIN}/test/verifications/${VERIFICATION_ID}"`);
    await visitor.get(`/test/lists/${JOB_ID}`);
    expect(dashboard.callsOf("listJobResults")[1]).not.toHaveProperty("wholeRows");
  });

  test("that did not come from a file has a file with the columns of the API", async () => {
    const { text, headers } = await visitor.get(`/test/lists/${JOB_ID}.csv`);
    expect(headers.get("content-disposition")).toContain("results-test");
    const [titles, first] = text.split("\r\n");
    expect(titles).toMatch(/"row","external_id","outcome","decision","entity_id","legal_name","name_agrees",/);
    expect(first).toContain(`"2","V-1","pass","pay","${ENTITY_ID}","Acme & Co","true",`);
    expect(first).toContain("https://api.acme.example/v1/evidence/evd_");
  });
});

describe("what changed since an earlier list", () => {
  const EARLIER = `${JOB_ID.slice(0, -1)}0`;
  const changes = async (query = "") => (await visitor.get(`/test/lists/${JOB_ID}/changes${query}`)).text;

  test("shows vendors with another answer and new ones, found by their number or as the same vendor", async () => {
    dashboard.state.jobs = [jobOf(), jobOf({ id: EARLIER })];
    const failed = { outcome: RowOutcome.FAIL, decision: Decision.HOLD };
    dashboard.state.resultsOf.set(EARLIER, [
      jobResultOf({ row: 2, externalId: "V-1", legalName: "As it was" }),
      jobResultOf({ row: 3, externalId: "V-2" }),
      jobResultOf({ row: 4, externalId: "V-4" }),
      jobResultOf({ row: 5, externalId: "" }),
    ]);
    dashboard.state.resultsOf.set(JOB_ID, [
      jobResultOf({ row: 2, externalId: "V-2", legalName: "Now failed", ...failed }),
      jobResultOf({ row: 3, externalId: "V-1", legalName: "As it was" }),
      jobResultOf({ row: 4, externalId: "V-3", legalName: "New here" }),
      jobResultOf({ row: 5, externalId: "" }),
      jobResultOf({ row: 6, externalId: "", entityId: "", verification: undefined, outcome: RowOutcome.NOT_FOUND }),
    ]);
    const text = await changes();
    expect(text).toContain("2 changes");
    expect(text).toContain(
      "As before: 2. Only in the earlier list: 1. Not compared, because they have no vendor number and no vendor: 1 row.",
    );
    for (const shown of ["Now failed", "New here", "not in the list"]) expect(text).toContain(shown);
    expect(text).not.toContain("As it was");
    expect(await changes(`?since=${EARLIER}`)).toContain("2 changes");
    expect(await changes("?since=job_x")).toContain("Page not found");
  });

  test("a new expiration date, name or vendor is a change, and of a number used twice each row has its own", async () => {
    dashboard.state.jobs = [jobOf(), jobOf({ id: EARLIER })];
    const until = (expirationDate: string) => {
      const verification = verificationOf();
      verification.results![0]!.details = { registrationStatus: "Active", expirationDate };
      return { verification };
    };
    const before = jobResultOf({ ...until("2026-12-31"), legalName: "Acme Inc" });
    const twin = { ...before, externalId: "V-9" };
    const failed = { outcome: RowOutcome.FAIL, decision: Decision.HOLD };
    dashboard.state.resultsOf.set(EARLIER, [
      ...["V-1", "V-2", "V-3", "V-4"].map((externalId) => ({ ...before, externalId })),
      twin,
      { ...twin, entityId: "ent_2", ...failed },
    ]);
    dashboard.state.resultsOf.set(JOB_ID, [
      { ...before, externalId: "V-1", ...until("2027-12-31") },
      { ...before, externalId: "V-2", legalName: "Acme Holding Inc" },
      { ...before, externalId: "V-3", entityId: "ent_3" },
      { ...before, externalId: "V-4" },
      { ...twin, entityId: "ent_2", ...failed },
      twin,
    ]);
    const text = await changes();
    expect(text).toContain("3 changes");
    expect(text).toContain("As before: 3.");
    for (const shown of ["31 December 2026", "31 December 2027", "Acme Holding Inc", "before: Acme Inc"]) {
      expect(text).toContain(shown);
    }
  });

  test("a vendor that has the number of another one now is not compared with it while the other still has it", async () => {
    dashboard.state.jobs = [jobOf(), jobOf({ id: EARLIER })];
    const old = jobResultOf({ externalId: "V-1", legalName: "Acme Inc" });
    dashboard.state.resultsOf.set(EARLIER, [old]);
    dashboard.state.resultsOf.set(JOB_ID, [{ ...old, entityId: "ent_2", legalName: "Acme North" }, old]);
    const text = await changes();
    expect(text).toContain("As before: 1.");
    expect(text).toContain("not in the list");
    expect(text).not.toContain("Acme Inc");
  });

  test("a list with vendor numbers is compared by its vendors with one that has none", async () => {
    dashboard.state.jobs = [jobOf(), jobOf({ id: EARLIER })];
    dashboard.state.resultsOf.set(EARLIER, [jobResultOf({ externalId: "" })]);
    dashboard.state.resultsOf.set(JOB_ID, [jobResultOf({ externalId: "V-1" })]);
    const text = await changes();
    expect(text).toContain("0 changes");
    expect(text).not.toContain("no vendor in common");
  });

  test("are by default those since the latest list that is likely of the same vendors, and it is named", async () => {
    const others = `${JOB_ID.slice(0, -1)}1`;
    dashboard.state.jobs = [jobOf(), jobOf({ id: others, total: 7 }), jobOf({ id: EARLIER, total: 2 })];
    dashboard.state.resultsOf.set(EARLIER, [jobResultOf()]);
    dashboard.state.resultsOf.set(others, [jobResultOf({ externalId: "X-1" })]);
    dashboard.state.resultsOf.set(JOB_ID, [jobResultOf()]);
    const text = await changes();
    expect(text).toContain(`<a href="/test/lists/${EARLIER}">the list of 2 rows of`);
    expect(text).toContain("0 changes");
    expect(text).not.toContain("no vendor in common");
    expect(await changes(`?since=${others}`)).toContain("The two lists have no vendor in common.");
    dashboard.state.jobs.pop();
    expect(await changes()).toContain(`<a href="/test/lists/${others}">the list of 7 rows of`);
  });

  test("of the first list says that there is no earlier one", async () => {
    dashboard.state.jobs = [jobOf(), jobOf({ id: EARLIER, status: JobStatus.CANCELED })];
    expect(await changes()).toContain("There is no earlier list.");
  });
});

describe("monitoring all that passed", () => {
  const monitor = (form: Record<string, string>) => visitor.post(`/test/lists/${JOB_ID}/monitors`, form);

  beforeEach(() => {
    dashboard.state.jobs = [jobOf()];
    dashboard.state.jobResults = [jobResultOf()];
  });

  test("gives each vendor a monitor with the checks of the list, unless it has one", async () => {
    const { location } = await monitor({ frequency: "monthly" });
    expect(location).toBe(`/test/lists/${JOB_ID}?done=monitored`);
    expect(dashboard.callsOf("listJobResults")).toEqual([expect.objectContaining({ outcome: "ROW_OUTCOME_PASS" })]);
    expect(dashboard.callsOf("createMonitor")).toEqual([
      expect.objectContaining({
        ...{ entityId: ENTITY_ID, externalId: "V-1", frequency: "FREQUENCY_MONTHLY", unlessExists: true },
        ...{ checks: ["CHECK_TYPE_SAM_REGISTRATION"], activeLimit: expect.any(Number) },
      }),
    ]);
  });

  test("of a long list goes on with another form", async () => {
    dashboard.state.jobResults = Array.from({ length: 501 }, (_, index) => jobResultOf({ row: index + 2 }));
    const page = await monitor({ frequency: "daily" });
    expect(fieldsOf(page)).toEqual({ after: "501", frequency: "daily" });
    // A script sends it.
    expect(page.text).toContain(" data-goes-on>");
    expect((await monitor(fieldsOf(page))).location).toBe(`/test/lists/${JOB_ID}?done=monitored`);
    expect(dashboard.callsOf("createMonitor")).toHaveLength(501);
  });

  test("goes on after a vendor that is refused a monitor, and says which and why", async () => {
    const message = "must not contain the vendor’s TIN";
    dashboard.fail("createMonitor V-2", "invalid_request", { details: [{ path: "external_id", message }] });
    dashboard.state.jobResults = Array.from({ length: 511 }, (_, index) =>
      jobResultOf({ row: index + 1, externalId: `V-${index + 1}`, legalName: `Vendor ${index + 1}` }),
    );
    const page = await monitor({ frequency: "daily" });
    expect(page.status).toBe(200);
    expect(page.text).toContain("1 vendor got no monitor");
    expect(page.text).toContain("Vendor 2<");
    expect(page.text).not.toContain("data-goes-on");
    expect(page.text).toContain("The vendor number must not contain the vendor’s TIN.");
    expect((await monitor(fieldsOf(page))).location).toBe(`/test/lists/${JOB_ID}?done=monitored`);
    expect(dashboard.callsOf("createMonitor")).toHaveLength(511);
    dashboard.fail("createMonitor V-511", "limit_exceeded");
    dashboard.state.jobResults.splice(0, 500, jobResultOf({ row: 2, externalId: "V-2" }));
    const last = await monitor({ frequency: "daily" });
    expect(last.text).toContain("the limit of your plan is reached");
    expect(last.text).toContain("1 vendor got no monitor");
    expect(last.text).not.toContain("Continue");
  });

  test("ends at the limit of the plan, and says so", async () => {
    dashboard.fail("createMonitor", "limit_exceeded");
    const { location } = await monitor({ frequency: "daily" });
    expect(location).toBe(`/test/lists/${JOB_ID}?done=limit`);
    expect((await visitor.get(location!)).text).toContain("the limit of your plan is reached");
  });
});
