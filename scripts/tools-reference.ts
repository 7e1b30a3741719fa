import type { Tool } from "../routers/tool-registry.ts";

interface Schema {
  type?: string | string[];
  description?: string;
  default?: unknown;
  items?: Schema;
  anyOf?: Schema[];
  enum?: string[];
  const?: string;
  properties?: Record<string, Schema>;
  required?: string[];
}

const INTRODUCTION = `# Tools of the gateway

Generated from the routers by \`npm run docs\`. \`POST /mcp\` implements the Model Context Protocol, all revisions up to
2026-07-28, with JSON responses and without sessions. Every request needs the header \`Authorization: Bearer <token>\`, with a
personal access token (\`svp_…\`), a gateway token of an agent (\`svg_…\`), or an OAuth access token for this resource. The rate
limit is 600 calls a minute per organization.

An error that the agent can correct is a result with \`isError: true\`. Its text says what is wrong and what is valid. A result
has at most 24,000 characters. A longer result is cut, with a note about what is missing.

An app with five or fewer procedures has each of them as a direct tool, \`<slug>_<procedure>\`. A direct tool returns one of:

- \`output\`: the response of the app
- \`output_cut\` and \`note\`: the start of a response that is too long
- \`app_error\`: the status and message of an error response of the app
`;

/** Renders the tools that `tools/list` returns as a reference in Markdown. */
export function renderToolsReference(tools: readonly Tool[]): string {
  return `${[INTRODUCTION, ...tools.map(renderTool)].join("\n").trimEnd()}\n`;
}

function renderTool({ name, title, description, inputSchema, outputSchema, annotations }: Tool): string {
  const hints = [
    annotations.readOnlyHint ? "read-only" : "not read-only",
    annotations.destructiveHint ? "destructive" : "non-destructive",
    annotations.idempotentHint ? "idempotent" : "not idempotent",
    annotations.openWorldHint ? "open-world" : "closed-world",
  ];
  return [
    `## \`${name}\``,
    `**${title}** (${hints.join(", ")}). ${description}`,
    "Input:",
    renderFields(inputSchema, ""),
    "Output:",
    renderFields(outputSchema, ""),
    "",
  ].join("\n\n");
}

function renderFields(schema: Schema, indent: string): string {
  const lines = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const optional = schema.required?.includes(name) === true ? "" : ", optional";
    const defaultValue = field.default === undefined ? "" : `, default \`${JSON.stringify(field.default)}\``;
    const description = field.description === undefined ? "" : `: ${field.description}`;
    const inner = renderFields(field.items ?? field, `${indent}  `);
    return `${indent}- \`${name}\` (${renderType(field)}${optional}${defaultValue})${description}${inner.startsWith("none") ? "" : `\n${inner}`}`;
  });
  return lines.length === 0 ? "none" : lines.join("\n");
}

function renderType({ type, anyOf, items, enum: values, const: value }: Schema): string {
  if (anyOf !== undefined) return anyOf.map(renderType).join(" or ");
  if (values !== undefined) return values.map((each) => `\`${each}\``).join(", ");
  if (value !== undefined) return `\`${value}\``;
  if (items !== undefined) return `list of ${renderType(items)}`;
  return [type ?? "anything"].flat().join(" or ");
}
