interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: string[];
  const?: string;
  pattern?: string;
  items?: Schema;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Operation {
  summary: string;
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema; description?: string }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const INTRODUCTION = `# REST reference

Generated from the routers by \`npm run docs\`. The OpenAPI document is [openapi.json](openapi.json). A running service serves
it at \`GET /v1/openapi.json\`, and as a web page at \`GET /docs\`.

Every request needs the header \`Authorization: Bearer <token>\`. Every error has the body \`{"error": "…"}\`. Every response
has the header \`X-Request-Id\`. A path with \`GET\` also has \`HEAD\`. An empty query parameter is an invalid one, so
omit parameters that you do not need.

In TypeScript and JavaScript, use the [SDK](sdk.md). In other languages, [generate a client](sdk.md#clients-without-the-sdk) from
the OpenAPI document.
`;

/** Renders the OpenAPI document as a reference in Markdown. */
export function renderRestReference(openapi: object): string {
  const document = openapi as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => renderOperation(method, path, operation)),
  );
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => renderSchema(name, schema));
  return (
    [INTRODUCTION, "## Endpoints", ...operations, "## Schemas", ...schemas]
      .join("\n\n")
      .replace(/\n{3,}/g, "\n\n")
      .trimEnd() + "\n"
  );
}

function renderOperation(method: string, path: string, operation: Operation): string {
  const content = operation.requestBody?.content ?? {};
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: location, schema, required, description }) =>
      `| \`${name}\` | ${location} | ${renderType(schema)} | ${required === true ? "yes" : "no"} | ${description ?? ""} |`,
  );
  const responses = Object.entries(operation.responses).map(([status, { description, content }]) => {
    const schema = content?.["application/json"]?.schema;
    return `| ${status} | ${schema === undefined ? "" : renderType(schema)} | ${description} |`;
  });
  return [
    `### \`${method.toUpperCase()} ${path}\``,
    `${operation.summary}. ${operation.description ?? ""}`.trim(),
    renderBody(content),
    parameters.length === 0
      ? ""
      : ["| Parameter | In | Type | Required | Description |", "|---|---|---|---|---|", ...parameters].join("\n"),
    ["| Status | Body | Description |", "|---|---|---|", ...responses].join("\n"),
  ].join("\n\n");
}

function renderBody(content: Record<string, { schema: Schema }>): string {
  const schema = content["application/json"]?.schema;
  if (schema !== undefined) return renderJsonBody(schema);
  const types = Object.keys(content).map((type) => `\`${type}\``);
  const [file] = Object.values(content);
  return file === undefined ? "" : `Body: ${file.schema.description ?? "a file"}, as ${types.join(", ")}`;
}

function renderJsonBody(schema: Schema): string {
  return schema.properties === undefined ? `Body: ${renderType(schema)}` : `Body:\n\n${renderFields(schema)}`;
}

function renderSchema(name: string, schema: Schema): string {
  return `### ${name}\n\n${renderFields(schema)}`;
}

function renderFields(schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).map(([field, property]) => {
    const required = schema.required?.includes(field) === true ? "yes" : "no";
    return `| \`${field}\` | ${renderType(property)} | ${required} | ${property.description ?? ""} |`;
  });
  return ["| Field | Type | Required | Description |", "|---|---|---|---|", ...rows].join("\n");
}

function renderType(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.anyOf !== undefined) return schema.anyOf.map(renderType).join(" or ");
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.items !== undefined) return `array of ${renderType(schema.items)}`;
  return [schema.type].flat().join(" or ") + (schema.format === undefined ? "" : ` (${schema.format})`);
}
