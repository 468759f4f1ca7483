export { callOwner } from "./call-owner.ts";
export type { TlsFiles } from "./certificates.ts";
export { type CallOptions, type Client, type ClientOptions, createClient } from "./client.ts";
export { clientsOf } from "./clients.ts";
export { rpcSection, tlsFiles } from "./credentials.ts";
export type { CallContext } from "./guard.ts";
export { type Callers, type Handlers, onlyFor, type ServicePart, servicePart } from "./handlers.ts";
export { type RpcServer, type ServeOptions, serveRpc } from "./server.ts";
