const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Returns 16 bytes as 26 characters of Crockford's base32, as the TypeID specification (v0.3) encodes a UUID. */
export function encodeBase32(bytes: Uint8Array): string {
  let text = "";
  // 26 characters are 130 bits: two zeros come before the 128.
  let pending = 0;
  let bits = 2;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    for (bits += 8; bits >= 5; ) {
      bits -= 5;
      text += ALPHABET[(pending >> bits) & 31];
    }
    pending &= 31;
  }
  return text;
}

/** Returns the first 48 bits of what was encoded: the milliseconds of a UUIDv7. */
export function decodeTime(text: string): number {
  return [...text.slice(0, 10)].reduce((bits, digit) => bits * 32 + ALPHABET.indexOf(digit), 0);
}
