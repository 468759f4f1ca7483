import { beforeEach, expect, test } from "@jest/globals";
import { type Mail, MailRefusedError } from "../model/mail.ts";
import { type PlayedSmtp, playSmtp } from "../testing/played-smtp.ts";
import { createSmtpTransport } from "./smtp.ts";

let server: PlayedSmtp;
beforeEach(async () => {
  server = await playSmtp();
});

const mail: Mail = {
  kind: "sign_up",
  to: "vendor@customer.example",
  subject: "Confirm your email address — today",
  text: "Hello,\nopen https://dashboard.example/verify?token=0123456789\n",
};

function transport(options: { requireTls?: boolean; idleMs?: number; user?: string } = {}) {
  const url = new URL(server.url);
  if (options.user) [url.username, url.password] = [options.user, "p%40ss"];
  const { requireTls = false, idleMs } = options;
  return createSmtpTransport({ url, requireTls, idleMs, from: "Vendor Verification <no-reply@vvs.example>" });
}

async function failure(sending: Promise<void>): Promise<Error> {
  const error = await sending.catch((reason: Error) => reason);
  expect(error).toBeInstanceOf(Error);
  return error as Error;
}

test("a mail reaches the server with its addresses, subject, text and the same id at each attempt", async () => {
  await transport({ user: "mailer" }).send("mail_1", mail);
  await transport({ user: "mailer" }).send("mail_1", mail);
  expect(server.taken).toHaveLength(2);
  const [{ recipient, content }] = server.taken as [PlayedSmtp["taken"][number]];
  expect(recipient).toBe(mail.to);
  expect(content).toContain("From: Vendor Verification <no-reply@vvs.example>");
  expect(content).toContain("To: vendor@customer.example");
  expect(content).toContain("Auto-Submitted: auto-generated");
  expect(content.replaceAll("=\n", "").replaceAll("=3D", "=")).toContain("/verify?token=0123456789");
  for (const each of server.taken) expect(each.content).toContain("Message-ID: <mail_1@vvs.example>");
  const credentials = Buffer.from("\0mailer\0p@ss").toString("base64");
  expect(server.commands).toContain(`AUTH PLAIN ${credentials}`);
});

test("an email with HTML has both texts, and a link with which one POST ends such emails", async () => {
  const unsubscribeUrl = `https://dashboard.example/unsubscribe?token=usr_1.${"a".repeat(43)}`;
  await transport().send("mail_1", { ...mail, html: "<p>Hello</p>", unsubscribeUrl });
  const [{ content }] = server.taken as [PlayedSmtp["taken"][number]];
  expect(content).toMatch(/^Content-Type: multipart\/alternative/m);
  expect(content).toContain("Content-Type: text/plain");
  expect(content).toContain("<p>Hello</p>");
  expect(content.replaceAll(/\n\s+/g, " ").replaceAll(" <", "<")).toContain(`List-Unsubscribe:<${unsubscribeUrl}>`);
  expect(content).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
});

test("an address with what separates addresses stays one", async () => {
  await transport().send("mail_1", { ...mail, to: "a,b@customer.example" });
  expect(server.commands.filter((line) => line.startsWith("RCPT TO"))).toHaveLength(1);
});

test.each([
  ["RCPT TO", "550 no such user"],
  ["DATA", "554 not this one"],
  [".", "552 too much"],
])("a 5xx at %p is final", async (step, answer) => {
  server.answers.set(step, answer);
  expect(await failure(transport().send("mail_1", mail))).toBeInstanceOf(MailRefusedError);
});

test.each([
  ["", "421 too many"],
  ["EHLO", "500 what?"],
  ["MAIL FROM", "553 not from you"],
  ["RCPT TO", "451 later"],
  [".", "452 full"],
  ["", "cut"],
  ["RCPT TO", "cut"],
  [".", "cut"],
])("%p answered by %p is worth another attempt", async (step, answer) => {
  server.answers.set(step, answer);
  if (step === "EHLO") server.answers.set("HELO", answer);
  expect(await failure(transport().send("mail_1", mail))).not.toBeInstanceOf(MailRefusedError);
});

test("a refused sign-in is worth another attempt, and tells neither password nor address", async () => {
  server.answers.set("AUTH", "535 wrong, p@ss of vendor@customer.example");
  const error = await failure(transport({ user: "mailer" }).send("mail_1", mail));
  expect(error).not.toBeInstanceOf(MailRefusedError);
  expect(error.message).toBe("SMTP EAUTH AUTH PLAIN 535");
});

test.each(["", "MAIL FROM", "."])("a server that falls silent at %p is left", async (step) => {
  server.answers.set(step, "hang");
  expect(await failure(transport({ idleMs: 50 }).send("mail_1", mail))).not.toBeInstanceOf(MailRefusedError);
});

test("nothing is said in clear where TLS is required", async () => {
  const error = await failure(transport({ requireTls: true, user: "mailer" }).send("mail_1", mail));
  expect(error).not.toBeInstanceOf(MailRefusedError);
  expect(server.commands.filter((line) => /^(AUTH|MAIL)/.test(line))).toEqual([]);
  expect(server.taken).toEqual([]);
});
