import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "@vvs/testing";
import { importProblems } from "./import-order.ts";

/** Returns what is found in services with these files, by their paths. */
function problemsOf(files: Readonly<Record<string, string>>): string | undefined {
  const root = temporaryFolder();
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, "services", file)), { recursive: true });
    writeFileSync(join(root, "services", file), text);
  }
  return importProblems(root);
}

const README = "# one\n\n## Folders\n\n1. `low`: first.\n2. `high`: second.\n\n## Other\n\n1. `else`\n";

test("imports of earlier folders and of files beside them are in order", () => {
  const found = problemsOf({
    "one/README.md": README,
    "one/src/main.ts": 'import { b } from "./high/b.ts";\nb();',
    "one/src/high/b.ts": 'import type { A } from "../low/a.ts";\nexport const b = (a?: A) => a;',
    "one/src/low/a.ts": "export interface A {}",
    "one/src/low/a.test.ts": 'import { b } from "../high/b.ts";\nb();',
  });
  expect(found).toBeUndefined();
});

test("a circle of files is found, also where only types close it", () => {
  const found = problemsOf({
    "one/README.md": "",
    "one/src/a.ts": 'import { b } from "./b.ts";\nexport interface A {}\nawait using held = b();',
    "one/src/b.ts": 'export { c as b } from "./c.ts";',
    "one/src/c.ts": 'import type { A } from "./a.ts";\nexport const c = (): A & AsyncDisposable => undefined!;',
  });
  expect(found).toBe("services/one: circle: a.ts, b.ts, c.ts");
});

test("a circle of folders is found where their files form none", () => {
  const found = problemsOf({
    "one/README.md": "## Folders\n\n1. `all`: both.\n",
    "one/src/all/low/a.ts": 'import { d } from "../high/d.ts";\nexport const a = d;',
    "one/src/all/low/c.ts": "export const c = 1;",
    "one/src/all/high/b.ts": 'import { c } from "../low/c.ts";\nexport const b = c;',
    "one/src/all/high/d.ts": "export const d = 1;",
  });
  expect(found).toBe("services/one: circle: all/high, all/low");
});

test("a circle of a folder and a file beside it is found", () => {
  const found = problemsOf({
    "one/README.md": "## Folders\n\n1. `low`: one.\n",
    "one/src/store.ts": 'import type { B } from "./low/b.ts";\nexport type Store = B;',
    "one/src/low/a.ts": 'import type { Store } from "../store.ts";\nexport type A = Store;',
    "one/src/low/b.ts": "export type B = 1;",
  });
  expect(found).toBe("services/one: circle: low, store.ts");
});

test("an import against the order of the README is found, and a folder that it does not name or that is gone", () => {
  const found = problemsOf({
    "one/README.md": "## Folders\n\n1. `low`: first.\n2. `gone`: second.\n3. `high`: third.\n",
    "one/src/low/a.ts": 'import { b } from "../high/b.ts";\nb;',
    "one/src/high/b.ts": "export const b = 1;",
    "one/src/new/c.ts": "export const c = 1;",
  });
  expect(found?.split("\n")).toEqual([
    "services/one: its README does not name new",
    "services/one: its README names gone, which is gone",
    "services/one: low/a.ts imports high/b.ts, which its README names later",
  ]);
});

test("an import of another service is found", () => {
  const found = problemsOf({
    "one/src/a.ts": 'import { b } from "../../two/src/b.ts";\nb;',
    "two/src/b.ts": "export const b = 1;",
  });
  expect(found).toBe("services/one: a.ts imports ../../two/src/b.ts, of another service");
});
