import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { experimental } from "@grpc/grpc-js";
import type { Logger } from "@vvs/logging";
import type { TlsFiles } from "./credentials.ts";

/** How often the files are looked at. */
const RELOAD_MS = 10_000;

interface Certificates {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * The certificates in files, handed to grpc-js again whenever they change; connections made from then on use the new
 * ones. A change that can't be used (a missing file, a key that is not the certificate's) is logged once and the
 * certificates in use stay: grpc-js's own watcher would refuse every connection until the files are right.
 * Errors, at the start alone: the files can't be used.
 */
export function watchCertificates(files: TlsFiles, logger: Logger | undefined): experimental.CertificateProvider {
  let current = readCertificates(files);
  let failing = false;
  let timer: NodeJS.Timeout | undefined;
  const caListeners = new Set<experimental.CaCertificateUpdateListener>();
  const identityListeners = new Set<experimental.IdentityCertificateUpdateListener>();

  const tellCa = (listener: experimental.CaCertificateUpdateListener) => listener({ caCertificate: current.ca });
  const tellIdentity = (listener: experimental.IdentityCertificateUpdateListener) =>
    listener({ certificate: current.cert, privateKey: current.key });

  function reload(): void {
    try {
      const found = readCertificates(files);
      failing = false;
      if (isSame(found, current)) return;
      current = found;
      caListeners.forEach(tellCa);
      identityListeners.forEach(tellIdentity);
      logger?.info({ certificate: files.cert }, "the certificates have changed; new connections use them");
    } catch (error) {
      if (!failing) logger?.error({ err: error }, "the certificates can't be reloaded; those in use stay");
      failing = true;
    }
  }

  function watch(): void {
    timer ??= setInterval(reload, files.reloadMs ?? RELOAD_MS).unref();
  }

  function stopWithoutListeners(): void {
    if (caListeners.size + identityListeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    addCaCertificateListener(listener) {
      caListeners.add(listener);
      watch();
      process.nextTick(tellCa, listener); // grpc-js is ready for it only after this call
    },
    removeCaCertificateListener(listener) {
      caListeners.delete(listener);
      stopWithoutListeners();
    },
    addIdentityCertificateListener(listener) {
      identityListeners.add(listener);
      watch();
      process.nextTick(tellIdentity, listener);
    },
    removeIdentityCertificateListener(listener) {
      identityListeners.delete(listener);
      stopWithoutListeners();
    },
  };
}

function readCertificates(files: TlsFiles): Certificates {
  const found = { ca: readFileSync(files.ca), cert: readFileSync(files.cert), key: readFileSync(files.key) };
  createSecureContext(found); // throws where they don't belong together, as when one of two files is replaced so far
  return found;
}

function isSame(one: Certificates, other: Certificates): boolean {
  return one.ca.equals(other.ca) && one.cert.equals(other.cert) && one.key.equals(other.key);
}
