import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { experimental } from "@grpc/grpc-js";
import type { Logger } from "@vvs/logging";

/** Interval in which the files are checked for changes. */
const RELOAD_MS = 10_000;

/** Paths of PEM files with this service's certificates. The files may be replaced at any time. */
export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** Interval in which the files are checked for changes; 10 s where absent. */
  readonly reloadMs?: number;
}

interface Certificates {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * Reads certificates from files, and gives them to grpc-js again whenever they change; later connections use the new
 * ones. If changed files can't be used (one is missing, or the key is not the certificate's), that is logged once and
 * the old certificates stay in use; grpc-js's own watcher would refuse every connection until the files are right.
 * Errors, only at the start: the files can't be used.
 */
export function watchCertificates(files: TlsFiles, logger: Logger | undefined): experimental.CertificateProvider {
  let current = readCertificates(files);
  let failing = false;
  let timer: NodeJS.Timeout | undefined;
  const caListeners = new Set<experimental.CaCertificateUpdateListener>();
  const identityListeners = new Set<experimental.IdentityCertificateUpdateListener>();

  const updateCa = (listener: experimental.CaCertificateUpdateListener) => listener({ caCertificate: current.ca });
  const updateIdentity = (listener: experimental.IdentityCertificateUpdateListener) =>
    listener({ certificate: current.cert, privateKey: current.key });

  function reload(): void {
    try {
      const found = readCertificates(files);
      failing = false;
      if (isSame(found, current)) return;
      current = found;
      caListeners.forEach(updateCa);
      identityListeners.forEach(updateIdentity);
      logger?.info({ certificate: files.cert }, "the certificates have changed; new connections use them");
    } catch (error) {
      if (!failing) logger?.error({ err: error }, "the certificates can't be reloaded; the old ones stay in use");
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
      process.nextTick(updateCa, listener); // grpc-js is ready for it only after this call
    },
    removeCaCertificateListener(listener) {
      caListeners.delete(listener);
      stopWithoutListeners();
    },
    addIdentityCertificateListener(listener) {
      identityListeners.add(listener);
      watch();
      process.nextTick(updateIdentity, listener);
    },
    removeIdentityCertificateListener(listener) {
      identityListeners.delete(listener);
      stopWithoutListeners();
    },
  };
}

function readCertificates(files: TlsFiles): Certificates {
  const found = { ca: readFileSync(files.ca), cert: readFileSync(files.cert), key: readFileSync(files.key) };
  createSecureContext(found); // throws if they don't belong together, such as when only one of two files is replaced yet
  return found;
}

function isSame(one: Certificates, other: Certificates): boolean {
  return one.ca.equals(other.ca) && one.cert.equals(other.cert) && one.key.equals(other.key);
}
