import { type OpenApiOperation, type Parameter, parameterSchema } from "./openapi-document.ts";
import type { References } from "./openapi-references.ts";

const MAX_SHARED_PARAMETERS = 100;

/**
 * Headers that identify the caller or describe the body. OpenAPI describes some of them elsewhere. An agent must not
 * set them.
 */
const RESERVED_HEADERS =
  /^(accept|authorization|connection|content-.*|cookie|expect|host|te|trailer|transfer-encoding|upgrade|mf-.*|x-service-.*|x-forwarded-.*)$/i;
const HEADER_NAME = /^[A-Za-z0-9_-]{1,100}$/;

/**
 * Lists the parameters of an operation. Its own replace those of its path. A placeholder in the path that the document
 * does not describe is a string.
 */
export function listParameters(
  pathItem: Record<string, unknown>,
  operation: OpenApiOperation,
  template: string,
  references: References,
): Parameter[] {
  const shared = Array.isArray(pathItem["parameters"]) ? pathItem["parameters"].slice(0, MAX_SHARED_PARAMETERS) : [];
  const parameters = new Map<string, Parameter>();
  for (const value of [...shared, ...operation.parameters]) {
    const parameter = parameterSchema.safeParse(references.follow(value)).data;
    if (parameter !== undefined && isAllowed(parameter, template))
      parameters.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  for (const [, name = ""] of template.matchAll(/\{([^{}]+)\}/g))
    if (!parameters.has(`path ${name}`))
      parameters.set(`path ${name}`, { name, in: "path", required: true, schema: { type: "string" } });
  return [...parameters.values()];
}

function isAllowed({ name, in: location }: Parameter, template: string): boolean {
  if (location === "path") return template.includes(`{${name}}`);
  return location !== "header" || (HEADER_NAME.test(name) && !RESERVED_HEADERS.test(name));
}
