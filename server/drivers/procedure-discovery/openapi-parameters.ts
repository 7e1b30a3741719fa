import { type JsonSchema, PARAMETER_STYLES, type RequestParameter } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { isJsonMediaType } from "./openapi-body.ts";
import { type OpenApiOperation, type Parameter, parameterSchema } from "./openapi-document.ts";
import type { References } from "./openapi-references.ts";

const MAX_PARAMETERS = 1000;

/**
 * Headers that identify the caller or describe the body. OpenAPI describes some of them elsewhere. An agent must not
 * set them.
 */
const RESERVED_HEADERS =
  /^(accept|authorization|connection|content-.*|cookie|expect|host|te|trailer|transfer-encoding|upgrade|mf-.*|x-service-.*|x-forwarded-.*)$/i;
/** The name of a header or a cookie (RFC 9110, "Tokens"). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/**
 * Lists the parameters of an operation. Its own replace those of its path. A placeholder in the path that the document
 * does not describe is a string.
 *
 * @returns a text that says why an operation with these parameters cannot be called
 */
export function listParameters(
  pathItem: Record<string, unknown>,
  operation: OpenApiOperation,
  template: string,
  references: References,
): Parameter[] | string {
  const shared: unknown[] = Array.isArray(pathItem["parameters"]) ? pathItem["parameters"] : [];
  const parameters = new Map<string, Parameter>();
  const listed = [...shared, ...(operation.parameters ?? [])];
  if (listed.length > MAX_PARAMETERS) return `it has more than ${MAX_PARAMETERS} parameters`;
  for (const value of listed) {
    const followed = references.follow(value).value;
    const parameter = parameterSchema.safeParse(followed).data;
    if (parameter === undefined) {
      if (isRecord(followed) && followed["required"] === true) return "one of its required parameters is not valid";
    } else if (isAllowed(parameter, template)) {
      parameters.set(`${parameter.in} ${parameter.name}`, parameter);
    }
  }
  for (const [, name = ""] of template.matchAll(/\{([^{}]+)\}/g))
    if (!parameters.has(`path ${name}`))
      parameters.set(`path ${name}`, { name, in: "path", required: true, schema: { type: "string" } });
  return [...parameters.values()];
}

function isAllowed({ name, in: location }: Parameter, template: string): boolean {
  if (location === "path") return template.includes(`{${name}}`);
  if (location === "query") return true;
  return TOKEN.test(name) && !(location === "header" && RESERVED_HEADERS.test(name));
}

/** How a parameter is written in a request. What OpenAPI has as the default is left out. */
export function toRequestParameter(
  { name, in: location, ...parameter }: Parameter,
  property: string,
): RequestParameter {
  const defaultStyle = location === "query" || location === "cookie" ? "form" : "simple";
  const style = PARAMETER_STYLES.find((known) => known === parameter.style) ?? defaultStyle;
  const { explode = style === "form" || style === "deepObject" } = parameter;
  return {
    name,
    in: location,
    property,
    explode,
    ...(style !== defaultStyle && { style }),
    ...(parameter.allowReserved === true && { allowReserved: true }),
    ...(isJsonParameter(parameter) && { isJson: true }),
  };
}

/** The schema of a parameter in the document. A parameter has a schema, or content of one media type. */
export function getParameterSource({ schema, content }: Parameter): unknown {
  return schema ?? Object.values(content ?? {})[0]?.schema;
}

/** A parameter describes itself, and so does its schema. */
export function describeParameter(schema: JsonSchema, description: string | undefined): void {
  if (description !== undefined && description !== "") schema["description"] ??= description;
}

function isJsonParameter({ schema, content = {} }: Pick<Parameter, "schema" | "content">): boolean {
  const [type] = Object.keys(content);
  return schema === undefined && type !== undefined && isJsonMediaType(type);
}
