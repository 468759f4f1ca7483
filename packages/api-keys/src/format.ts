import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Environment } from "@vvs/tenant";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = ALPHABET.length;
/** The largest multiple of 62 that a byte can reach: bytes from here on would favour the alphabet's beginning. */
const FAIR_BYTES = 256 - (256 % BASE);
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const START_LENGTH = "svc_live_".length + 4;
const SHAPE = /^svc_(live|test)_[0-9A-Za-z]{38}$/;
const prefixes: Readonly<Record<Environment, string>> = { live: "svc_live_", sandbox: "svc_test_" };

/** A new key: the environment's prefix, 32 random base62 characters (190 bits), and a checksum of all that. */
export function generateApiKey(environment: Environment): string {
  const body = prefixes[environment] + randomBase62(RANDOM_LENGTH);
  return body + checksum(body);
}

/**
 * What a text says if it is a key: undefined where its shape or its checksum is wrong, so that a typing error is
 * refused without any look-up. Says nothing about whether such a key exists.
 */
export function parseApiKey(text: string): { environment: Environment } | undefined {
  const shape = SHAPE.exec(text);
  if (!shape) return undefined;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  if (checksum(body) !== text.slice(-CHECKSUM_LENGTH)) return undefined;
  return { environment: shape[1] === "live" ? "live" : "sandbox" };
}

/** What people may see of a key for good, to tell theirs apart: its prefix and first four characters, and its last four. */
export function apiKeyHint(key: string): { start: string; lastFour: string } {
  return { start: key.slice(0, START_LENGTH), lastFour: key.slice(-4) };
}

function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < FAIR_BYTES && text.length < length) text += ALPHABET[byte % BASE];
    }
  }
  return text;
}

/** CRC-32 as six base62 digits, padded with zeros: 62^6 is more than 2^32. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit++) {
    text = ALPHABET[rest % BASE] + text;
    rest = Math.floor(rest / BASE);
  }
  return text;
}
