import { expect, test } from "@jest/globals";
import { commands } from "./commands/index.ts";
import { answer, LIVE_KEY, refuse, startApi, TEST_KEY, verificationOf } from "./testing/fake-api.ts";
import { runProgram } from "./testing/run-program.ts";
import { VERSION } from "./version.ts";

const verifyUei = (uei: string) => ["verify", "--uei", uei];

test("--help lists every command and exit code, and each command describes all its options", async () => {
  const { code, stdout } = await runProgram(["--help"]);
  expect(code).toBe(0);
  for (const { name, summary } of commands)
    expect(stdout).toMatch(new RegExp(`${name} +${summary.replace(".", "\\.")}`));
  for (const command of commands) {
    const help = await runProgram([...command.name.split(" "), "--help"]);
    expect([help.code, help.stdout]).toEqual([
      0,
      expect.stringContaining(`Usage: vendor-verification ${command.name}`),
    ]);
    for (const option of Object.keys(command.options ?? {})) expect(help.stdout).toContain(`--${option}`);
    // An interactive zsh passes a comment on as arguments.
    expect(help.stdout).not.toMatch(/^ +vendor-verification .* #/m);
  }
});

test("`monitors` lists its commands, and --version prints that of the package", async () => {
  const { stdout } = await runProgram(["monitors", "--help"]);
  expect(stdout).toContain("monitors cancel");
  expect(stdout).not.toContain("lookup");
  const { default: manifest } = await import("../package.json", { with: { type: "json" } });
  expect([VERSION, (await runProgram(["--version"])).stdout]).toEqual([manifest.version, `${manifest.version}\n`]);
});

test.each([
  [["fly"], "Unknown command 'fly'. See vendor-verification --help."],
  [["montors", "list"], "Unknown command 'montors' (Did you mean monitors?)."],
  [["monitors", "lst"], "Unknown command 'lst' (Did you mean list?). See vendor-verification monitors --help."],
  [["monitors"], "A command is missing. See vendor-verification monitors --help."],
  [["verify", "--speed", "9"], "Unknown option '--speed'. See vendor-verification verify --help."],
  [["verify", "--eui", "A"], "Unknown option '--eui' (Did you mean --uei?)."],
  [["verify", "--uei"], "Option '--uei <UEI>' argument missing"],
  [["verify"], "Give --entity"],
  [["verify", "--uei", "A", "--entity", "ent_1"], "Give --entity"],
  [["verify", "--uei", "A", "--checks", "credit"], "--checks must be sam_registration or tin_match"],
  [["verify", "--uei", "A", "--mode", "fast"], "--mode must be realtime or cached"],
  [["verify", "a.csv"], "--out is missing"],
  [["verify", "a.csv", "--out", "b.csv", "--uei", "A"], "--uei can't be given together with a file"],
  [["verify", "a.csv", "--out", "b.csv", "--monitor", "often"], "--monitor must be hourly or daily"],
  [["verify", "a.csv", "--out", "b.csv", "--job", "job_1", "--mode", "cached"], "--mode can't be given together with"],
  [["verify", "a.csv", "--job", "job_1", "--no-wait"], "--out is missing"],
  [
    ["verify", "a.csv", "--out", "b.csv", "--job", "job_1", "--idempotency-key", "k"],
    "--idempotency-key can't be given",
  ],
  [["verify", "--uei", "A", "--job", "job_1"], "--job can't be given without a file"],
  [["verify", "/nowhere/a.csv", "--out", "/nowhere/b.csv"], "There is no file /nowhere/a.csv"],
  [["verify", "a.csv", "b.csv", "--out", "c.csv"], "Expected 1 argument but got 2. See"],
  [["lookup"], "Give an identifier"],
  [["monitors", "cancel"], "Missing required argument 'MON_ID'. See vendor-verification monitors cancel --help."],
  [["monitors", "get", ""], "'MON_ID'. It is empty."],
  [["monitors", "update", "mon_1"], "Give --frequency, --webhook-url or --external-id."],
  [["monitors", "update", "mon_1", "--frequency", "often"], "--frequency must be hourly or daily"],
  [["entities", "create", "--uei", "A"], "--name is missing"],
  [["entities", "create", "--name", "A", "--city", "Reston"], "--line1 is missing"],
  [["monitors", "list", "--limit", "-1"], "--limit"],
  [["events", "--after", "start"], "--after needs --follow"],
  [["listen"], "--forward-to is missing"],
  [["listen", "--forward-to", "localhost:3000"], "--forward-to must be an http or https URL"],
  [["listen", "--forward-to", "http://localhost:1", "--secret", "abc"], "--secret must be whsec_"],
])("%j is a usage error", async (args, message) => {
  await using api = await startApi((_call, response) => answer(response, 200, {}));
  const { code, stderr, stdout } = await runProgram(args, { env: api.env });
  expect([code, stdout, api.calls.length]).toEqual([2, "", 0]);
  expect(stderr).toContain(message);
  expect(stderr).toMatch(/^.+\.\n$/);
});

test("without a key every command says how to sign in", async () => {
  const { code, stderr } = await runProgram(verifyUei("UP"));
  expect([code, stderr]).toEqual([2, expect.stringContaining("vendor-verification login")]);
});

test.each([
  ["UP", 0, "PASS"],
  ["UF", 1, "FAIL"],
  ["UX", 5, "ERROR"],
])("verifying %s exits with %p and prints %s, or the verification as JSON", async (uei, code, word) => {
  await using api = await startApi((call, response) => answer(response, 200, verificationOf(call)));
  const people = await runProgram(verifyUei(uei), { env: api.env });
  expect([people.code, people.stdout.split(" ")[0]]).toEqual([code, word]);
  const scripts = await runProgram([...verifyUei(uei), "--json"], { env: api.env });
  expect([scripts.code, JSON.parse(scripts.stdout)]).toEqual([code, verificationOf(api.calls[1]!)]);
  expect(api.calls[0]).toMatchObject({
    key: TEST_KEY,
    body: { identifiers: { uei }, checks: ["sam_registration"], mode: "realtime" },
  });
});

test.each([
  [401, "unauthorized", 3],
  [403, "forbidden", 3],
  [409, "entity_exists", 3],
  [400, "invalid_request", 3],
])("a refusal with %p %s exits with %p, in words and as JSON", async (status, error, code) => {
  const details = [{ path: "identifiers.uei", message: "must be 12 characters" }];
  const doc_url = `http://docs/#${error}`;
  await using api = await startApi((_call, response) => refuse(response, status, error, { details, doc_url }));
  const people = await runProgram(verifyUei("A"), { env: api.env });
  expect([people.code, people.stdout]).toEqual([code, ""]);
  expect(people.stderr).toBe(
    `Refused: ${error}. identifiers.uei must be 12 characters. (request req_1, http://docs/#${error})\n`,
  );
  const scripts = await runProgram([...verifyUei("A"), "--json"], { env: api.env });
  const message = `Refused: ${error}.`;
  expect(JSON.parse(scripts.stderr)).toEqual({ error, message, status, request_id: "req_1", doc_url, details });
});

test("a problem that the message names is not printed twice", async () => {
  const details = [{ path: "identifiers.uei", message: "must be 12 letters and digits" }];
  const message = "The request is invalid: identifiers.uei must be 12 letters and digits.";
  await using api = await startApi((_call, response) => refuse(response, 400, "invalid_request", { details, message }));
  const { stderr } = await runProgram(verifyUei("A"), { env: api.env });
  expect(stderr).toBe(`${message} (request req_1)\n`);
});

test("an unknown id is one line with what to do", async () => {
  await using api = await startApi((_call, response) =>
    refuse(response, 404, "monitor_not_found", { message: "No such monitor." }),
  );
  const { code, stderr } = await runProgram(["monitors", "get", "mon_1"], { env: api.env });
  expect([code, stderr]).toEqual([
    3,
    "No such monitor. Check the id, and that the key is of the same organization and environment. (request req_1)\n",
  ]);
});

test("if no server answers, the message names the address", async () => {
  const api = await startApi(() => {});
  await api[Symbol.asyncDispose]();
  const { code, stderr } = await runProgram(["events"], { env: api.env });
  expect([code, stderr]).toEqual([
    4,
    `No answer from ${api.url}: ECONNREFUSED. Check the address and the network, or try again later.\n`,
  ]);
});

test("an answer of another server says to check the address", async () => {
  await using api = await startApi((_call, response) => void response.writeHead(404).end("<html>"));
  const { code, stderr } = await runProgram(["events"], { env: api.env });
  expect([code, stderr]).toEqual([3, expect.stringMatching(/answered 404, but not .* Check the address\./)]);
});

test.each([[verifyUei("A")], [["entities", "create", "--name", "Acme"]], [["monitors", "create", "ent_1"]]])(
  "%j with an unknown outcome exits with 4 and prints the key that repeats it",
  async (args) => {
    const headers = { "Retry-After": "3600" };
    await using api = await startApi((_call, response) => refuse(response, 503, "service_unavailable", { headers }));
    const { code, stderr } = await runProgram(args, { env: api.env });
    const { idempotencyKey } = api.calls[0]!;
    expect([code, stderr]).toEqual([4, expect.stringContaining(`--idempotency-key ${idempotencyKey} `)]);
    const again = await runProgram([...args, "--idempotency-key", idempotencyKey!, "--json"], { env: api.env });
    expect(JSON.parse(again.stderr)).toMatchObject({ error: "service_unavailable", idempotency_key: idempotencyKey });
    expect(api.calls[1]).toEqual(api.calls[0]);
  },
);

test("a fault of the program is one line without a stack", async () => {
  await using api = await startApi((_call, response) => answer(response, 200, {}));
  const { code, stderr } = await runProgram(["monitors", "get", ".."], { env: api.env });
  expect([code, stderr]).toEqual([70, expect.stringMatching(/^"\.\." is not an id\. This is a fault .+\n$/)]);
});

test("Ctrl-C exits with 130", async () => {
  const aborting = new AbortController();
  await using api = await startApi(() => aborting.abort());
  const { code, stderr } = await runProgram(verifyUei("A"), { env: api.env, signal: aborting.signal });
  expect([code, stderr]).toEqual([130, ""]);
});

test("a look-up exits with 0 for an entity, 1 for candidates and for none", async () => {
  const entity = {
    id: "ent_1",
    legal_name: "Acme",
    identifiers: { uei: "A" },
    sam_gov: { registration_status: "active" },
    addresses: [],
    confidence: 1,
    sources: [{ name: "sam_gov_extract", retrieved_at: "2026-11-21T09:30:00.000Z" }],
  };
  const candidates = [{ id: "ent_1", legal_name: "Acme", confidence: 0.7 }];
  const answers: Record<string, (response: Parameters<typeof answer>[0]) => void> = {
    one: (response) => answer(response, 200, entity),
    several: (response) => answer(response, 200, { candidates }),
    ambiguous: (response) => refuse(response, 409, "ambiguous_match", { candidates }),
    none: (response) => refuse(response, 404, "entity_not_found"),
  };
  await using api = await startApi(({ body }, response) => answers[body.legal_name]!(response));
  const codeOf = async (name: string) =>
    (await runProgram(["lookup", "--name", name, "--fuzzy"], { env: api.env })).code;
  expect([await codeOf("one"), await codeOf("several"), await codeOf("ambiguous"), await codeOf("none")]).toEqual([
    0, 1, 1, 1,
  ]);
  const { stdout } = await runProgram(["lookup", "--name", "one"], { env: api.env });
  expect(stdout).toMatch(/Name +Acme/);
  const { stderr } = await runProgram(["lookup", "--name", "ambiguous"], { env: api.env });
  expect(stderr).toBe("Refused: ambiguous_match. Candidates: ent_1 (Acme). (request req_1)\n");
});

test.each<[args: string[], method: string, path: string, body: object | undefined]>([
  [["evidence", "http://api.example/v1/evidence/evd_1"], "GET", "/v1/evidence/evd_1", undefined],
  [["entities", "get", "ent_1"], "GET", "/v1/entities/ent_1", undefined],
  [["entities", "list", "--external-id", "V 1"], "GET", "/v1/entities?limit=25&external_id=V+1", undefined],
  [
    ["entities", "create", "--name", "Acme", "--tin", "123456780", "--line1", "1 Way", "--city", "Reston"].concat(
      ...["--state", "VA", "--zip", "20190"],
    ),
    "POST",
    "/v1/entities",
    {
      legal_name: "Acme",
      identifiers: { tin: "123456780" },
      address: { line1: "1 Way", city: "Reston", state: "VA", zip: "20190", country: "US" },
    },
  ],
  [["providers"], "GET", "/v1/providers", undefined],
  [["monitors", "get", "mon_1"], "GET", "/v1/monitors/mon_1", undefined],
  [
    ["monitors", "update", "mon_1", "--frequency", "weekly", "--webhook-url", ""],
    "PATCH",
    "/v1/monitors/mon_1",
    { frequency: "weekly", webhook_url: null },
  ],
  [
    ["monitors", "list", "--entity", "ent_1", "--external-id", "V 1"],
    "GET",
    "/v1/monitors?limit=25&entity_id=ent_1&external_id=V+1",
    undefined,
  ],
  [["monitors", "runs", "mon_1", "--limit", "200"], "GET", "/v1/monitors/mon_1/runs?limit=100", undefined],
])("%j makes one call", async (args, method, path, body) => {
  const answers = {
    entities: [{ id: "ent_1" }],
    monitors: [{ id: "mon_1" }],
    runs: [{ at: "a" }],
    providers: [{ name: "p" }],
    next_cursor: null,
  };
  await using api = await startApi((_call, response) => answer(response, 200, answers));
  const { code, stdout, stderr } = await runProgram([...args, "--json"], { env: api.env });
  expect([code, stderr, JSON.parse(stdout)]).toEqual([0, "", expect.any(Object)]);
  expect(api.calls).toEqual([expect.objectContaining({ method, path, body })]);
});

test("a name can't change what the terminal shows", async () => {
  const monitor = { id: "mon_1", entity_id: "\u001b[2Jent_1", checks: [], frequency: "daily", status: "active" };
  await using api = await startApi((_call, response) =>
    answer(response, 200, { monitors: [monitor], next_cursor: null }),
  );
  const { stdout } = await runProgram(["monitors", "list"], { env: api.env });
  expect(stdout).toContain(" [2Jent_1");
  expect(stdout).not.toContain("\u001b");
});

test("lists read as many pages as they need and print JSON lines", async () => {
  await using api = await startApi(({ path }, response) => {
    const first = !path.includes("cursor");
    const monitors = first ? [{ id: "mon_3" }, { id: "mon_2" }] : [{ id: "mon_1" }];
    answer(response, 200, { monitors, next_cursor: first ? "c" : null });
  });
  const { stdout } = await runProgram(["monitors", "list", "--json", "--limit", "3"], { env: api.env });
  expect(stdout).toBe('{"id":"mon_3"}\n{"id":"mon_2"}\n{"id":"mon_1"}\n');
});

test("a live key makes no change for testing", async () => {
  await using api = await startApi((_call, response) => answer(response, 200, {}));
  const { code } = await runProgram(["trigger"], { env: { ...api.env, VENDOR_VERIFICATION_API_KEY: LIVE_KEY } });
  expect([code, api.calls.length]).toEqual([2, 0]);
});
