import { randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Environment } from "@vvs/tenant";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = ALPHABET.length;
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const START_LENGTH = "svc_live_".length + 4;
const SHAPE = /^svc_(live|test)_[0-9A-Za-z]{38}$/;
const prefixes: Readonly<Record<Environment, string>> = { live: "svc_live_", sandbox: "svc_test_" };

/** Returns a new key: the environment's prefix, 32 random base62 characters (190 bits), and a checksum of both. */
export function generateApiKey(environment: Environment): string {
  const body = prefixes[environment] + randomBase62(RANDOM_LENGTH);
  return body + checksum(body);
}

/**
 * Returns the environment of a key, or undefined if its form or its checksum is wrong, so that a typing error is
 * refused without a look-up. Does not check whether the key exists.
 */
export function parseApiKey(text: string): { environment: Environment } | undefined {
  const shape = SHAPE.exec(text);
  if (!shape) return undefined;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  if (checksum(body) !== text.slice(-CHECKSUM_LENGTH)) return undefined;
  return { environment: shape[1] === "live" ? "live" : "sandbox" };
}

/**
 * Returns the parts of a key that are shown to recognize it: its prefix with the first four characters, and its last
 * four.
 */
export function apiKeyHint(key: string): { start: string; lastFour: string } {
  return { start: key.slice(0, START_LENGTH), lastFour: key.slice(-4) };
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(BASE)]).join("");
}

/** Returns the CRC-32 as six base62 digits, padded with zeros; six are enough, since 62^6 is more than 2^32. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit++) {
    text = ALPHABET[rest % BASE] + text;
    rest = Math.floor(rest / BASE);
  }
  return text;
}
