// For this package's tests: a service with text messages, with real servers and clients.
import { create, createFileRegistry } from "@bufbuild/protobuf";
import type { GenService } from "@bufbuild/protobuf/codegenv2";
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_wrappers,
  type StringValueSchema,
} from "@bufbuild/protobuf/wkt";
import { captureLogs, type LogLine } from "@vvs/testing";
import { type Client, type ClientOptions, createClient } from "./client.ts";
import type { Handlers } from "./handlers.ts";
import { type RpcServer, type ServeOptions, serveRpc } from "./server.ts";

/** A second service on the same server. */
export type OtherService = GenService<{
  ask: { methodKind: "unary"; input: typeof StringValueSchema; output: typeof StringValueSchema };
}>;

/** Ask and GetText return one text (GetText counts as a read because of its name), Count returns a stream of texts. */
export type TextService = GenService<{
  getText: { methodKind: "unary"; input: typeof StringValueSchema; output: typeof StringValueSchema };
  ask: { methodKind: "unary"; input: typeof StringValueSchema; output: typeof StringValueSchema };
  count: { methodKind: "server_streaming"; input: typeof StringValueSchema; output: typeof StringValueSchema };
}>;

const text = { inputType: ".google.protobuf.StringValue", outputType: ".google.protobuf.StringValue" };
const file = create(FileDescriptorProtoSchema, {
  name: "test/v1/text.proto",
  package: "test.v1",
  syntax: "proto3",
  dependency: ["google/protobuf/wrappers.proto"],
  service: [
    {
      name: "TextService",
      method: [
        { name: "Ask", ...text },
        { name: "GetText", ...text },
        { name: "Count", serverStreaming: true, ...text },
      ],
    },
    { name: "OtherService", method: [{ name: "Ask", ...text }] },
  ],
});

const registry = createFileRegistry(file, () => file_google_protobuf_wrappers);

export const textService = registry.getService("test.v1.TextService") as TextService;
export const otherService = registry.getService("test.v1.OtherService") as OtherService;

const unused: Handlers<TextService> = {
  ask: async () => ({ value: "" }),
  getText: async () => ({ value: "" }),
  async *count() {},
};

export interface TestRpc {
  readonly lines: LogLine[];
  serve(handlers: Partial<Handlers<TextService>>, options?: Partial<ServeOptions<TextService>>): Promise<RpcServer>;
  /** Returns a client whose caller the server allows, unless `options` name another caller. */
  client(server: { port: number }, options?: Partial<ClientOptions>): Client<TextService>;
  /** Closes all clients and servers. */
  close(): Promise<void>;
}

/** Servers and clients on loopback that are closed together. */
export function testRpc(): TestRpc {
  const { logger, lines } = captureLogs();
  const closes: (() => unknown)[] = [];
  return {
    lines,
    async serve(handlers, options) {
      const server = await serveRpc({
        service: textService,
        handlers: { ...unused, ...handlers },
        callers: { ask: ["gateway"], getText: ["gateway"], count: ["gateway"] },
        host: "127.0.0.1",
        port: 0,
        tls: undefined,
        logger,
        ...options,
      });
      closes.push(() => server.close(0));
      return server;
    },
    client(server, options) {
      const address = `127.0.0.1:${server.port}`;
      const client = createClient(textService, { address, caller: "gateway", tls: undefined, ...options });
      closes.push(() => client.close());
      return client;
    },
    async close() {
      for (const close of closes.splice(0).reverse()) await close();
    },
  };
}
