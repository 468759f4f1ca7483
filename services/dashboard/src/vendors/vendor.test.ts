import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { deliveryOf } from "../testing/fake-dispatcher.ts";
import { chainOf, ENTITY_ID } from "../testing/fake-entity.ts";
import { confirmedRunOf, eventOf, MONITOR_ID, monitorOf } from "../testing/fake-monitor.ts";
import { EMAIL } from "../testing/fake-sessions.ts";
import { EVIDENCE_ID, VERIFICATION_ID, verificationOf } from "../testing/fake-verification.ts";

const { dashboard, visitor } = dashboardPerTest();
const path = `/live/vendors/${ENTITY_ID}`;
const TIN = "912345678";
const entity = {
  id: ENTITY_ID,
  legalName: "Acme <Widgets>",
  identifiers: { uei: "UE9QJD4KK1L6", tin: "****6789" },
  samGov: { registrationStatus: "active", expirationDate: "2099-01-31" },
  addresses: [{ type: "physical", line1: "12 OAK ST", city: "RENO", state: "NV", zip: "89501", country: "USA" }],
  sources: [{ name: "sam_gov_extract", version: "monthly.dat" }],
};
const withoutTin = { ...entity, identifiers: { uei: "UE9QJD4KK1L6" } };
/** As a client created it, with nothing but its name and address. */
const unknown = {
  ...entity,
  identifiers: {},
  samGov: { registrationStatus: "inactive" },
  sources: [{ name: "organization" }],
};
const first = { legal_name: "ACME WIDGETS", sam_gov: { registration_status: "active" }, addresses: [], sources: [] };
const second = { ...first, sam_gov: { registration_status: "expired" } };

beforeEach(() => {
  dashboard.state.entities = [entity];
});

const page = (query = "") => visitor.get(`${path}${query}`);

/** A verification today, whose data is of today. */
const verifiedNow = (status: CheckStatus, more: object = {}, ...others: object[]) => {
  const createdAt = timestampFromDate(new Date());
  const details = { expirationDate: "2099-03-31", exclusions: { exclusions: [] }, dataAsOf: createdAt };
  const result = { checkType: CheckType.SAM_REGISTRATION, status, details, evidenceId: EVIDENCE_ID, ...more };
  return verificationOf({ createdAt, overallResult: status, results: [result, ...others] });
};

/** A verification that passed, with a TIN match that asked about this TIN and name. */
const match = (tin: string, name: string, status = CheckStatus.PASS) => {
  const result = { checkType: CheckType.TIN_MATCH, status, reason: "", details: { tin, name } };
  return verifiedNow(CheckStatus.PASS, {}, result);
};
const answerOf = async () => /<p class="answer">([^<]*)</.exec((await page()).text)![1];

