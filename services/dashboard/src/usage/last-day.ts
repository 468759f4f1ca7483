import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { UsageInterval } from "@vvs/proto/account/v1/usage";
import type { CallOptions } from "@vvs/rpc";
import type { Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { rangesAt } from "./usage-range.ts";

/** Reads the organization's requests in the last 24 hours, by hour. */
export async function readLastDay(
  { usage, now }: Pick<PageContext, "usage" | "now">,
  { caller }: Pick<Visit, "caller">,
  call: CallOptions,
) {
  const range = rangesAt(now())[0]!;
  const [from, to] = [timestampFromDate(range.from), timestampFromDate(range.to)];
  const { counts } = await usage.getUsage({ caller, from, to, interval: UsageInterval.HOUR }, call);
  return { range, counts };
}
