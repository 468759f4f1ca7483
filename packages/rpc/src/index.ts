export { type CallOptions, type Client, type ClientOptions, createClient } from "./client.ts";
export { rpcSection, type TlsFiles, tlsFiles } from "./credentials.ts";
export { type CallContext, type Callers, type Handlers, type ServicePart, servicePart } from "./handlers.ts";
export { type RpcServer, type ServeOptions, serveRpc } from "./server.ts";
