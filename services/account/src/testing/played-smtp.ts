// For tests: an SMTP server that takes mails, refuses them, hangs or cuts the connection.
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { listening } from "@vvs/testing";

/** What the server does at a step of a conversation: an answer such as "451 later", or one of these. */
export type Answer = string | "hang" | "cut";

export interface PlayedSmtp {
  readonly url: URL;
  /** What was taken, as it came over the wire, with the addresses of RCPT TO. */
  readonly taken: { readonly recipient: string; readonly content: string }[];
  /** Commands of all conversations. */
  readonly commands: string[];
  /** What it says from now on to commands that begin so; "." is the end of a mail, "" the greeting. */
  readonly answers: Map<string, Answer>;
}

const USUAL: readonly (readonly [string, string])[] = [
  ["EHLO", "250-played\r\n250 AUTH PLAIN"],
  ["AUTH", "235 welcome"],
  ["MAIL FROM", "250 fine"],
  ["RCPT TO", "250 fine"],
  ["DATA", "354 go on"],
  ["QUIT", "221 bye"],
];

export async function playSmtp(): Promise<PlayedSmtp> {
  const taken: PlayedSmtp["taken"] = [];
  const commands: string[] = [];
  const answers = new Map<string, Answer>();

  function say(socket: Socket, step: string, usual: string): boolean {
    const answer = answers.get(step) ?? usual;
    if (answer === "hang") return false;
    if (answer === "cut") socket.destroy();
    else socket.write(`${answer}\r\n`);
    return answer.startsWith("2") || answer.startsWith("3");
  }

  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    let recipient = "";
    let content: string[] | undefined;
    say(socket, "", "220 played");
    createInterface({ input: socket }).on("line", (line) => {
      if (content && line !== ".") {
        content.push(line);
        return;
      }
      if (content) {
        const mail = { recipient, content: content.join("\n") };
        content = undefined;
        if (say(socket, ".", "250 taken")) taken.push(mail);
        return;
      }
      commands.push(line);
      const [step, usual] = USUAL.find(([begin]) => line.startsWith(begin)) ?? [line, "500 what?"];
      if (step === "RCPT TO") recipient = /<(.*)>/.exec(line)?.[1] ?? "";
      if (say(socket, step, usual) && step === "DATA") content = [];
    });
  });
  return { url: new URL(`smtp://127.0.0.1:${await listening(server)}`), taken, commands, answers };
}
