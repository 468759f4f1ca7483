import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { SecretKey } from "@vvs/config";
import { mongoProxy, startScript, temporaryFolder } from "@vvs/testing";
import { operator } from "../audit/audit.ts";
import { testAccount } from "../testing/account.ts";
import { people } from "../testing/people.ts";
import { type CommandLine, parseCommandLine, runCommand } from "./command-line.ts";
import { explain } from "./texts.ts";

const account = await testAccount();
/** A folder with a local run, whose variables the command finds by itself. */

const folder = temporaryFolder();
mkdirSync(join(folder, ".local"));
const ring = (keys: readonly SecretKey[]) => keys.map(({ id, key }) => `${id}:${key.toString("base64")}`).join(",");
const variables = {
  MONGODB_URI: process.env.MONGODB_URI!,
  MONGODB_DATABASE_PREFIX: account.prefix,
  API_KEY_PEPPERS: ring(account.apiKeyPeppers),
  WEBHOOK_SECRET_KEYS: ring(account.webhookSecretKeys),
};
writeFileSync(join(folder, ".local", "environment.json"), JSON.stringify(variables));

const admin = (args: string[], options: { stdin?: string; env?: NodeJS.ProcessEnv; cwd?: string } = {}) =>
  startScript(join(import.meta.dirname, "cli.ts"), args, { cwd: folder, ...options }).ended;

/** Runs a command in this process, which is much faster. */
async function run(args: readonly string[], stdin = "") {
  account.advance(1_000);
  return runCommand(account.domain, parseCommandLine(args) as CommandLine, async () => stdin);
}

/** Returns what a command prints with --json. */
const json = async (...args: string[]) => JSON.parse(JSON.stringify(await run([...args, "--json"], "piped horse")));

/** Returns the text with which a command fails. */
const failure = (args: readonly string[]) => run(args).then(() => "no failure", explain);