describe("the answer to whether a vendor can be paid", () => {
  test("is in words, with the verification and the evidence one click away", async () => {
    dashboard.state.entities = [withoutTin];
    dashboard.state.verifications = [verifiedNow(CheckStatus.PASS)];
    const { status, text } = await page();
    expect(status).toBe(200);
    expect(text).toContain("Yes, based on the checks made: SAM.gov registration passed. TIN match was not checked.");
    expect(text).toContain("Active in SAM.gov until 31 March 2099. No exclusions. As of today.");
    expect(text).toContain(
      `href="/live/evidence/${EVIDENCE_ID}">Evidence<span class="unseen"> of SAM.gov registration`,
    );
    expect(text).toContain(`href="/live/verifications/${VERIFICATION_ID}">Verification`);
    expect(text).toMatch(/Checked <time datetime="[^"]+" title="[^"]+ UTC"><span class="unprinted">just now<\/span>/);
  });

  test("is a decision: to pay, to hold, or to review, with the exclusions that bear the vendor’s name", async () => {
    const decided = async () => {
      const { text } = await page();
      return /<h2 id="verdict">[^<]*<\/h2> <span class="state [a-z]+">([^<]*)</.exec(text)?.[1];
    };
    dashboard.state.entities = [withoutTin];
    expect(await decided()).toBeUndefined();
    dashboard.state.verifications = [verifiedNow(CheckStatus.FAIL, { reason: "expired" })];
    expect(await decided()).toBe("Hold");
    dashboard.state.verifications = [verifiedNow(CheckStatus.PASS)];
    expect(await decided()).toBe("Pay");
    const sameName = [{ name: "ACME <WIDGETS>", terminationDate: "indefinite" }];
    dashboard.state.verifications = [verifiedNow(CheckStatus.PASS, { details: { sameName } })];
    expect(await decided()).toBe("Review");
    expect((await page()).text).toContain("<li>“ACME &lt;WIDGETS&gt;”, excluded, without an end date.</li>");
  });

  test("includes a check that only a person made, before many runs of a monitor", async () => {
    const id = VERIFICATION_ID.replace(/9$/, "8");
    const asked = { tin: "****6789", name: "acme <widgets>" };
    const matched = { checkType: CheckType.TIN_MATCH, status: CheckStatus.PASS, details: asked };
    const old = {
      ...verificationOf({ id, results: [matched] }),
      createdAt: timestampFromDate(new Date(Date.now() - 9e8)),
    };
    dashboard.state.verifications = [...Array.from({ length: 20 }, () => verifiedNow(CheckStatus.PASS)), old];
    expect((await page()).text).toContain("Not yet: TIN match was not made.");
    const checks = [{ checkType: CheckType.TIN_MATCH, status: CheckStatus.PASS, verificationId: id }];
    dashboard.state.vendors = [{ entity, checks }];
    const { text } = await page();
    expect(text).toContain("Yes, every check passed.");
    expect(text).toContain(`href="/live/verifications/${id}">Verification`);
    dashboard.fail("getVendors", "service_unavailable");
    expect((await page()).status).toBe(200);
  });

  test("of a vendor that nobody checked is that it was not checked, whatever the registry says", async () => {
    expect((await page()).text).toContain("The registry lists this vendor as active until 31 January 2099.");
    dashboard.state.entities = [unknown];
    const { text } = await page();
    expect(text).toContain('<p class="answer">Not checked yet.</p>');
    expect(text).not.toContain("inactive");
  });

  test("of a stored answer that was used again is as old as the answer, not as its newest use", async () => {
    dashboard.state.entities = [withoutTin];
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
    const [answered, confirmedBefore, confirmed] = [daysAgo(60), daysAgo(40), daysAgo(2)];
    dashboard.state.verifications = [verifiedNow(CheckStatus.PASS, { evidenceId: newId("evd", answered) })];
    const { text } = await page();
    expect(text).toContain("Not yet: SAM.gov registration must be made again.");
    expect(text).toContain("This was more than 30 days ago.");
    expect(text).toContain(`Checked <time datetime="${answered.toISOString()}"`);
    // What scheduled checks found since the answer counts, also where it was used again after them.
    const run = { entityId: ENTITY_ID, at: timestampFromDate(answered) };
    for (const [at, expected] of [
      [confirmedBefore, "Not yet: SAM.gov registration must be made again."],
      [confirmed, "Yes, based on the checks made: SAM.gov registration passed."],
    ] as const) {
      dashboard.state.confirmedRuns = [
        confirmedRunOf({ ...run, confirmed: { times: 1, lastAt: timestampFromDate(at) } }),
      ];
      expect((await page()).text).toContain(expected);
    }
  });

  test("after an error shows the answer before it", async () => {
    const error = verifiedNow(CheckStatus.ERROR, { reason: "providers_failed", details: undefined });
    dashboard.state.verifications = [error, verifiedNow(CheckStatus.PASS)];
    const { text } = await page();
    expect(text).toContain('<section class="card verdict open"');
    expect(text).toContain("Not yet: there is no answer to SAM.gov registration");
    expect(text).toMatch(/The last answer, of [^:]*: Active in SAM.gov until 31 March 2099\./);
    dashboard.state.verifications = [error, verifiedNow(CheckStatus.FAIL, { reason: "excluded", details: undefined })];
    expect((await page()).text).toContain("Do not pay: excluded from federal awards.");
  });

  test("counts a TIN match only for the vendor’s TIN and name, and names a newer one of another TIN", async () => {
    dashboard.state.verifications = [match("****2220", "Acme <Widgets>")];
    expect(await answerOf()).toBe("Not yet: TIN match is about another TIN or name.");
    dashboard.state.verifications = [match("****6789", "Totally Other Company Inc")];
    expect(await answerOf()).toBe("Not yet: TIN match is about another TIN or name.");
    const right = match("****6789", "ACME <WIDGETS>");
    dashboard.state.verifications = [right];
    expect(await answerOf()).toBe("Yes, every check passed.");
    dashboard.state.verifications = [match("****2222", "Acme <Widgets>", CheckStatus.FAIL), right];
    expect(await answerOf()).toBe("Yes, every check passed.");
    expect((await page()).text).toContain("A newer TIN match was of another TIN");
    dashboard.state.verifications = [right];
    dashboard.fail("compareNames", "service_unavailable");
    expect(await answerOf()).toBe("Not yet: TIN match is about another TIN or name.");
  });

  test("tells the vendor’s TIN from another one with the same last four digits, where both are known", async () => {
    const of = (fingerprint: string, status = CheckStatus.PASS) => ({
      ...match("****6789", "Acme <Widgets>", status),
      tinFingerprint: Buffer.from(fingerprint),
    });
    dashboard.state.tinFingerprint = Buffer.from("own");
    dashboard.state.verifications = [of("other")];
    expect(await answerOf()).toBe("Not yet: TIN match is about another TIN or name.");
    expect((await page()).text).toContain("This vendor’s TIN is another one with the same last four digits");
    dashboard.state.verifications = [of("other", CheckStatus.FAIL), of("own")];
    expect(await answerOf()).toBe("Yes, every check passed.");
    expect((await page()).text).toContain("A newer TIN match was of another TIN");
    dashboard.state.verifications = [of("")];
    expect(await answerOf()).toBe("Yes, every check passed.");
    dashboard.state.verifications = [of("other")];
    dashboard.state.tinFingerprint = new Uint8Array();
    expect(await answerOf()).toBe("Yes, every check passed.");
  });
});

