import { type DescService, toJsonString } from "@bufbuild/protobuf";
import { type ErrorCode, ServiceError } from "@vvs/errors";
import { type Handlers, onlyFor, type ServicePart } from "@vvs/rpc";
import { type FakeState, failIfAsked } from "./fake-state.ts";

/**
 * Simulates a service. Each method throws what `state.failures` names for it, and one without a handler fails. Requests of
 * `recorded` methods are added to `state.calls` as JSON; `quiet` ones only read, or record by themselves what has no secrets.
 */
export function fakePart<S extends DescService>(
  service: S,
  state: FakeState,
  { recorded = {}, quiet = {} }: { readonly recorded?: Partial<Handlers<S>>; readonly quiet?: Partial<Handlers<S>> },
): ServicePart {
  type Answer = (request: never, context: unknown) => Promise<object>;
  const [noted, others] = [recorded, quiet] as Partial<Record<string, Answer>>[];
  const handlers = service.methods.map(({ localName, input }) => {
    const answer = async (request: never, context: unknown) => {
      failIfAsked(state, localName);
      if (state.isDown && service.name !== "SessionService") throw new ServiceError("service_unavailable");
      if (noted![localName]) state.calls.push(`${localName} ${toJsonString(input, request)}`);
      const handler = noted![localName] ?? others![localName];
      if (!handler) throw new ServiceError("internal_error");
      return handler(request, context);
    };
    return [localName, answer] as const;
  });
  return {
    service,
    handlers: Object.fromEntries(handlers),
    callers: onlyFor(service, "dashboard"),
  } as unknown as ServicePart;
}

/** Returns the message with an id. Errors: `code`. */
export function findIn<T extends { readonly id?: string | undefined }>(
  messages: readonly T[],
  id: string,
  code: ErrorCode = "not_found",
): T {
  const found = messages.find((each) => each.id === id);
  if (!found) throw new ServiceError(code);
  return found;
}
