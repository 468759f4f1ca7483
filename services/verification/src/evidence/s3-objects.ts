import type { S3Client } from "@aws-sdk/client-s3";
import { ServiceError } from "@vvs/errors";
import { orAbort, withTimeLimit } from "../time-limit.ts";
import type { ObjectStore } from "./bodies.ts";

export interface S3Options {
  /** URL of an S3-compatible store; AWS S3 where absent. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /** Where absent, the AWS client finds them by itself (a role of the pod or the machine). */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** https://host/bucket/key instead of https://bucket.host/key. */
  readonly pathStyle: boolean;
  /** Time limit for one operation with its retry, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Opens an S3-compatible store. The client library is loaded only here, so that a service without an object store does
 * not pay for it.
 */
export async function createS3Objects(options: S3Options): Promise<ObjectStore & { close(): void }> {
  const { S3Client, PutObjectCommand, GetObjectCommand, DeleteObjectCommand } = await import("@aws-sdk/client-s3");
  const { bucket: Bucket, timeoutMs } = options;
  const client: S3Client = new S3Client({
    endpoint: options.endpoint,
    region: options.region,
    credentials: options.credentials,
    forcePathStyle: options.pathStyle,
    maxAttempts: 2,
    // Not every compatible store supports the newer checksums; our own hash is checked on every read.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });

  async function run<T>(work: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
    const late = () => new Error("the object store did not answer in time");
    try {
      return await withTimeLimit(timeoutMs, undefined, (signal) => orAbort(work(signal), signal, late));
    } catch (cause) {
      throw new ServiceError("service_unavailable", { cause, retryAfterSeconds: 5 });
    }
  }

  return {
    async put(Key, Body) {
      const ContentType = "application/octet-stream";
      await run((abortSignal) =>
        client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType }), { abortSignal }),
      );
    },
    get: (Key) =>
      run(async (abortSignal) => {
        try {
          const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }), { abortSignal });
          return await Body?.transformToByteArray();
        } catch (error) {
          if (error instanceof Error && error.name === "NoSuchKey") return undefined;
          throw error;
        }
      }),
    async remove(Key) {
      await run((abortSignal) => client.send(new DeleteObjectCommand({ Bucket, Key }), { abortSignal }));
    },
    close: () => client.destroy(),
  };
}
