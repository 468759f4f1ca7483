import { type IdPrefix, isId } from "@vvs/ids";
import express, { type Request, type RequestHandler } from "express";
import { ProblemError } from "./problem.ts";

const MAX_FIELDS = 50;

const parserUpTo = (limit: string) => express.urlencoded({ extended: false, limit, parameterLimit: MAX_FIELDS });
const parse = parserUpTo("16kb");
/** The receipt of a list has a part for each of its vendors. */
const parseReceipt = parserUpTo("100kb");

/** The address of the page that checks receipts. It needs no account: receipts are shown to others. */
export const RECEIPTS_PATH = "/receipts";

/** Forms with a file: their handlers read them. */
const HOLDS_FILE = /^\/(live|test)\/lists(\/preview)?$/;

/** Reads the fields of a posted form; refuses other request bodies. */
export const readForm: RequestHandler = (request, response, next) => {
  if (HOLDS_FILE.test(request.path) && request.is("multipart/form-data")) return next();
  const hasOtherBody = request.headers["content-type"] && !request.is("application/x-www-form-urlencoded");
  if (hasOtherBody) next(new ProblemError("unsupported_body"));
  else if (request.path === RECEIPTS_PATH) {
    parseReceipt(request, response, (error?: { status?: number }) =>
      next(error?.status === 413 ? new ProblemError("receipt_too_long") : error),
    );
  } else parse(request, response, next);
};

/** Returns the value of a field; empty if it is absent or has several values. */
export function field(request: Request, name: string): string {
  const [value = "", ...others] = fieldValues(request, name);
  return others.length > 0 ? "" : value;
}

/** Returns the values of several fields, by their names. */
export function typedFields<N extends string>(request: Request, names: readonly N[]): Record<N, string> {
  return Object.fromEntries(names.map((name) => [name, field(request, name)])) as Record<N, string>;
}

/** Returns all values of a field, such as those of ticked checkboxes. */
export function fieldValues(request: Request, name: string): string[] {
  const fields: unknown = request.body;
  if (typeof fields !== "object" || fields === null || !Object.hasOwn(fields, name)) return [];
  const value: unknown = (fields as Record<string, unknown>)[name];
  return [value].flat().filter((item) => typeof item === "string");
}

/** Returns the value of a query parameter; empty if it is absent or has several values. */
export function queryValue(request: Request, name: string): string {
  const value = request.query[name];
  return typeof value === "string" ? value : "";
}

/** Returns the id in a path parameter. Errors: ProblemError (page not found) if it is malformed. */
export function pathId(request: Request, name: string, prefix: IdPrefix): string {
  const id = String(request.params[name]);
  if (!isId(prefix, id)) throw new ProblemError("page_not_found");
  return id;
}

/** Returns a path with query parameters; empty ones are left out. */
export function pathWithQuery(path: string, parameters: Readonly<Record<string, string>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}
