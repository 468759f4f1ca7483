import * as grpc from "@grpc/grpc-js";
import type { AuthContext } from "@grpc/grpc-js/build/src/auth-context.js";
import { z } from "@vvs/config";
import type { Logger } from "@vvs/logging";
import { type TlsFiles, watchCertificates } from "./certificates.ts";

/** Metadata key with the caller's name, used only without certificates, on loopback. */
export const CALLER_METADATA = "vvs-caller";

/**
 * Variables of mutual TLS between services: set all three or none. Without them gRPC is plaintext and binds to loopback
 * only. The caller is a DNS name of the certificate's subjectAltName.
 */
export const rpcSection = {
  /** PEM file with the certificates of the authority that signs the services' certificates. */
  RPC_TLS_CA_PATH: z.string().optional(),
  /** PEM file with this service's certificate chain. */
  RPC_TLS_CERT_PATH: z.string().optional(),
  /** PEM file with its private key. */
  RPC_TLS_KEY_PATH: z.string().optional(),
};

/** Returns the files that a configuration names, or undefined for plaintext. Errors: only some of them are named. */
export function tlsFiles(config: {
  RPC_TLS_CA_PATH?: string;
  RPC_TLS_CERT_PATH?: string;
  RPC_TLS_KEY_PATH?: string;
}): TlsFiles | undefined {
  const { RPC_TLS_CA_PATH: ca, RPC_TLS_CERT_PATH: cert, RPC_TLS_KEY_PATH: key } = config;
  if (ca && cert && key) return { ca, cert, key };
  if (ca || cert || key)
    throw new Error("RPC_TLS_CA_PATH, RPC_TLS_CERT_PATH and RPC_TLS_KEY_PATH belong together: set all or none");
  return undefined;
}

/** Errors: the files can't be used. */
export function serverCredentials(tls: TlsFiles | undefined, logger: Logger): grpc.ServerCredentials {
  if (!tls) return grpc.ServerCredentials.createInsecure();
  const certificates = watchCertificates(tls, logger);
  return grpc.experimental.createCertificateProviderServerCredentials(certificates, certificates, true);
}

/** Errors: the files can't be used. */
export function channelCredentials(tls: TlsFiles | undefined, logger: Logger | undefined): grpc.ChannelCredentials {
  if (!tls) return grpc.credentials.createInsecure();
  const certificates = watchCertificates(tls, logger);
  return grpc.experimental.createCertificateProviderChannelCredentials(certificates, certificates);
}

/**
 * Returns the caller's name: the first of `allowed` among the DNS names of its certificate, else one that is not allowed.
 * Without certificates it is the one in the metadata.
 */
export function callerName(
  call: { getAuthContext(): AuthContext; metadata: grpc.Metadata },
  { tls, allowed }: { tls: TlsFiles | undefined; allowed: readonly string[] },
): string {
  if (!tls) return String(call.metadata.get(CALLER_METADATA)[0] ?? "");
  const names = dnsNames(call.getAuthContext().sslPeerCertificate?.subjectaltname);
  return names.find((name) => allowed.includes(name)) ?? names[0] ?? "";
}

/** Returns the DNS names in Node's text of a subjectAltName. Node quotes unusual names; none of ours is. */
function dnsNames(text = ""): string[] {
  if (text.includes('"')) return [];
  return text.split(", ").flatMap((entry) => (entry.startsWith("DNS:") ? [entry.slice("DNS:".length)] : []));
}
