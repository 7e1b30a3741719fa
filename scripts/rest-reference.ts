import {
  type Content,
  describeFields,
  describeType,
  type Document,
  listOperations,
  type NamedOperation,
  type Schema,
  type TypePart,
} from "../server/rest/reference/reference.ts";

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
  const operations = listOperations(document).map(renderOperation);
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => renderSchema(name, schema));
  return (
    [INTRODUCTION, "## Endpoints", ...operations, "## Schemas", ...schemas]
      .join("\n\n")
      .replace(/\n{3,}/g, "\n\n")
      .trimEnd() + "\n"
  );
}

function renderOperation(operation: NamedOperation): string {
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
    `### \`${operation.method} ${operation.path}\``,
    `${operation.summary}. ${operation.description ?? ""}`.trim(),
    renderBody(content),
    parameters.length === 0
      ? ""
      : ["| Parameter | In | Type | Required | Description |", "|---|---|---|---|---|", ...parameters].join("\n"),
    ["| Status | Body | Description |", "|---|---|---|", ...responses].join("\n"),
  ].join("\n\n");
}

function renderBody(content: Record<string, Content>): string {
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
  const fields = describeFields(schema).length > 0;
  return `### ${name}\n\n${fields ? renderFields(schema) : renderType(schema)}`;
}

function renderFields(schema: Schema): string {
  const rows = describeFields(schema).map(
    ({ name, type, isRequired, description }) =>
      `| \`${name}\` | ${renderParts(type)} | ${isRequired ? "yes" : "no"} | ${description} |`,
  );
  return ["| Field | Type | Required | Description |", "|---|---|---|---|", ...rows].join("\n");
}

function renderType(schema: Schema): string {
  return renderParts(describeType(schema));
}

function renderParts(parts: TypePart[]): string {
  return parts
    .map((part) => {
      if ("schema" in part) return `[${part.schema}](#${part.schema.toLowerCase()})`;
      return "value" in part ? `\`${part.value}\`` : part.words;
    })
    .join("");
}
