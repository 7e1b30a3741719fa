import type { JsonSchema, RequestBody, RequestParameter } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import {
  isForm,
  isJsonMediaType,
  listFieldEncodings,
  listFileFields,
  selectBody,
  type SelectedBody,
} from "./openapi-body.ts";
import { type Parameter, requestBodySchema } from "./openapi-document.ts";
import { describeParameter, getParameterSource, toRequestParameter } from "./openapi-parameters.ts";
import type { References } from "./openapi-references.ts";
import { SchemaConverter } from "./openapi-schemas.ts";
import { quoteAppText } from "./source-result.ts";

/** The input of an operation as one object, and where each of its properties goes in the request. */
export interface OperationInput {
  inputSchema: JsonSchema;
  parameters: RequestParameter[];
  body: RequestBody | null;
  required: string[];
}

interface InputProperty {
  schema: JsonSchema;
  required: boolean;
}

type InputProperties = Map<string, InputProperty>;

interface InputContext {
  properties: InputProperties;
  references: References;
  converter: SchemaConverter;
}

/**
 * @param maxBytes - the size of the input schema at most
 * @returns a text that says why agents cannot call the operation
 */
export function buildOperationInput(
  parameters: readonly Parameter[],
  requestBody: unknown,
  references: References,
  maxBytes: number,
): OperationInput | string {
  const converter = new SchemaConverter(references, { marker: "readOnly", maxBytes });
  const context: InputContext = { properties: new Map(), references, converter };
  const placed = parameters.map((parameter) => addParameter(context, parameter));
  const body = addBody(context, requestBody);
  if (typeof body === "string") return body;
  converter.finish();
  const fileProblem = body === null ? null : removeFiles(context.properties, body);
  if (fileProblem !== null) return fileProblem;
  const required = [...context.properties].filter(([, property]) => property.required).map(([name]) => name);
  const inputSchema = toObjectSchema(context.properties, required);
  return { inputSchema, parameters: placed, body: body?.request ?? null, required };
}

function addParameter({ properties, converter }: InputContext, parameter: Parameter): RequestParameter {
  const { name, in: location, required, description } = parameter;
  const property = findFreeName(properties, name, location);
  const schema = converter.add(getParameterSource(parameter));
  describeParameter(schema, description);
  properties.set(property, { schema, required: required || location === "path" });
  return toRequestParameter(parameter, property);
}

/** Parameters in different places may have the same name. The later one gets a prefix. */
function findFreeName(properties: InputProperties, name: string, prefix: string): string {
  let free = name;
  while (properties.has(free)) free = `${prefix}_${free}`;
  return free;
}

interface AddedBody {
  request: RequestBody;
  selected: SelectedBody;
  /** The schema of the body. Its inner schemas are converted later. */
  schema: JsonSchema;
}

/**
 * Adds the request body to the properties of the input: property by property when it is an object whose names are all
 * free, otherwise as one property.
 *
 * @returns `null` for an operation without a body, a text for one that requires a body of a type that agents cannot send
 */
function addBody({ properties, references, converter }: InputContext, requestBody: unknown): AddedBody | null | string {
  const body = requestBodySchema.safeParse(references.follow(requestBody).value);
  if (!body.success) return null;
  const { content, required, description } = body.data;
  const selected = selectBody(content);
  if (selected === null) return required ? describeTypes(Object.keys(content)) : null;
  const { contentType, media } = selected;
  const isText = !isJsonMediaType(contentType) && !isForm(contentType);
  const schema = isText ? toTextSchema(contentType) : converter.add(media.schema);
  const fields = isForm(contentType) ? listFieldEncodings(media, references) : [];
  const request = {
    contentType,
    property: null,
    ...(!required && { isRequired: false }),
    ...(fields.length > 0 && { fields }),
  };
  const bodyProperties = getOnlyProperties(schema);
  if (bodyProperties === null || Object.keys(bodyProperties).some((name) => properties.has(name))) {
    const property = findFreeName(properties, "body", "request");
    describeParameter(schema, description);
    properties.set(property, { schema, required });
    return { request: { ...request, property }, selected, schema };
  }
  const requiredNames: unknown[] = required && Array.isArray(schema["required"]) ? schema["required"] : [];
  for (const [name, value] of Object.entries(bodyProperties))
    properties.set(name, { schema: isRecord(value) ? value : {}, required: requiredNames.includes(name) });
  return { request, selected, schema };
}

function describeTypes(types: readonly string[]): string {
  if (types.length === 0) return "it requires a body, but does not describe it";
  const quoted = types.slice(0, 3).map((type) => quoteAppText(type, 60));
  return `it requires a body of type ${quoted.join(" or ")}, which is neither JSON, a form, nor text`;
}

function toTextSchema(contentType: string): JsonSchema {
  return contentType === "text/plain"
    ? { type: "string" }
    : { type: "string", description: `A document of type ${contentType}.` };
}

/**
 * Removes the files from the input of a form.
 *
 * @returns a text when the form requires a file; otherwise `null`
 */
function removeFiles(properties: InputProperties, { request, selected, schema }: AddedBody): string | null {
  if (!isForm(request.contentType)) return null;
  const files = listFileFields(schema, selected.media);
  const required: unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  if (files.some((name) => required.includes(name))) return "it requires a file, which agents cannot send";
  for (const name of files) {
    if (request.property === null) properties.delete(name);
    else if (isRecord(schema["properties"])) delete schema["properties"][name];
  }
  return null;
}

/** @returns the properties of an object that its properties describe completely, otherwise `null` */
function getOnlyProperties({ type, properties, allOf, anyOf, oneOf, additionalProperties }: JsonSchema) {
  if (type !== "object" || !isRecord(properties) || allOf || anyOf || oneOf) return null;
  return isRecord(additionalProperties) || additionalProperties === true ? null : properties;
}

function toObjectSchema(properties: InputProperties, required: readonly string[]): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries([...properties].map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required: [...required] }),
    additionalProperties: false,
  };
}
