/** The parts of the OpenAPI document that the reference page shows. */
export interface Document {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: OperationObject }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Answer>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: Readonly<Record<string, { readonly description: string }>>;
  };
}

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly content: Content };
  /** Empty if the operation needs no API key. */
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, Answer | Reference>>;
}

export interface Reference {
  readonly $ref: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
}

export interface Answer {
  readonly description: string;
  /** By its only media type. */
  readonly content?: Readonly<Record<string, Body>>;
}

interface Content {
  readonly "application/json": Body;
}

/** A body of one media type. */
export interface Body {
  readonly schema: Schema;
  readonly examples: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

/** Returns the operations of a tag. Those that cancel come last, because what is canceled cannot be changed. */
export function operationsOf(document: Document, tag: string) {
  return Object.entries(document.paths)
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    )
    .filter(({ operation }) => operation.tags.includes(tag))
    .toSorted((one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE"));
}

/** Returns the name of the component that a reference means. */
export function nameIn({ $ref }: Reference): string {
  return $ref.slice($ref.lastIndexOf("/") + 1);
}

export function isReference(value: object): value is Reference {
  return "$ref" in value && typeof value.$ref === "string";
}