describe("the operator's command", () => {
  test("lists an organization's users, changes their roles, and turns off a lost authenticator app", async () => {
    const { _id: id } = await account.organization();
    const { newUser, signIn, turnOnApp, entries: entriesOf } = people(account);
    const user = await newUser("owner", id);
    const { _id: userId, email } = user;
    const caller = await signIn(user);
    await turnOnApp(caller);
    expect((await json("user", "list", "--organization", id)).users).toMatchObject([
      { id: userId, email, role: "owner", has_authenticator: true },
    ]);

    const turnedOff = await json("user", "turn-off-authenticator", "--email", email.toUpperCase());
    expect(turnedOff).toMatchObject({ id: userId, has_authenticator: false });
    await expect(account.domain.signIns.getSession(caller.token)).rejects.toMatchObject({ code: "unauthorized" });
    await expect(signIn(user)).resolves.toBeDefined();
    expect(await account.domain.store.mails.countDocuments({ kind: "authenticator_disabled" })).toBe(1);

    const setRole = ["user", "set-role", "--email", email, "--role", "read_only"];
    expect(await failure(setRole)).toBe("successor must be named: this is the last owner.");
    const { email: successor } = await newUser("developer", id);
    expect(await json(...setRole, "--successor", successor)).toMatchObject({ role: "read_only" });
    // What changes nothing is not noted.
    await account.domain.operatedUsers.turnOffAuthenticator(operator, email);
    await account.domain.operatedUsers.setRole(operator, { email, role: "read_only" });
    const entries = await entriesOf({ organization_id: id, actor: "operator" });
    expect(entries.map(({ action }) => action).sort()).toEqual([
      "member.role_changed",
      "member.role_changed",
      "organization.created",
      "user.created",
      "user.created",
      "user.totp_disabled",
    ]);
    expect(await json("user", "remove", "--email", email)).toMatchObject({ id: userId });
    expect((await json("user", "list", "--organization", id)).users).toMatchObject([
      { email: successor, role: "owner" },
    ]);
    const nobody = { email: "nobody@example.com", role: "owner" };
    await expect(account.domain.operatedUsers.setRole(operator, nobody)).rejects.toMatchObject({ code: "not_found" });
  });

  test("creates an organization, a user and a key, and ends them, all audited", async () => {
    const organization = await json("organization", "create", "--name", "Acme", "--plan", "starter");
    expect(organization).toMatchObject({ name: "Acme", plan: "starter", limit_per_minute: 100, status: "active" });
    const { id } = organization;

    const user = await json("user", "create", "--organization", id, "--email", "Owner@Example.com");
    expect(user).toMatchObject({ email: "owner@example.com", password: expect.stringMatching(/^[\w-]{20}$/) });
    expect((await account.domain.users.verifyPassword(user.email, user.password))?._id).toBe(user.id);
    const setPassword = await json("user", "set-password", "--email", user.email, "--password-stdin");
    expect(JSON.stringify(setPassword)).not.toContain("horse");
    expect(await account.domain.users.verifyPassword(user.email, "piped horse")).toBeDefined();

    const place = ["--organization", id, "--environment", "sandbox"];
    const key = await json("key", "create", ...place, "--name", "Try", "--scopes", "entities:read,monitors:read");
    expect(key).toMatchObject({ environment: "sandbox", scopes: ["entities:read", "monitors:read"] });
    expect((await account.domain.apiKeys.find(key.value))?._id).toBe(key.id);
    expect((await json("key", "revoke", key.id)).revoked_at).toBeDefined();
    expect((await json("key", "list", ...place)).keys).toHaveLength(1);

    const { secret } = await json("secret", "show", ...place);
    expect(await account.domain.webhookSecrets.getSigning({ organizationId: id, environment: "sandbox" })).toEqual([
      secret,
    ]);

    expect(await json("secret", "reseal")).toEqual({ renewed: 0, left: 0 });

    const enterprise = await json("organization", "set-plan", id, "--plan", "enterprise", "--limit", "2500");
    expect(enterprise.limit_per_minute).toBe(2_500);
    const budget = ["organization", "set-budget", id, "--provider", "taxbandits"] as const;
    const { provider_budgets } = await json(...budget, "--minute", "30", "--day", "5000");
    expect(provider_budgets.taxbandits).toEqual({ per_minute: 30, per_day: 5_000 });
    expect((await json(...budget)).provider_budgets.taxbandits).toEqual({ per_minute: 300, per_day: 200_000 });
    expect(enterprise.live_tin_match).toBe(false);
    expect((await json("organization", "approve-tin-match", id)).live_tin_match).toBe(true);
    expect((await json("organization", "withdraw-tin-match", id)).live_tin_match).toBe(false);
    const hosts = ["organization", "set-private-hosts", id] as const;
    expect((await json(...hosts, "--hosts", "a.internal, B.example,")).private_hosts).toEqual([
      "a.internal",
      "b.example",
    ]);
    expect((await json(...hosts)).private_hosts).toEqual([]);
    expect((await json("organization", "suspend", id)).status).toBe("suspended");
    expect((await json("organization", "resume", id)).status).toBe("active");
    expect((await json("organization", "list")).organizations).toContainEqual(expect.objectContaining({ id }));

    const entries = await account.domain.store.auditLog.find({ organization_id: id }).sort({ at: 1 }).toArray();
    expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set(["operator"]));
    expect(entries.map(({ action }) => action)).toEqual([
      "organization.created",
      "user.created",
      "user.password_set",
      "api_key.created",
      "api_key.revoked",
      "webhook_secret.shown",
      "organization.plan_changed",
      "organization.provider_budget_changed",
      "organization.provider_budget_changed",
      "organization.tin_match_approved",
      "organization.tin_match_withdrawn",
      "organization.private_hosts_changed",
      "organization.private_hosts_changed",
      "organization.suspended",
      "organization.resumed",
    ]);
  });

  test("prints lines for people or one JSON object, reads a password, and explains its usage", async () => {
    const created = await admin(["organization", "create", "--name", "Bolt", "--plan", "growth"]);
    expect(created.stdout).toMatch(/^organization create: done\nid: org_\w+\nname: Bolt\nplan: growth\n/);
    expect((await admin(["organization", "list"])).stdout).toMatch(/^org_\w+ {2}Bolt {2}growth {2}500 {2}active/m);
    const id = /org_\w+/.exec(created.stdout)![0];
    const user = ["user", "create", "--organization", id, "--email", "piped@example.com", "--password-stdin", "--json"];
    const { stdout, stderr, code } = await admin(user, { stdin: "piped horse\n" });
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout).not.toContain("horse");
    expect(JSON.parse(stdout)).toMatchObject({ email: "piped@example.com" });
    expect(await account.domain.users.verifyPassword("piped@example.com", "piped horse")).toBeDefined();
    const { id: agreed } = await json("organization", "create", "--name", "C", "--plan", "enterprise", "--limit", "9");
    const budget = ["organization", "set-budget", agreed, "--provider", "taxbandits", "--minute", "30", "--day", "500"];
    expect((await admin(budget)).stdout).toContain('"taxbandits":{"per_minute":30,"per_day":500}');
    const help = await admin([]);
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining("organization set-plan ORGANIZATION_ID") });
  });

  test.each([
    [["organization", "explode"], 'There is no command "organization explode".'],
    [["organization", "create", "--name", "A"], "--plan is missing."],
    [["organization", "create", "--name", "A", "--plan", "gold"], "plan must be one of starter, growth, enterprise."],
    [["organization", "create", "--name", "A", "--plan", "enterprise"], "limit must be a whole number"],
    [["organization", "create", "--nmae", "A"], "Unknown option '--nmae'"],
    [["organization", "list", "--plan", "growth"], '"organization list" does not take --plan.'],
    [["organization", "suspend"], "Usage: npm run admin -- organization suspend ORGANIZATION_ID"],
    [["organization", "suspend", "org_x"], "There is no such organization."],
    [["key", "revoke", "key_x"], "There is no such API key."],
    [
      ["key", "list", "--organization", "org_x", "--environment", "prod"],
      "--environment must be one of live, sandbox.",
    ],
    [
      ["user", "create", "--organization", "org_x", "--email", "a@b", "--password-stdin"],
      "password must be 8–200 characters.",
    ],
  ])("%p fails with one clear text", async (args, message) => {
    const text = await failure(args);
    expect(text).toContain(message);
    expect(text).not.toMatch(/\n\s+at /);
  });

  test("that fails prints only the text, with exit code 1", async () => {
    for (const args of [
      ["organization", "suspend"],
      ["organization", "suspend", "org_x"],
    ]) {
      const { stdout, stderr, code } = await admin(args);
      expect({ stdout, stderr, code }).toEqual({ stdout: "", stderr: `${await failure(args)}\n`, code: 1 });
    }
  });

  test("does not wait for an unavailable database", async () => {
    const { stderr, code } = await admin(["organization", "list"], {
      env: { ...variables, MONGODB_URI: "mongodb://127.0.0.1:1/?directConnection=true" },
    });
    expect({ stderr, code }).toEqual({ stderr: "MongoDB can't be reached at MONGODB_URI.\n", code: 1 });
  });

  test("says so if it is unknown whether a command took effect", async () => {
    const proxy = await mongoProxy(process.env.MONGODB_URI!);
    proxy.loseReply("commitTransaction", "hold");
    const { stderr, code } = await admin(["organization", "create", "--name", "Unknown", "--plan", "growth"], {
      env: { ...variables, MONGODB_URI: proxy.uri },
    });
    proxy.close();
    expect({ stderr, code }).toEqual({ stderr: expect.stringContaining("it is unknown whether"), code: 1 });
    expect((await admin(["organization", "list"])).stdout).toContain("Unknown");
  });

  test("names the missing variables if there is neither a configuration nor a local run", async () => {
    const { stderr, code } = await admin(["organization", "list"], { cwd: tmpdir() });
    expect(code).toBe(1);
    expect(stderr).toContain("MONGODB_URI: is required");
    expect(stderr).toContain("API_KEY_PEPPERS: is required");
  });
});