describe("a vendor's page", () => {
  test("shows what is known, from the newest answer or else from the registry", async () => {
    dashboard.state.verifications = [verifiedNow(CheckStatus.PASS)];
    const { text } = await page();
    expect(text).toContain("<h1>Acme &lt;Widgets&gt;</h1>");
    expect(text).toContain("12 OAK ST, RENO, NV 89501, USA");
    expect(text).toContain('active in SAM.gov, registered until <time datetime="2099-03-31">31 March 2099</time>');
    expect(text).toContain('data-copy-text="UE9QJD4KK1L6"');
    expect(text).not.toContain("CAGE code in SAM.gov");
    dashboard.state.entities = [{ ...entity, samGov: { registrationStatus: "active", cage: "9ZZZ9" } }];
    dashboard.state.verifications = [];
    expect((await page()).text).toContain("<dt>CAGE code in SAM.gov</dt><dd>9ZZZ9</dd>");
  });

  test("shows verifications, changes, deliveries and versions as one history, newest first", async () => {
    const at = (minute: number) => timestampFromDate(new Date(Date.UTC(2026, 10, 21, 9, minute)));
    dashboard.state.verifications = [verificationOf({ createdAt: at(40) })];
    dashboard.state.monitors = [monitorOf()];
    dashboard.state.events = [eventOf({ detectedAt: at(35) })];
    dashboard.state.deliveries = [deliveryOf({ createdAt: at(36) })];
    dashboard.state.snapshots = chainOf(first, second).reverse();
    const { text } = await page();
    const history = text.slice(text.indexOf('id="history"'));
    const order = [">Verified</a>", ">Webhook</a>", "A monitor found a change", "Version 2", "Version 1"];
    const places = order.map((each) => history.indexOf(each));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(history).toContain("<del>active</del>");
    expect(history).toContain("Created by the registry file <code>monthly.dat</code>");
    expect(history).toContain(`a user, <strong>${EMAIL}</strong>`);
    expect(history.match(/chain verified/g)).toHaveLength(2);
    expect(history).not.toContain("chain broken");
    dashboard.state.tinReplacements = [
      { id: newId("tin"), at: at(39), previous: "****1111", current: "****2222", matched: true, actor: "key_1" },
    ];
    expect((await page()).text).toMatch(/The TIN was replaced.*\*{4}1111.*\*{4}2222.*The new TIN matched\./s);
    for (const shown of ["verifications", "changes", "deliveries", "versions", "tins"]) {
      const only = (await page(`?show=${shown}`)).text;
      expect(only).toContain(`href="${path}?show=${shown}#history" aria-current="true"`);
      expect(only.match(/class="card event/g)).toHaveLength(shown === "versions" ? 2 : 1);
    }
  });

  test("reports versions that were altered or are missing", async () => {
    const [one, two, three] = chainOf(first, second, first);
    dashboard.state.snapshots = [two!, { ...one!, entity: second }];
    expect((await page()).text).toContain("The hash does not match the content.");
    dashboard.state.snapshots = [three!, one!];
    const { text } = await page();
    expect(text).toContain("The hash of the previous version is wrong.");
    expect(text).toContain("The chain of versions is broken");
  });

  test("pages to older versions, and compares versions across pages", async () => {
    const versions = Array.from({ length: 21 }, (_, index) => (index % 2 === 0 ? first : second));
    dashboard.state.snapshots = chainOf(...versions)
      .map((each, index) => ({
        ...each,
        id: `snp_01m7ygvppkf9m8p9ecpfzd1${String(index).padStart(3, "0")}`,
        createdAt: new Date(Date.UTC(2026, 10, 21, 9, index)).toISOString(),
      }))
      .reverse();
    const { text } = await page("?show=versions");
    expect(text.match(/<h3>Version/g)).toHaveLength(20);
    expect(text.match(/<table class="changed">/g)).toHaveLength(20);
    const [, older] = /href="([^"]+)" rel="next">Older</.exec(text)!;
    const next = await visitor.get(older!.replaceAll("&amp;", "&"));
    expect(next.text.match(/<h3>Version/g)).toHaveLength(1);
    expect(next.text).toContain(`href="${path}?show=versions">Newest</a>`);
  });

  test("shows your vendor number, which can be changed and removed", async () => {
    const form = `${path}/vendor-number`;
    expect((await page()).text).toContain(`href="${form}"`);
    for (const [typed, externalId] of [
      [" V-1 ", "V-1"],
      ["", ""],
    ]) {
      const { status, location } = await visitor.post(form, { external_id: typed! });
      expect([status, location]).toEqual([303, `${path}?done=numbered`]);
      expect(dashboard.state.calls.at(-1)).toBe(`setExternalId ${ENTITY_ID} ${JSON.stringify(externalId)}`);
      const { text } = await visitor.get(location!);
      expect(text).toContain("Your vendor number was saved.");
      expect(text.includes("<code>V-1</code>")).toBe(externalId === "V-1");
    }
  });

  test("keeps the vendor number if the new one is refused, and repeats nothing that looks like a TIN", async () => {
    const form = `${path}/vendor-number`;
    const invalid = await visitor.post(form, { external_id: "x".repeat(256) });
    expect([invalid.status, dashboard.state.calls]).toEqual([400, []]);
    const details = [{ path: "external_id", message: "must not be the TIN" }];
    dashboard.fail("checkExternalId", "invalid_request", { details });
    const { status, text } = await visitor.post(form, { external_id: "21-3456789" });
    expect(status).toBe(400);
    expect(text).toContain("The vendor number must not be the TIN.");
    expect(text).not.toContain("3456789");
    expect(dashboard.state.calls).toEqual([]);
  });

  test("has its changes of your vendor number in the audit log, before they are made, and once", async () => {
    const change = (external_id: string) => visitor.post(`${path}/vendor-number`, { external_id });
    for (const typed of ["V-1", "V-1", "V-2", ""]) await change(typed);
    const by = { action: "vendor.number_changed", target: ENTITY_ID, caller: { actor: "usr_1" } };
    expect(dashboard.callsOf("appendAuditEntry")).toMatchObject([
      { ...by, details: { from: "none", to: "V-1" } },
      { ...by, details: { from: "V-1", to: "V-2" } },
      { ...by, details: { from: "V-2", to: "none" } },
    ]);
    dashboard.state.calls.length = 0;
    dashboard.fail("appendAuditEntry", "service_unavailable");
    expect((await change("V-2")).status).toBe(503);
    expect(dashboard.state.calls.filter((call) => call.startsWith("setExternalId"))).toEqual([]);
  });
});

