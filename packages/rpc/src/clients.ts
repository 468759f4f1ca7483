import type { DescService } from "@bufbuild/protobuf";
import { type Client, type ClientOptions, createClient } from "./client.ts";

/**
 * Returns a function that creates the clients of a process, by service and host:port. Each is closed when the process stops.
 * Errors: as of `createClient`.
 */
export function clientsOf(
  options: Omit<ClientOptions, "address"> & {
    /** Registers a close under a name. */
    readonly onClose: (name: string, close: () => void) => void;
  },
): <S extends DescService>(service: S, address: string) => Client<S> {
  const { onClose, ...shared } = options;
  return (service, address) => {
    const client = createClient(service, { ...shared, address });
    onClose(`${service.typeName} client`, () => client.close());
    return client;
  };
}
