import { beforeEach, describe, expect, test } from "@jest/globals";
import type { CallerContext } from "@vvs/tenant";
import { operator } from "../audit/audit.ts";
import type { UserDocument } from "../store.ts";
import { testAccount } from "../testing/account.ts";
import { callerOf, people } from "../testing/people.ts";
import { newWebhookSecret } from "../webhook-secrets/secret-rotation.ts";
import { MAX_NOTICES } from "./notices.ts";

const account = await testAccount();
const { newUser, signIn, addPasskey } = people(account);
let owners: string[];
let developer: string;
let reader: UserDocument;
let caller: CallerContext;

beforeEach(async () => {
  account.advance(60 * 60_000);
  await account.domain.store.mails.deleteMany({});
  const ada = await newUser();
  const bob = await newUser("owner", ada.organization_id);
  const dev = await newUser("developer", ada.organization_id);
  reader = await newUser("read_only", ada.organization_id);
  owners = [ada.email, bob.email];
  developer = dev.email;
  caller = callerOf(dev);
});

const newKey = (name = "Billing") => account.domain.apiKeys.create(caller, { name });
const subjects = async (email: string) => (await account.mailsTo(email)).map(({ subject }) => subject);

describe("the owners and the member who did it get an email", () => {
  test.each<[string, () => Promise<unknown>, string[]]>([
    ["a new API key", newKey, ["An API key was created"]],
    [
      "a key that was replaced",
      async () => account.domain.apiKeys.roll(caller, { keyId: (await newKey()).key._id, overlapSeconds: 0 }),
      ["An API key was created", "An API key was replaced"],
    ],
    [
      "a key that was revoked",
      async () => account.domain.apiKeys.revoke(caller, (await newKey()).key._id),
      ["An API key was created", "An API key was revoked"],
    ],
    [
      "a webhook secret of the member's own",
      () => account.domain.webhookSecrets.set(caller, { value: newWebhookSecret(), endPreviousNow: true }),
      ["The webhook secret was replaced"],
    ],
    [
      "a rotated webhook secret",
      () => account.domain.webhookSecrets.rotate(caller, { endPreviousNow: false }),
      ["The webhook secret was replaced"],
    ],
    [
      "a previous webhook secret that was ended",
      async () => {
        await account.domain.webhookSecrets.rotate(caller, { endPreviousNow: false });
        await account.domain.webhookSecrets.endPrevious(caller);
      },
      ["The webhook secret was replaced", "The previous webhook secret was ended"],
    ],
  ])("about %s", async (_name, change, expected) => {
    await change();
    for (const email of [...owners, developer]) expect((await subjects(email)).sort()).toEqual(expected.sort());
    expect(await account.mailsTo(reader.email)).toEqual([]);
  });
});

test("an email names who did what from where, has no link, and nothing that anybody typed", async () => {
  const { key } = await newKey("Win at evil.example");
  const [mail] = await account.mailsTo(owners[0]!);
  expect(mail!.text).toContain(
    `${developer} created the API key ${key.start}…${key.last_four} of the live environment.`,
  );
  expect(mail!.text).toContain(`The request came from the IP address ${caller.clientAddress}`);
  expect(mail!.text).not.toMatch(/https?:|evil|token/);
});

test("changes by the operator are announced as well", async () => {
  const { key } = await newKey();
  await account.domain.apiKeys.revokeAny(operator, key._id);
  const texts = (await account.mailsTo(owners[0]!)).map(({ text }) => text);
  expect(texts.join()).toContain("The operator revoked the API key");
});

test("a change that fails tells nobody", async () => {
  await expect(newKey("")).rejects.toMatchObject({ code: "invalid_request" });
  const rolled = account.domain.apiKeys.roll(caller, { keyId: "key_other", overlapSeconds: 0 });
  await expect(rolled).rejects.toMatchObject({ code: "not_found" });
  expect(await account.mailsTo(owners[0]!)).toEqual([]);
});

test("nobody can make us send emails without end: the last one of an hour says so, and later ones come again", async () => {
  const change = () => account.domain.webhookSecrets.rotate(caller, { endPreviousNow: true });
  for (let n = 0; n < MAX_NOTICES + 5; n++) {
    account.advance(1);
    await change();
  }
  const mails = await account.mailsTo(owners[0]!);
  expect(mails).toHaveLength(MAX_NOTICES);
  const last = mails.filter(({ text }) => text.includes("there is no email about the next ones"));
  expect(last).toHaveLength(1);
  account.advance(60 * 60_000);
  await change();
  expect(await account.mailsTo(owners[0]!)).toHaveLength(MAX_NOTICES + 1);
});

test("changes with several entries cause the last email as well", async () => {
  const rotate = () => account.domain.webhookSecrets.rotate(caller, { endPreviousNow: true });
  const { key } = await newKey();
  for (let n = 2; n < MAX_NOTICES; n++) await rotate();
  account.advance(1);
  await account.domain.apiKeys.roll(caller, { keyId: key._id, overlapSeconds: 0 });
  await rotate();
  const mails = await account.mailsTo(owners[0]!);
  expect(mails.at(-1)).toMatchObject({
    subject: "An API key was replaced",
    text: expect.stringContaining("there is no email about the next ones"),
  });
});

test("the member who did it gets the email, and is named, also where there are very many owners", async () => {
  const { users } = account.domain.store;
  const owner = (await users.findOne({ email: owners[0]! }))!;
  const many = Array.from({ length: 101 }, (_, n) => ({
    ...owner,
    _id: `usr_00000${n}`,
    email: `owner${n}@example.com`,
  }));
  await users.insertMany(many);
  await newKey();
  const [mail] = await account.mailsTo(developer);
  expect(mail!.text).toContain(`${developer} created the API key`);
});

test("a user gets an email when a passkey is added to their account or removed from it", async () => {
  const session = await signIn(reader);
  const { _id } = await addPasskey(session, "evil.example");
  account.advance(1);
  await account.domain.passkeys.remove(session, _id);
  await account.domain.passkeys.remove(session, _id);
  const mails = await account.mailsTo(reader.email);
  expect(mails.map(({ subject }) => subject)).toEqual(["A passkey was added", "A passkey was removed"]);
  for (const { text } of mails) expect(text).not.toMatch(/https?:|evil/);
  expect(await account.mailsTo(owners[0]!)).toEqual([]);
});
