import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { recordTelemetry } from "@vvs/telemetry/testing";
import { captureLogs, untilEnd } from "@vvs/testing";
import { playCompliancely } from "../../../../test/outside/compliancely.ts";
import { formsOf, playTaxBandits } from "../../../../test/outside/taxbandits.ts";
import { createCompliancely } from "../providers/compliancely/compliancely.ts";
import { createProviderHttp } from "../providers/http/provider-http.ts";
import { createTaxBandits } from "../providers/taxbandits/taxbandits.ts";
import { completedIn, passing, testProvider, verifyResult } from "../testing/calls.ts";
import { startTestService } from "../testing/service.ts";

// The service with its real TIN providers, which call a played TaxBandits and a played Compliancely.

const { spans } = recordTelemetry();

const TIN = "471829360";
const { logger, lines } = captureLogs("trace");

/** An adapter that forgets to mask, and one that fails unexpectedly. */
const careless = testProvider("careless", "tin_match", async (question, { signal }) => {
  const tin = await question.tin(signal);
  if (carelessness === "throws") throw new TypeError("unforeseen");
  const content = JSON.stringify({ said: formsOf(tin), number: Number(tin) });
  return passing({ outcome: "fail", reason: "mismatch", facts: { legal_name: `Acme ${tin}` }, content });
});
let carelessness: "throws" | "says" = "throws";

const [taxbandits, compliancely] = [await playTaxBandits(), await playCompliancely()];
const http = untilEnd(createProviderHttp());
const now = () => new Date();
const service = await startTestService({
  logger,
  // These tests make faults in a row on purpose.
  circuit: { faultsInRow: 1_000, windowMinimum: 1_000 },
  live: [createTaxBandits({ http, ...taxbandits, now }), createCompliancely({ http, ...compliancely, now }), careless],
});

let org: string;
let entityId: string;
beforeEach(() => {
  org = newId("org");
  entityId = newId("ent");
  put(TIN);
  taxbandits.behave("by_digit");
  compliancely.behave("at_once");
  carelessness = "throws";
});

function put(tin: string, organizationId = org, legalName = "Smith & Sons, Inc.") {
  const subject = { legalName, tinHash: Buffer.from(`hash of ${tin.slice(-1)}`) };
  service.entities.put(organizationId, entityId, { subject, tin });
}

async function verify(mode = Mode.REALTIME, organizationId = org) {
  const call = { checks: [CheckType.TIN_MATCH], mode };
  const { first: result, ...others } = await verifyResult(service, { organizationId, entityId }, call);
  return { ...others, result };
}