describe("a vendor is verified from its page", () => {
  const verify = async (form: Record<string, string | string[]>) => {
    const form_token = await visitor.formToken(path);
    dashboard.state.calls.length = 0;
    return visitor.post(`${path}/verify`, { form_token, ...form });
  };

  test("with what is known, also if it was verified before", async () => {
    dashboard.state.verifications = [verifiedNow(CheckStatus.PASS)];
    const { text } = await page();
    expect(text).toMatch(/name="checks" value="sam_registration" checked/);
    expect(text).not.toContain('name="uei"');
    const { status, location } = await verify({ checks: ["sam_registration"] });
    expect([status, location]).toEqual([303, `${path}?done=verified`]);
    expect(dashboard.callsOf("verify")).toMatchObject([
      {
        entityId: ENTITY_ID,
        checks: ["CHECK_TYPE_SAM_REGISTRATION"],
        mode: "MODE_REALTIME",
        idempotency: { path: `/live/vendors/${ENTITY_ID}/verify` },
      },
    ]);
  });

  test("that has only a name and an address: the form says what is needed, takes it, and adds it to this vendor", async () => {
    dashboard.state.entities = [unknown];
    const { text } = await page();
    expect(text).toContain("it needs the vendor’s UEI or CAGE code");
    expect(text).toContain('href="/live/vendors/search?legal_name=Acme+%3CWidgets%3E&amp;address=12+OAK+ST');
    const refused = await verify({ checks: ["sam_registration"] });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('id="uei-problem">SAM.gov is asked by UEI or CAGE code.');
    expect(dashboard.callsOf("verify")).toEqual([]);
    const { status } = await verify({ checks: ["sam_registration", "tin_match"], uei: "ue9q-jd4kk1l6", tin: TIN });
    expect(status).toBe(303);
    expect(dashboard.callsOf("verify")).toMatchObject([
      { vendor: { identifiers: { uei: "UE9QJD4KK1L6", tin: TIN }, entityId: ENTITY_ID } },
    ]);
  });

  test("with a TIN match where a TIN was typed, also if that check was not chosen", async () => {
    dashboard.state.entities = [withoutTin];
    expect((await page()).text).toContain('data-ticks="tin_match"');
    expect((await verify({ checks: ["sam_registration"], tin: TIN })).status).toBe(303);
    expect(dashboard.callsOf("verify")).toMatchObject([
      { checks: ["CHECK_TYPE_SAM_REGISTRATION", "CHECK_TYPE_TIN_MATCH"] },
    ]);
  });

  test("and a refused form comes back with what was typed, except the TIN", async () => {
    dashboard.state.entities = [unknown];
    const { status, text } = await verify({ checks: ["tin_match"], uei: "SANDBX", tin: TIN, frequency: "weekly" });
    expect(status).toBe(400);
    expect(text).toContain('value="SANDBX"');
    expect(text).toMatch(/name="checks" value="tin_match" checked/);
    expect(text).toContain('value="weekly" selected');
    expect(text).not.toContain(TIN);
  });

  test("and an identifier of another vendor leads to that one", async () => {
    dashboard.state.entities = [unknown];
    const other = ENTITY_ID.replace(/8$/, "9");
    const options = { message: "An identifier is that of another entity.", entityId: other };
    dashboard.fail("verify", "entity_exists", options);
    const { status, text } = await verify({ checks: ["sam_registration"], uei: "UE9QJD4KK1L6" });
    expect(status).toBe(409);
    expect(text).toContain(`<a href="/live/vendors/${other}">`);
    expect(text).toContain('value="UE9QJD4KK1L6"');
  });

  test("unless the service is unavailable: then the form is kept", async () => {
    dashboard.fail("verify", "service_unavailable");
    const { status, text } = await verify({ checks: ["sam_registration"] });
    expect(status).toBe(503);
    expect(text).toContain("This may not have finished");
  });
});

