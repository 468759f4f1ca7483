import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";
import { curlCommand } from "./curl.ts";

const options = { baseUrl: new URL("https://api.acme.example/"), key: "KEY" };

/** Returns the arguments that a shell passes to curl. */
const argumentsOf = (command: string) =>
  execFileSync("sh", ["-c", `curl() { printf '%s\\0' "$@"; }; ${command}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);

test("a call is a curl command whose JSON reaches the API unchanged, whatever is in it", () => {
  const body = { legal_name: `O'Neil & "Sons" $HOME \`id\` \\ <b>` };
  const words = argumentsOf(curlCommand({ path: "/v1/entities/lookup", body }, options));
  expect(words[0]).toBe("https://api.acme.example/v1/entities/lookup");
  expect(words).toContain("Authorization: Bearer KEY");
  expect(JSON.parse(words.at(-1)!)).toEqual(body);
});

test("a call without a body is a GET, with its query as one word", () => {
  expect(argumentsOf(curlCommand({ path: "/v1/monitors" }, options))).toHaveLength(3);
  expect(argumentsOf(curlCommand({ path: "/v1/events?limit=5&after=x" }, options))[0]).toMatch(/\?limit=5&after=x$/);
});
