interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: string[];
  const?: string;
  pattern?: string;
  default?: string | number | boolean;
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

Generated from the routers by \`npm run docs\`. The same as a document for machines: [openapi.json](openapi.json), and
\`GET /v1/openapi.json\` of a running service; rendered: \`GET /docs\`.

Every call carries \`Authorization: Bearer <token>\`. Every error has the body \`{"error": "…"}\`. Every answer carries
\`X-Request-Id\`.
`;

/** The REST interface as Markdown, from its OpenAPI document. */
export function restReference(openapi: object): string {
  const document = openapi as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationSection(method, path, operation)),
  );
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => schemaSection(name, schema));
  return (
    [INTRODUCTION, "## Endpoints", ...operations, "## Bodies", ...schemas]
      .join("\n\n")
      .replace(/\n{3,}/g, "\n\n")
      .trimEnd() + "\n"
  );
}

function operationSection(method: string, path: string, operation: Operation): string {
  const body = operation.requestBody?.content["application/json"]?.schema;
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: place, schema, required, description }) =>
      `| \`${name}\` | ${place} | ${typeOf(schema)} | ${required === true ? "yes" : "no"} | ${description ?? ""} |`,
  );
  const responses = Object.entries(operation.responses).map(([status, { description, content }]) => {
    const schema = content?.["application/json"]?.schema;
    return `| ${status} | ${schema === undefined ? "" : typeOf(schema)} | ${description} |`;
  });
  return [
    `### \`${method.toUpperCase()} ${path}\``,
    `${operation.summary}. ${operation.description ?? ""}`.trim(),
    body === undefined ? "" : `Body: ${typeOf(body)}`,
    parameters.length === 0
      ? ""
      : ["| Parameter | In | Type | Required | Meaning |", "|---|---|---|---|---|", ...parameters].join("\n"),
    ["| Status | Body | When |", "|---|---|---|", ...responses].join("\n"),
  ].join("\n\n");
}

function schemaSection(name: string, schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).map(([field, property]) => {
    const required = schema.required?.includes(field) === true ? "yes" : "no";
    const preset = property.default === undefined ? "" : ` Default \`${String(property.default)}\`.`;
    return `| \`${field}\` | ${typeOf(property)} | ${required} | ${property.description ?? ""}${preset} |`;
  });
  return [`### ${name}`, ["| Field | Type | Required | Meaning |", "|---|---|---|---|", ...rows].join("\n")].join(
    "\n\n",
  );
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.items !== undefined) return `array of ${typeOf(schema.items)}`;
  return [schema.type].flat().join(" or ") + (schema.format === undefined ? "" : ` (${schema.format})`);
}
