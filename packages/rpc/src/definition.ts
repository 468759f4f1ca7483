// Converts a generated service descriptor into the definition by which grpc-js routes calls.

import { type DescMessage, type DescService, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import type { ServiceDefinition } from "@grpc/grpc-js";

/** Returns the grpc-js definition of a service: one entry per RPC, by the generated method name. */
export function serviceDefinition(service: DescService): ServiceDefinition {
  return Object.fromEntries(
    service.methods.map((method) => {
      const request = codec(method.input);
      const response = codec(method.output);
      return [
        method.localName,
        {
          path: `/${service.typeName}/${method.name}`,
          originalName: method.localName,
          requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
          responseStream: method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
          requestSerialize: request.serialize,
          requestDeserialize: request.deserialize,
          responseSerialize: response.serialize,
          responseDeserialize: response.deserialize,
        },
      ];
    }),
  );
}

/**
 * Returns the definition for handlers that return encoded replies. A reply that can't be encoded is then the handler's
 * error, which is logged; grpc-js would not report it.
 */
export function withEncodedReplies(definition: ServiceDefinition): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      { ...method, responseSerialize: (bytes: Buffer): Buffer => bytes },
    ]),
  );
}

function codec(schema: DescMessage) {
  return {
    serialize(message: Message): Buffer {
      const bytes = toBinary(schema, message);
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    deserialize: (bytes: Buffer): Message => fromBinary(schema, bytes),
  };
}
