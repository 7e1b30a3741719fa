/** The parts of a JSON schema that the reference shows. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: string[];
  const?: string | boolean | number;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  examples?: unknown[];
}

export interface Content {
  schema: Schema;
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, { description: string; content?: Record<string, Content> }>;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
  description?: string;
}

/** The parts of the OpenAPI document that the reference shows. */
export interface Document {
  info: { title: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface NamedOperation extends Operation {
  method: string;
  path: string;
}

/** A part of the text of a type: words, a literal value, or the name of a schema. */
export type TypePart = { words: string } | { value: string } | { schema: string };

export interface Field {
  /** With the objects that contain it, such as `tokens.input` or `variables[].name`. */
  name: string;
  type: TypePart[];
  isRequired: boolean;
  description: string;
}

/** Returns the operations in the order of the document. */
export function listOperations(document: Document): NamedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

export function describeType(schema: Schema): TypePart[] {
  if (schema.$ref !== undefined) return [{ schema: schemaName(schema.$ref) }];
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return join(alternatives.map(describeType), " or ");
  if (schema.enum !== undefined)
    return join(
      schema.enum.map((value) => [{ value }]),
      ", ",
    );
  if (schema.const !== undefined) return [{ value: String(schema.const) }];
  if (schema.items !== undefined) return [{ words: "array of " }, ...describeType(schema.items)];
  const types = [schema.type ?? "any"].flat().join(" or ");
  return [{ words: types + (schema.format === undefined ? "" : ` (${schema.format})`) }];
}

/** Describes the fields of an object, and those of the objects in it that have no name of their own. */
export function describeFields(schema: Schema, prefix = ""): Field[] {
  const fields = new Map<string, Field>();
  for (const { properties = {}, required } of objectsIn(schema))
    for (const [key, property] of Object.entries(properties)) {
      const name = prefix + key;
      const field: Field = {
        name,
        type: describeType(property),
        isRequired: required?.includes(key) === true,
        description: property.description ?? "",
      };
      for (const part of [field, ...describeFields(...nested(property, name))]) addField(fields, part);
    }
  return [...fields.values()];
}

/** Several alternatives can have a field with the same name: it has the type of either. */
function addField(fields: Map<string, Field>, field: Field): void {
  const existing = fields.get(field.name);
  if (existing === undefined) fields.set(field.name, field);
  else if (JSON.stringify(existing.type) !== JSON.stringify(field.type))
    existing.type = join([existing.type, field.type], " or ");
}

/** The schema of the value, or of the items of an array, with the prefix of its fields. */
function nested(property: Schema, name: string): [Schema, string] {
  const alternatives = property.anyOf ?? property.oneOf ?? [property];
  const items = alternatives.find((alternative) => alternative.items !== undefined)?.items;
  return items === undefined ? [property, `${name}.`] : [items, `${name}[].`];
}

function objectsIn(schema: Schema): Schema[] {
  const alternatives = schema.anyOf ?? schema.oneOf;
  return alternatives === undefined ? [schema] : alternatives.flatMap(objectsIn);
}

function join(lists: TypePart[][], separator: string): TypePart[] {
  return lists.flatMap((list, index) => (index === 0 ? list : [{ words: separator }, ...list]));
}

export function schemaName(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}
