import { existsSync, readFileSync } from "node:fs";
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

/** Returns all spans that the services have exported so far. */
export function exportedSpans(): Span[] {
  const { spansFile } = sharedProduct();
  if (!existsSync(spansFile)) return [];
  const lines = readFileSync(spansFile, "utf8").split("\n").filter(Boolean);
  return lines.flatMap((line) =>
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
