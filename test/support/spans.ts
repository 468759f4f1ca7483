import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { sharedProduct } from "./product.ts";

/** A span as it was exported. */
export interface Span {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly linkedTraceIds: readonly string[];
}

interface OtlpRequest {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: {
      spans: { traceId: string; spanId: string; parentSpanId?: string; name: string; links?: { traceId: string }[] }[];
    }[];
  }[];
}

const { spansFile } = sharedProduct();
const spans: Span[] = [];
/** Length of what was read. What other tests exported before is not read: it is many times as much. */
let readBytes = existsSync(spansFile) ? readFileSync(spansFile).lastIndexOf("\n") + 1 : 0;

/** Returns all spans that the services have exported since the test file began. */
export function exportedSpans(): readonly Span[] {
  if (!existsSync(spansFile)) return [];
  const added = Buffer.alloc(statSync(spansFile).size - readBytes);
  const file = openSync(spansFile, "r");
  readSync(file, added, 0, added.length, readBytes);
  closeSync(file);
  const whole = added.subarray(0, added.lastIndexOf("\n") + 1);
  readBytes += whole.length;
  const lines = whole.toString("utf8").split("\n").filter(Boolean);
  const more = lines.flatMap((line) =>
    (JSON.parse(line) as OtlpRequest).resourceSpans.flatMap(({ resource, scopeSpans }) => {
      const service = resource.attributes.find(({ key }) => key === "service.name")?.value.stringValue ?? "";
      return scopeSpans.flatMap(({ spans }) =>
        spans.map((span) => ({
          service,
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId ?? "",
          name: span.name,
          linkedTraceIds: (span.links ?? []).map(({ traceId }) => traceId),
        })),
      );
    }),
  );
  spans.push(...more);
  return spans;
}

/**
 * Returns the first of `edges` that a trace lacks, or undefined if it has them all. An edge is a parent and a child,
 * each as `service span-name`; the parent may be any ancestor of the child.
 */
export function missingEdge(trace: readonly Span[], edges: readonly (readonly [string, string])[]): string | undefined {
  const byId = new Map(trace.map((span) => [span.spanId, span]));
  const labels = (span: Span | undefined): string[] => {
    const found: string[] = [];
    for (let each = span; each; each = byId.get(each.parentSpanId)) found.push(`${each.service} ${each.name}`);
    return found;
  };
  for (const [parent, child] of edges) {
    const holds = trace.some((span) => {
      const [own, ...ancestors] = labels(span);
      return own === child && ancestors.includes(parent);
    });
    if (!holds) return `${parent} → ${child}`;
  }
  return undefined;
}
