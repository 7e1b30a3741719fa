import type { NamedOperation, Parameter, Schema } from "./reference.ts";
import { schemaName } from "./reference.ts";

type Schemas = Record<string, Schema>;

const BY_FORMAT: Record<string, string> = {
  uuid: "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e",
  "date-time": "2026-11-20T09:30:00.000Z",
  uri: "https://example.com",
  email: "ada@example.com",
};

/** Returns a value that the schema describes: its own example if it has one. */
export function exampleOf(schema: Schema, schemas: Schemas, { requiredOnly = false } = {}): unknown {
  if (schema.$ref !== undefined) return exampleOf(schemas[schemaName(schema.$ref)] ?? {}, schemas, { requiredOnly });
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  const alternative = (schema.anyOf ?? schema.oneOf)?.[0];
  if (alternative !== undefined) return exampleOf(alternative, schemas, { requiredOnly });
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.items !== undefined) return [exampleOf(schema.items, schemas, { requiredOnly })];
  if (schema.properties === undefined) return exampleOfType(schema);
  const fields = Object.entries(schema.properties).filter(
    ([name]) => !requiredOnly || schema.required?.includes(name) === true,
  );
  return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, schemas, { requiredOnly })]));
}

function exampleOfType({ type, format }: Schema): unknown {
  const [first] = [type ?? "object"].flat();
  if (first === "string") return BY_FORMAT[format ?? ""] ?? "text";
  if (first === "integer" || first === "number") return 1;
  if (first === "boolean") return true;
  return first === "null" ? null : {};
}

/**
 * Writes the call of an operation for a POSIX shell, with the parameters and fields that it requires. The token and the
 * parameters of the path are variables of the shell.
 */
export function curlExample(baseUrl: string, operation: NamedOperation, schemas: Schemas): string {
  const { method, path, parameters = [] } = operation;
  const query = parameters
    .filter((parameter) => parameter.in === "query" && parameter.required === true)
    .map((parameter) => `${parameter.name}=${encodeURIComponent(exampleOfParameter(parameter, schemas))}`);
  const url = `${baseUrl}${fillPath(path)}${query.length === 0 ? "" : `?${query.join("&")}`}`;
  const lines = [
    `curl${method === "GET" ? "" : ` -X ${method}`} "${url}"`,
    '-H "Authorization: Bearer $TOKEN"',
    ...describeBody(operation, schemas),
  ];
  return lines.join(" \\\n  ");
}

function exampleOfParameter({ schema }: Parameter, schemas: Schemas): string {
  const example = exampleOf(schema, schemas);
  return typeof example === "string" ? example : JSON.stringify(example);
}

/** `/v1/apps/{id}/deployments/{number}` becomes `/v1/apps/$APP_ID/deployments/$DEPLOYMENT_NUMBER`. */
function fillPath(path: string): string {
  const segments = path.split("/");
  return segments
    .map((segment, index) => {
      if (!segment.startsWith("{")) return segment;
      const name = segment.slice(1, -1);
      const noun = name.includes("_") ? "" : `${segments[index - 1]?.replace(/s$/, "") ?? ""}_`;
      return `$${(noun + name).toUpperCase()}`;
    })
    .join("/");
}

function describeBody({ requestBody }: NamedOperation, schemas: Schemas): string[] {
  const [content] = Object.entries(requestBody?.content ?? {});
  if (content === undefined) return [];
  const [type, { schema }] = content;
  if (type !== "application/json") return [`-H "Content-Type: ${type}"`, "--data-binary @FILE"];
  const body = JSON.stringify(exampleOf(schema, schemas, { requiredOnly: true })).replaceAll("'", String.raw`'\''`);
  return ['-H "Content-Type: application/json"', `-d '${body}'`];
}
