import { generateKeyPairSync, sign } from "node:crypto";

/** Returns a new key for receipts: its public part as the service publishes it, and what signs with it. */
export function receiptKey(kid = "k1") {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    jwk: { ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg: "EdDSA" },
    /** Returns a receipt that says this; `header` replaces fields of its header. */
    sign(claims: object, header: object = {}): string {
      const parts = [{ alg: "EdDSA", kid, typ: "verification-receipt+jwt", ...header }, claims];
      const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
    },
  };
}

/** What the receipt of a verification says; evidence of its second result was no longer kept. */
export const receiptClaims = {
  ...{ iss: "https://api.acme.example", sub: "ver_1", iat: 1, environment: "live" },
  verification: {
    ...{ id: "ver_1", entity_id: "ent_1", overall_result: "fail", created_at: "2026-11-21T09:30:00.000Z" },
    results: [
      {
        ...{ check_type: "sam_registration", status: "fail", reason: "excluded", origin: "sam_gov_extract" },
        evidence_uri: "https://api.acme.example/v1/evidence/evd_1",
        details: {
          ...{ registration_status: "active", expiration_date: "2027-03-31", legal_name: "<Acme> LLC" },
          ...{ exclusions: [{ program: "Reciprocal", effect: "bar" }], data_as_of: "2026-11-02T00:00:00.000Z" },
        },
      },
      {
        ...{ check_type: "tin_match", status: "error", reason: "missing_tin", origin: "none" },
        evidence_uri: "https://api.acme.example/v1/evidence/evd_2",
      },
    ],
  },
  evidence: [
    {
      ...{ id: "evd_1", check_type: "sam_registration", sha256: "ab".repeat(32) },
      sources: [
        {
          ...{ part: "registration", origin: "sam_gov_extract", data_as_of: "2026-11-02T00:00:00.000Z" },
          ...{ file: "MONTHLY.dat", sha256: "cd".repeat(32) },
        },
      ],
    },
  ],
};
