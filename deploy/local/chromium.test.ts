import { describe, expect, test } from "@jest/globals";
import { searchChromium } from "./chromium.ts";

/** A machine with some files, and with more once the package is installed. */
function machine(files: string[], installs?: string[]) {
  let tries = 0;
  return {
    tries: () => tries,
    search: (given?: string) =>
      searchChromium({
        given,
        paths: ["/usr/bin/chromium", "/usr/bin/google-chrome"],
        exists: (path) => files.includes(path),
        install() {
          tries++;
          files.push(...(installs ?? []));
          return installs ? undefined : "This user is not root, so it was not installed.";
        },
      }),
  };
}

describe("the browser of the tests", () => {
  test("is the one that CHROMIUM_PATH names, before any other place", () => {
    expect(machine(["/usr/bin/chromium", "/opt/chrome"]).search("/opt/chrome")).toBe("/opt/chrome");
  });

  test("is only the one that CHROMIUM_PATH names, if it is set", () => {
    expect(() => machine(["/usr/bin/chromium"]).search("/opt/chrome")).toThrow(/CHROMIUM_PATH names \/opt\/chrome/);
  });

  test("is the one in a usual place, and nothing is installed", () => {
    const { search, tries } = machine(["/usr/bin/google-chrome"]);
    expect(search()).toBe("/usr/bin/google-chrome");
    expect(tries()).toBe(0);
  });

  test("is installed if there is none", () => {
    expect(machine([], ["/usr/bin/chromium"]).search()).toBe("/usr/bin/chromium");
  });

  test("cannot be installed: the error names the command", () => {
    expect(() => machine([]).search()).toThrow(
      /run "apt-get update && apt-get install -y --no-install-recommends chromium" as root, or set CHROMIUM_PATH\. This user is not root/,
    );
  });

  test("is missing after an installation without an error: the error names the command", () => {
    expect(() => machine([], []).search()).toThrow(/apt-get install/);
  });
});
