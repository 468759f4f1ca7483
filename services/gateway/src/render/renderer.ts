import { type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { z } from "@vvs/config";

/** Makes the value of an answer from that of a message. */
type Render = (value: never) => unknown;

/**
 * Returns a function that makes an answer from a message, by the schema of the answer: each field is the message's field of
 * the same name. Times become text, values of enums become words, 64-bit integers become numbers, and an optional field that
 * is empty is left out. `added` names fields that the caller adds; they keep their place in the answer. Errors: the message
 * lacks a field; later, an enum has a value that this gateway does not know.
 */
export function renderer<D extends DescMessage, S extends z.ZodObject, A extends keyof z.infer<S> = never>(
  message: D,
  schema: S,
  added: readonly A[] = [],
): (message: MessageShape<D>) => Omit<z.infer<S>, A> {
  const names: readonly PropertyKey[] = added;
  const fields = Object.entries(schema.shape).map(([name, field]) => {
    // A field that is never in a message is undefined until the caller adds it.
    if (names.includes(name)) return { name, source: "", render: undefined };
    const source = message.fields.find((one) => one.name === name);
    if (!source) throw new Error(`${message.typeName} has no field ${name}`);
    return { name, source: source.localName, render: fieldRenderer(source, field) };
  });
  return (received) => {
    const values = received as unknown as Readonly<Record<string, never>>;
    const answer: Record<string, unknown> = {};
    for (const { name, source, render } of fields) answer[name] = render ? render(values[source]!) : values[source];
    return answer as Omit<z.infer<S>, A>;
  };
}

/** Returns how a field is rendered; undefined if it stays as it is. */
function fieldRenderer(field: DescField, schema: z.core.$ZodType): Render | undefined {
  const isOptional = schema instanceof z.ZodOptional;
  const inner = isOptional ? schema.unwrap() : schema;
  if (inner instanceof z.ZodArray) {
    const render = valueRenderer(field, inner.element) ?? ((value) => value);
    return (values: readonly never[]) =>
      isOptional && values.length === 0 ? undefined : values.map((value) => render(value));
  }
  const render = valueRenderer(field, inner);
  if (render) return (value) => (value === undefined ? undefined : render(value));
  return isOptional ? (value) => (value === "" ? undefined : value) : undefined;
}

/** Returns how one value of a field is rendered; undefined if it stays as it is. */
function valueRenderer(field: DescField, schema: z.core.$ZodType): Render | undefined {
  if (field.enum) {
    const { typeName, value: values } = field.enum;
    return (number: number) => {
      if (number === 0 || !values[number]) throw new Error(`unknown value ${number} of ${typeName}`);
      return values[number].localName.toLowerCase();
    };
  }
  if (field.message?.typeName === "google.protobuf.Timestamp")
    return (time: Timestamp) => timestampDate(time).toISOString();
  if (field.message && schema instanceof z.ZodObject) return renderer(field.message, schema);
  return field.scalar === ScalarType.INT64 ? Number : undefined;
}
