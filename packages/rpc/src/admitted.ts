import type { DescMethodUnary, DescService } from "@bufbuild/protobuf";
import type { Caller } from "@vvs/proto/common/v1/common";
import { tenantOf } from "@vvs/tenant";
import type { Admit } from "./admission.ts";
import type { CallContext } from "./guard.ts";
import type { Handlers } from "./handlers.ts";

/** The unary RPCs, whose requests name their caller. */
type UnaryName<S extends DescService> = {
  [K in keyof S["method"]]: S["method"][K] extends DescMethodUnary ? K : never;
}[keyof S["method"]];

type Handle = (request: { caller?: Caller }, context: CallContext) => Promise<object>;

/** Returns the handlers with these calls admitted on behalf of their caller's organization. */
export function admitted<S extends DescService>(
  handlers: Handlers<S>,
  admissions: Partial<Record<UnaryName<S>, Admit>>,
): Handlers<S> {
  const all = Object.entries(admissions as Record<string, Admit>).map(([name, admit]) => {
    const handle = (handlers as Record<string, unknown>)[name] as Handle;
    const wrapped: Handle = async (request, context) =>
      admit(tenantOf(request.caller?.tenant), context.signal, () => handle(request, context));
    return [name, wrapped] as const;
  });
  return { ...handlers, ...Object.fromEntries(all) };
}