describe("a TIN match", () => {
  test("that TaxBandits answers asks no other provider", async () => {
    const asked = compliancely.calls.length;
    const { result, attempts } = await verify();
    expect(result).toMatchObject({ status: CheckStatus.PASS, origin: "taxbandits", reason: "" });
    expect(attempts).toEqual(["taxbandits pass"]);
    expect(compliancely.calls).toHaveLength(asked);
  });

  test("says which TIN and which name it was about, also where it fails and where it is answered from the store", async () => {
    const asked = { irsCode: "0", tin: "****9360", name: "Smith & Sons Inc" };
    expect((await verify()).result.details).toMatchObject(asked);
    expect((await verify(Mode.CACHED)).result.details).toMatchObject(asked);
    put("471829363");
    expect((await verify()).result.details).toMatchObject({ ...asked, irsCode: "3", tin: "****9363" });
    put("471829365");
    expect((await verify()).result.details).toBeUndefined();
  });

  test.each([
    ["A&amp;M Foods LLC", "A&M Foods LLC"],
    ["NestlÃ© USA", "Nestle USA"],
    ["Acme &#52;&#55;1829360 Inc", "Acme ****9360 Inc"],
  ])("about %s is asked with the name as it was meant: %s", async (legalName, name) => {
    put(TIN, org, legalName);
    expect((await verify()).result.details).toMatchObject({ name });
    if (!name.includes("*"))
      expect(JSON.parse(taxbandits.matchCalls().at(-1)!.body)).toMatchObject({ BusinessNm: name });
  });

  test("reports what it was about to its consumers, so that monitors see another TIN or name", async () => {
    await verify();
    const records = await completedIn(service.databases.live);
    const completed = records.filter((record) => record.entityId === entityId);
    expect(completed.map(({ checks }) => checks[0]!.facts)).toEqual([{ tin: "****9360", name: "Smith & Sons Inc" }]);
  });

  test("where TaxBandits gives no answer, Compliancely does", async () => {
    taxbandits.behave("on_hold");
    const { result, attempts } = await verify();
    expect(result).toMatchObject({ status: CheckStatus.PASS, origin: "compliancely" });
    expect(attempts).toEqual(["taxbandits throw on_hold", "compliancely pass"]);
  });

  test("is an error with all attempts where no provider answers, also where the IRS refuses the question", async () => {
    put("471829365");
    compliancely.behave("outage");
    const { result, attempts } = await verify();
    expect(result).toMatchObject({ status: CheckStatus.ERROR, origin: "none", reason: "providers_failed" });
    expect(attempts).toEqual([
      "taxbandits throw irs_code_5",
      "compliancely throw irs_outage",
      "careless throw internal_error",
    ]);
  });

  test("is never shared: each organization's question is its own call, also at the same time", async () => {
    const other = newId("org");
    put(TIN, other);
    const asked = taxbandits.matchCalls().length;
    const [mine, theirs] = await Promise.all([verify(), verify(Mode.REALTIME, other), verify()]);
    expect(taxbandits.matchCalls()).toHaveLength(asked + 3);
    expect(mine!.evidence.id).not.toBe(theirs!.evidence.id);
    expect(JSON.parse(mine!.evidence.content).RecordId).not.toBe(JSON.parse(theirs!.evidence.content).RecordId);
  });
});

describe("neither a TIN nor a credential leaves", () => {
  const secrets = () => [
    ...["471829360", "471829363", "471829365"].flatMap(formsOf),
    taxbandits.credentials.clientSecret,
    taxbandits.credentials.userToken,
    compliancely.apiKey,
    "played-token",
    "eyJ",
  ];

  test("as evidence, even if a provider repeats everything it received", async () => {
    taxbandits.behave("indiscreet");
    const first = await verify();
    expect(JSON.parse(first.evidence.content)).toMatchObject({ asked: { TIN: "****9360" }, number: "****9360" });
    taxbandits.behave("down");
    compliancely.behave("indiscreet");
    const second = await verify();
    expect(JSON.parse(second.evidence.content)).toMatchObject({ tin: "****9360", apiKey: "****" });
  });

  test("as evidence of an adapter that forgot to mask", async () => {
    taxbandits.behave("down");
    compliancely.behave("down");
    carelessness = "says";
    const { evidence, result } = await verify();
    expect(result).toMatchObject({ status: CheckStatus.FAIL, origin: "careless" });
    expect(JSON.parse(evidence.content)).toEqual({ said: ["****9360", "****9360", "****9360"], number: "****9360" });
  });

  // Over all that was logged, traced and stored until then, by every test of this file.
  afterEach(async () => {
    expect(lines.length).toBeGreaterThan(0);
    expect(spans.some(({ name }) => name === "ask taxbandits")).toBe(true);
    const traced = JSON.stringify(
      spans.map(({ name, attributes, events, status }) => [name, attributes, events, status]),
    );
    const stored: Buffer[] = [];
    for (const db of Object.values(service.databases)) {
      for (const collection of await db.collections()) {
        stored.push(...((await collection.find({}, { raw: true }).toArray()) as unknown as Buffer[]));
      }
    }
    for (const secret of secrets()) {
      expect(JSON.stringify(lines)).not.toContain(secret);
      expect(traced).not.toContain(secret);
      for (const document of stored) expect(Buffer.from(document).includes(secret)).toBe(false);
    }
  });
});
