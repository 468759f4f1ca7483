import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { z } from "@vvs/config";
import { type CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { RunCause, RunSchema } from "@vvs/proto/monitor/v1/monitor";
import { ProviderSchema } from "@vvs/proto/verification/v1/verification";
import { renderer } from "./renderer.ts";

const provider = z.object({
  checks: z.array(z.string()),
  name: z.string().optional(),
  state: z.string(),
  quota_remaining: z.int().optional(),
  last_success_at: z.string().optional(),
});

test("times, enums and 64-bit numbers are rendered; what is empty is left out where it is optional", () => {
  const render = renderer(ProviderSchema, provider);
  const at = "2026-11-21T09:30:00.120Z";
  const full = {
    name: "irs",
    checks: [CheckType.TIN_MATCH],
    quotaRemaining: 0n,
    lastSuccessAt: timestampFromDate(new Date(at)),
  };
  const rendered = { name: "irs", checks: ["tin_match"], state: "", quota_remaining: 0, last_success_at: at };
  expect(render(create(ProviderSchema, full))).toEqual(rendered);
  expect(JSON.stringify(render(create(ProviderSchema)))).toBe('{"checks":[],"state":""}');
});

test("fields that the caller adds keep their place in the answer", () => {
  const rendered = renderer(ProviderSchema, provider.extend({ more: z.string() }), ["checks", "more"])(
    create(ProviderSchema),
  );
  expect(JSON.stringify({ ...rendered, more: "x", checks: [] })).toBe('{"checks":[],"state":"","more":"x"}');
});

test("a schema with a field that its message lacks is refused at the start", () => {
  expect(() => renderer(ProviderSchema, z.object({ nmae: z.string() }))).toThrow("Provider has no field nmae");
});

test.each([RunCause.UNSPECIFIED, 1_000 as RunCause])(
  "the value %d of an enum, which has no word, is an error",
  (cause) => {
    const render = renderer(RunSchema, z.object({ cause: z.string() }));
    expect(() => render(create(RunSchema, { cause, outcome: 1 as CheckStatus }))).toThrow(`unknown value ${cause}`);
  },
);
