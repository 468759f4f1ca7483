import type { SecretKey } from "@vvs/config";
import { z } from "@vvs/config";
import type { Violation } from "@vvs/errors";
import { toProtoCaller } from "@vvs/tenant";
import type { ApiKey } from "../http/api-key.ts";
import type { JsonBody } from "../http/body.ts";
import { refuseInvalid } from "../http/errors.ts";
import type { Exchange } from "../http/exchange.ts";
import { idempotencyOf } from "../input/idempotency.ts";
import { type ListIdentity, readPage } from "../input/page.ts";
import { readQuery } from "../input/query.ts";
import { parse } from "../input/violations.ts";
import type { Call, Route } from "./route.ts";

interface Received extends Exchange {
  readonly key: ApiKey;
  /** The id in the path, unchecked. */
  readonly id: string;
  /** Undefined if the route has no body. */
  readonly body: JsonBody | undefined;
}

const nothing = z.strictObject({});

/** Reads a request and checks it against its route. Errors: invalid_request that lists all problems. */
export function readCall(
  route: Route,
  received: Received,
  options: { allowPrivateTargets: boolean; idempotencyKeys: readonly SecretKey[] },
): Call<unknown, unknown> {
  const { request, requestId, clientAddress, key, id, hungUp, stopping } = received;
  const { tenant, activeMonitors, createdEntities, openJobRows } = key;
  const { values, problems: queryProblems } = readQuery(request.url ?? "");
  const { limit, cursor, ...backward } = values;
  const { after, wait, ...unwaited } = backward;
  const filter = route.forward ? unwaited : backward;
  const list: ListIdentity = [tenant.organizationId, tenant.environment, route.path, id, sorted(filter)];
  const paging = route.list ? { limit, cursor, ...(route.forward && { after, wait }) } : {};
  const { page, forward, problems: pageProblems } = readPage(list, paging);
  const query = parse(route.query ?? nothing, route.list ? filter : values, "query");
  const body = readBody(route, received, options.allowPrivateTargets);
  const [idempotencyKey, ...otherKeys] = route.idempotent ? new Set(request.headersDistinct["idempotency-key"]) : [];

  const problems = [
    ...onePerPath([...query.problems, ...queryProblems, ...pageProblems]),
    ...body.problems,
    ...idempotencyKeyProblems(idempotencyKey, otherKeys),
  ];
  if (problems.length > 0) refuseInvalid(withoutRepeats(problems));
  return {
    caller: toProtoCaller({ tenant, actor: key.id, requestId, clientAddress, createdEntities }),
    activeMonitors,
    openJobRows,
    isLive: tenant.environment === "live",
    id,
    query: "value" in query ? query.value : undefined,
    body: body.value,
    page,
    list,
    forward,
    rows: [],
    hungUp,
    stopping,
    idempotency:
      idempotencyKey === undefined
        ? undefined
        : idempotencyOf(options.idempotencyKeys, {
            apiKeyId: key.id,
            path: route.path,
            key: idempotencyKey,
            body: received.body?.value,
          }),
  };
}

function readBody(route: Route, { body, key }: Received, allowPrivateTargets: boolean) {
  if (!route.body || !body) return { value: undefined, problems: [] };
  if (body.value === undefined) return { value: undefined, problems: body.problems };
  const parsed = parse(route.body, body.value, "body");
  const rules = isObject(body.value)
    ? route.rules?.(body.value, { environment: key.tenant.environment, allowPrivateTargets })
    : undefined;
  return {
    value: "value" in parsed ? parsed.value : undefined,
    problems: [...body.problems, ...parsed.problems, ...(rules ?? [])],
  };
}

function idempotencyKeyProblems(text: string | undefined, others: readonly string[]): Violation[] {
  const path = "Idempotency-Key";
  if (others.length > 0) return [{ path, message: "must not be given twice with different values: send one" }];
  if (text === undefined || /^[\x20-\x7e]{1,255}$/.test(text)) return [];
  return [{ path, message: "must be 1 to 255 printable ASCII characters" }];
}

/** Keeps the first problem of each parameter: an empty or repeated one breaks its own rule too. */
function onePerPath(problems: readonly Violation[]): Violation[] {
  return [...Map.groupBy(problems, ({ path }) => path).values()].map(([first]) => first!);
}

/** Removes repeated problems of the same path, for example of two unknown keys that are not shown. */
function withoutRepeats(problems: readonly Violation[]): Violation[] {
  const seen = new Set<string>();
  return problems.filter(({ path, message }) => {
    const name = `${path}\n${message}`;
    return !seen.has(name) && seen.add(name);
  });
}

function sorted(filter: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(filter).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
