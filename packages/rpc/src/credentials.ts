import * as grpc from "@grpc/grpc-js";
import type { AuthContext } from "@grpc/grpc-js/build/src/auth-context.js";
import { z } from "@vvs/config";
import type { Logger } from "@vvs/logging";
import { watchCertificates } from "./certificates.ts";

/** The metadata key that names the caller where there are no certificates to name it: on loopback alone. */
export const CALLER_METADATA = "vvs-caller";

/**
 * Mutual TLS between services, all three or none. Without them gRPC is plaintext and binds to loopback only.
 * The certificate's common name is the caller's name.
 */
export const rpcSection = {
  /** PEM file with the certificates of the authority that signs the services'. */
  RPC_TLS_CA_PATH: z.string().optional(),
  /** PEM file with this service's certificate chain. */
  RPC_TLS_CERT_PATH: z.string().optional(),
  /** PEM file with its private key. */
  RPC_TLS_KEY_PATH: z.string().optional(),
};

/** This service's certificates as paths of PEM files, which may be replaced at any time. */
export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** How often the files are looked at for a change; 10 s where absent. */
  readonly reloadMs?: number;
}

/** The files that a configuration names; none for plaintext. Errors: where only some are named. */
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

/** Who calls: by the certificate, or by what it says where there is none. */
export function callerName(
  call: { getAuthContext(): AuthContext; metadata: grpc.Metadata },
  tls: TlsFiles | undefined,
): string {
  if (!tls) return String(call.metadata.get(CALLER_METADATA)[0] ?? "");
  return String(call.getAuthContext().sslPeerCertificate?.subject.CN ?? "");
}
