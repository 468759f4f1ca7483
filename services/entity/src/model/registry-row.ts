/** The fields that an entity has by its row. */
export type RowField =
  | "legal_name"
  | "other_names"
  | "addresses"
  | "identifiers"
  | "other_cages"
  | "former_cages"
  | "new_cages"
  | "sam"
  | "sources"
  | "listed"
  | "registry_row";

/** The fields of an own entity that a registry entity replaces when it is taken over. */
export type TakenField = "legal_name" | "placeholder" | "other_names" | "addresses" | "identifiers" | "sam" | "sources";

/** The row from which an entity was last made. */
export interface RegistryRowDocument {
  /** "" for the entity's main row; rows of its other payment addresses have another indicator. */
  readonly eft_indicator: string;
  /** Hash of the row's facts: a row with the same hash changes nothing. */
  readonly hash: string;
  /** The load that brought the row. Absent in the sandbox, which loads no files. */
  readonly load_id?: string;
}