describe("a vendor is monitored from its page", () => {
  const monitor = async (form: Record<string, string | string[]>) => {
    const form_token = await visitor.formToken(path);
    dashboard.state.calls.length = 0;
    return visitor.post(`${path}/monitor`, { form_token, frequency: "daily", webhook_url: "", ...form });
  };

  test("with the checks made before and the endpoint used last filled in", async () => {
    dashboard.state.monitors = [monitorOf()];
    const { text } = await page();
    expect(text).toContain('value="https://hooks.acme.example/vendors"');
    expect(text).toContain(`Monitored daily: <a href="/live/monitors/${MONITOR_ID}">`);
    const { status, location } = await monitor({ checks: ["sam_registration"], webhook_url: "https://acme.example/h" });
    expect([status, location]).toEqual([303, `${path}?done=monitored`]);
    expect(dashboard.callsOf("verify")).toEqual([]);
    expect(dashboard.callsOf("createMonitor")).toMatchObject([
      {
        entityId: ENTITY_ID,
        checks: ["CHECK_TYPE_SAM_REGISTRATION"],
        frequency: "FREQUENCY_DAILY",
        webhookUrl: "https://acme.example/h",
        activeLimit: 10_000,
        idempotency: { apiKeyId: "usr_1", path: `/live/vendors/${ENTITY_ID}/monitor`, key: expect.any(String) },
      },
    ]);
  });

  test("after what the form supplied was added to the vendor", async () => {
    dashboard.state.entities = [unknown];
    expect((await monitor({ checks: ["sam_registration"] })).status).toBe(400);
    expect((await monitor({ checks: ["sam_registration"], uei: "UE9QJD4KK1L6" })).status).toBe(303);
    const made = dashboard.state.calls
      .map((call) => call.split(" ")[0])
      .filter((call) => /^(verify|create)/.test(call!));
    expect(made).toEqual(["verify", "createMonitor"]);
  });

  test("unless the form has problems: then it comes back as it was", async () => {
    const { status, text } = await monitor({ checks: [], frequency: "never", webhook_url: "https://acme.example/h" });
    expect(status).toBe(400);
    for (const part of ['id="checks-problem"', 'id="frequency-problem"', 'value="https://acme.example/h"']) {
      expect(text).toContain(part);
    }
    expect(dashboard.callsOf("createMonitor")).toEqual([]);
  });

  const mayNot = { details: [{ path: "webhook_url", message: "must lead to a public host" }] };
  test.each([
    ["limit_exceeded", { message: "As many as it may have." }, 403, "As many as it may have."],
    ["invalid_request", mayNot, 400, "The webhook URL must lead to a public host."],
    ["service_unavailable", {}, 503, "This may not have finished"],
  ] as const)(
    "and a refusal is explained above the form, which keeps what was typed",
    async (code, error, expected, told) => {
      dashboard.fail("createMonitor", code, error);
      const { status, text } = await monitor({ checks: ["sam_registration"], webhook_url: "https://acme.example/h" });
      expect([status, text]).toEqual([expected, expect.stringContaining(told)]);
      expect(text).toContain('value="https://acme.example/h"');
    },
  );
});

