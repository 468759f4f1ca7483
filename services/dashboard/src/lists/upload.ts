import { outside } from "@vvs/fair-queue";
import { VendorFileError } from "@vvs/vendor-files";
import express, { type Request, type Response } from "express";
import { ProblemError } from "../http/problem.ts";

/** A form with a file of 5 MB, also where it is sent back as Base64. */
const MAX_BYTES = 7_000_000;

const parse = express.raw({ type: "multipart/form-data", limit: MAX_BYTES });

/**
 * Reads a form with a file. Its texts become the fields of the request. Returns the bytes of the file; undefined if none was chosen.
 * Errors: VendorFileError if it is too large, ProblemError if it can't be read.
 */
export async function readUpload(request: Request, response: Response): Promise<Uint8Array<ArrayBuffer> | undefined> {
  // A browser that sends slowly holds no seat.
  await outside(() => readBody(request, response));
  if (!Buffer.isBuffer(request.body)) throw new ProblemError("unsupported_body");
  const form = await readMultipart(request.body, request.headers["content-type"]!);
  const fields: Record<string, string[]> = {};
  let file: File | undefined;
  for (const [name, value] of form) {
    if (typeof value === "string") fields[name] = [...(fields[name] ?? []), value];
    // Browsers send a file without a name where none was chosen.
    else if (name === "file" && value.name !== "") file = value;
  }
  request.body = fields;
  return file && new Uint8Array(await file.arrayBuffer());
}

function readBody(request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    parse(request, response, (error?: unknown) => {
      const isTooLarge = (error as { status?: unknown } | undefined)?.status === 413;
      if (isTooLarge) reject(new VendorFileError("The file has more than 5 MB. Split it."));
      else if (error) reject(error);
      else resolve();
    });
  });
}

async function readMultipart(body: Buffer, contentType: string): Promise<FormData> {
  try {
    return await new globalThis.Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData();
  } catch {
    throw new ProblemError("malformed");
  }
}
