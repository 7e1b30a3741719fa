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

Generated from the routers by \`npm run docs\`. \`POST /mcp\` speaks the Model Context Protocol, revisions up to 2026-07-28,
as JSON and without sessions. A call carries \`Authorization: Bearer <token>\`: a personal access token (\`svp_…\`) or an
agent's gateway token (\`svg_…\`). An organization has 600 calls a minute.

What a tool refuses comes back as a result with \`isError\`, which says what was wrong and what is valid. An answer holds
24,000 characters at most; what had to be left out is said in it.

Beside the tools below, each procedure of an app with five or fewer is a tool of its own, \`<slug>_<procedure>\`. It returns
the app's answer as \`output\`; as \`output_cut\` with a \`note\` when that is too long; or \`app_error\` with the app's own
status and message.
`;

/** The tools as Markdown, from what a client gets to see of them. */
export function toolsReference(tools: readonly Tool[]): string {
  return `${[INTRODUCTION, ...tools.map(toolSection)].join("\n").trimEnd()}\n`;
}

function toolSection({ name, title, description, inputSchema, outputSchema, annotations }: Tool): string {
  const traits = [
    annotations.readOnlyHint ? "reads only" : "changes something",
    annotations.destructiveHint ? "may destroy" : "destroys nothing",
    annotations.idempotentHint ? "safe to repeat" : "not safe to repeat",
    annotations.openWorldHint ? "reaches outside" : "stays inside",
  ];
  return [
    `## \`${name}\``,
    `**${title}** (${traits.join(", ")}). ${description}`,
    "Input:",
    fields(inputSchema, ""),
    "Output:",
    fields(outputSchema, ""),
    "",
  ].join("\n\n");
}

function fields(schema: Schema, indent: string): string {
  const lines = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const optional = schema.required?.includes(name) === true ? "" : ", optional";
    const preset = field.default === undefined ? "" : `, default \`${JSON.stringify(field.default)}\``;
    const words = field.description === undefined ? "" : `: ${field.description}`;
    const inner = fields(field.items ?? field, `${indent}  `);
    return `${indent}- \`${name}\` (${typeOf(field)}${optional}${preset})${words}${inner.startsWith("none") ? "" : `\n${inner}`}`;
  });
  return lines.length === 0 ? "none" : lines.join("\n");
}

function typeOf({ type, anyOf, items, enum: values, const: value }: Schema): string {
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" or ");
  if (values !== undefined) return values.map((each) => `\`${each}\``).join(", ");
  if (value !== undefined) return `\`${value}\``;
  if (items !== undefined) return `list of ${typeOf(items)}`;
  return [type ?? "anything"].flat().join(" or ");
}