describe("what scheduled checks confirmed", () => {
  const DAY_MS = 86_400_000;
  const daysAgo = (days: number) => timestampFromDate(new Date(Date.now() - days * DAY_MS));
  const today = new Date().toISOString().slice(0, 10);
  /** Two months ago fully checked, and confirmed today. */
  const confirmed = {
    times: 60,
    lastAt: timestampFromDate(new Date(`${today}T00:00:00Z`)),
    dataAsOf: { registration: timestampFromDate(new Date("2026-10-05T00:00:00Z")), exclusions: daysAgo(0) },
  };
  const old = () => {
    const result = verifiedNow(CheckStatus.PASS).results![0]!;
    return verificationOf({ createdAt: daysAgo(60), actor: MONITOR_ID, results: [result] });
  };
  const SENTENCE =
    "No change found in our data up to 00:00 UTC. Registration data of 5 October 2026, exclusions of today.";

  beforeEach(() => {
    dashboard.state.entities = [withoutTin];
    dashboard.state.verifications = [old()];
    dashboard.state.monitors = [monitorOf()];
  });

  test("counts for a payment, in the words of what was judged: our data", async () => {
    expect((await page()).text).toContain("This was more than 30 days ago.");
    dashboard.state.confirmedRuns = [confirmedRunOf({ at: daysAgo(60), confirmed })];
    const { text } = await page();
    expect(text).toContain("Yes, based on the checks made: SAM.gov registration passed.");
    expect(text).toMatch(new RegExp(`No exclusions\\. ${SENTENCE} Last full check \\d+ \\w+ \\d{4}\\.</p>`));
    expect(text).not.toContain(">Checked <time");
    expect(text.toLowerCase()).not.toContain("checked with sam.gov");
    expect(dashboard.callsOf("listConfirmedRuns")).toMatchObject([
      { entityIds: [ENTITY_ID], caller: { tenant: { organizationId: "org_1", environment: "ENVIRONMENT_LIVE" } } },
      {},
    ]);
  });

  test("is one line of the history, with how often", async () => {
    const { verificationId, at } = confirmedRunOf({ at: daysAgo(60) });
    dashboard.state.runs = [{ verificationId, at, outcome: CheckStatus.PASS, confirmed }];
    const { text } = await page("?show=verifications");
    expect(text).toContain(`<p class="confirmed">Then 60 scheduled checks. ${SENTENCE}</p>`);
    expect(text.match(/<li class="card event/g)).toHaveLength(1);
  });

  test("is left out while it is unavailable, and the rest is shown", async () => {
    for (const method of ["listConfirmedRuns", "listRuns"]) {
      dashboard.fail(method, "service_unavailable");
    }
    const { status, text } = await page();
    expect(status).toBe(200);
    expect(text).not.toContain("No change found");
    expect(text).toContain('<li class="card event');
  });

  test("is nothing since the data is too old, which the page says", async () => {
    const staleSince = timestampFromDate(new Date("2026-10-04T08:00:00Z"));
    dashboard.state.confirmedRuns = [confirmedRunOf({ confirmed: undefined, staleSince })];
    const { text } = await page();
    expect(text).toContain("too old: since 4 October 2026, 08:00 UTC scheduled checks confirm nothing.");
    expect(text).toContain("This was more than 30 days ago.");
  });
});
