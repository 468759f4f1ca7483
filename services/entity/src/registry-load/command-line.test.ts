import { describe, expect, test } from "@jest/globals";
import { parseCommand, UsageError } from "./command-line.ts";

const now = new Date("2026-11-21T23:00:00Z");

describe("a command line", () => {
  test.each([
    ["download registry", { name: "download", wanted: { kind: "registry", date: "2026-11" }, directory: "." }],
    ["download registry --date 2026-09", { wanted: { kind: "registry", date: "2026-09" } }],
    ["download exclusions --to files", { wanted: { kind: "exclusions", date: "2026-11-21" }, directory: "files" }],
    ["refresh exclusions", { name: "refresh", kinds: ["exclusions"], directory: ".", acceptFewer: false }],
    ["refresh exclusions registry --to d --accept-fewer", { kinds: ["registry", "exclusions"], acceptFewer: true }],
    ["load --registry a.dat", { name: "load", registry: "a.dat", acceptFewer: false, environment: "live" }],
    ["load --exclusions b.csv --accept-fewer", { exclusions: "b.csv", acceptFewer: true }],
    ["loads", { name: "loads" }],
    ["changes a.dat", { name: "changes", load: "a.dat" }],
    ["withdraw a.dat --reason wrong", { name: "withdraw", load: "a.dat", reason: "wrong" }],
    ["plan", { name: "plan", monitored: undefined }],
    ["plan --monitored 5000", { monitored: 5_000 }],
    ["quarantine registry:0f", { name: "quarantine", load: "registry:0f" }],
    ["verify-snapshots --environment sandbox", { name: "verify-snapshots", environment: "sandbox" }],
  ])("%s", (line, command) => expect(parseCommand(line.split(" "), now)).toMatchObject(command));

  test.each([
    ...["", "load", "load x", "load --registry", "load a.dat --registry b.dat", "changes", "changes a b", "unload x"],
    ...["download", "download sanctions", "download registry --date 2026-13", "download exclusions --date 2026-02-30"],
    ...["loads --environment moon", "loads --fast", "withdraw", "withdraw a.dat", "withdraw --reason wrong"],
    ...["refresh", "refresh all", "refresh registry registry", "refresh registry --environment sandbox"],
    ...["plan 5", "plan --monitored 0", "plan --monitored 1.5", "plan --monitored many"],
  ])("that can't be parsed is answered with the usage: %s", (line) => {
    expect(() => parseCommand(line.split(" ").filter(Boolean), now)).toThrow(UsageError);
    expect(() => parseCommand(line.split(" ").filter(Boolean), now)).toThrow(/^Usage:/);
  });

  test("can't load a file into the sandbox", () => {
    const args = ["load", "--registry", "a.dat", "--environment", "sandbox"];
    expect(() => parseCommand(args, now)).toThrow("The sandbox keeps its made-up registry");
  });
});
