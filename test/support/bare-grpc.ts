import { create, type DescService, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { serviceDefinition } from "../../packages/rpc/src/definition.ts";

/** Some RPCs of a service, each with what it answers. */
type Answers<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]?: (
    request: MessageShape<Service["method"][Name]["input"]>,
  ) =>
    | MessageInitShape<Service["method"][Name]["output"]>
    | Promise<MessageInitShape<Service["method"][Name]["output"]>>;
};

/** Returns how a server gets these RPCs. */
export function answering<Service extends DescService>(service: Service, answers: Answers<Service>) {
  const handlers = Object.entries(answers as object).map(([name, answer]) => {
    const { output } = service.method[name]!;
    const handle: grpc.handleUnaryCall<object, object> = async ({ request }, callback) => {
      try {
        callback(null, create(output, await answer(request)));
      } catch (error) {
        callback({ code: grpc.status.INTERNAL, details: String(error) });
      }
    };
    return [name, handle] as const;
  });
  return (server: grpc.Server) => server.addService(serviceDefinition(service), Object.fromEntries(handlers));
}

/** Serves RPCs on grpc-js, without the product's own server, at a free port of this machine, and prints the port. */
export function serveBare(...services: ReturnType<typeof answering>[]): void {
  const server = new grpc.Server();
  for (const addTo of services) addTo(server);
  server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    console.log(port);
  });
}
