import type { CommandSpec, ParameterSpec } from "../clients/cli/src/command-spec.ts";
import type { JsonSchema } from "../domain/ports/procedure-discovery.ts";
import { CLIENT_PROCEDURES, type ClientProcedure } from "./client-procedures.ts";

/** Renders the module with the commands that call one procedure each, for clients/cli. */
export function renderCliCommands(): string {
  const commands = CLIENT_PROCEDURES.filter(({ meta }) => meta.withoutRest?.isCommand !== false);
  return `// Generated from the routers by npm run docs. Do not edit.
import type { CommandSpec } from "../command-spec.ts";

export const COMMANDS: readonly CommandSpec[] = ${JSON.stringify(commands.map(describeCommand), null, 2)};
`;
}

/** The nouns of namespaces whose commands belong to a group with another name. */
const NOUNS: Readonly<Record<string, string>> = { organization: "orgs" };

function describeCommand(procedure: ClientProcedure): CommandSpec {
  const { namespace, name, kind, meta } = procedure;
  const { openapi, tool } = meta;
  const words = [NOUNS[namespace] ?? toKebabCase(namespace), toKebabCase(name)] as const;
  const isDestructive = openapi === undefined ? tool?.annotations.destructiveHint : openapi.method === "DELETE";
  return {
    procedure: `${namespace}.${name}`,
    words,
    kind,
    summary: openapi?.summary ?? tool?.title ?? meta.summary ?? words.join(" "),
    description: openapi?.description ?? "",
    isDestructive: isDestructive === true,
    parameters: describeParameters(procedure),
  };
}

function toKebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll("_", "-");
}

/**
 * The parameters of the REST path are arguments, and so is the only other required field that is one value. All other
 * fields are options.
 */
function describeParameters({ meta, input }: ClientProcedure): ParameterSpec[] {
  const path = meta.openapi?.path ?? "";
  const properties = (input["properties"] ?? {}) as Record<string, JsonSchema>;
  const required = (input["required"] ?? []) as string[];
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, field]) => field ?? []);
  const others = required.filter((field) => !inPath.includes(field) && isOneValue(properties[field] ?? {}));
  const asArguments = [...inPath, ...(others.length === 1 ? others : [])];
  const describe = (field: string): ParameterSpec => ({
    field,
    name: toKebabCase(field),
    isArgument: asArguments.includes(field),
    isRequired: required.includes(field),
    ...describeSchema(properties[field] ?? {}),
    ...(isAppId(field, path) && { type: "app", name: "app" }),
  });
  const asOptions = Object.keys(properties).filter((field) => !asArguments.includes(field));
  return [...asArguments, ...asOptions].map(describe);
}

/** The id of an app, for which the command line also accepts a slug. */
function isAppId(field: string, path: string): boolean {
  return field === "app_id" || (field === "id" && path.startsWith("/v1/apps/{id}"));
}

function isOneValue(schema: JsonSchema): boolean {
  return ["text", "number"].includes(describeSchema(schema).type);
}

function describeSchema(schema: JsonSchema): Pick<ParameterSpec, "type" | "choices" | "isNullable" | "description"> {
  const alternatives = listAlternatives(schema);
  const isNullable = alternatives.some(({ type }) => type === "null");
  const [only = {}, ...more] = alternatives.filter(({ type }) => type !== "null");
  const choices = only["enum"];
  const { description = "", default: preset } = schema as { description?: string; default?: unknown };
  const texts = [description, preset === undefined ? "" : `default ${JSON.stringify(preset)}`];
  return {
    type: more.length > 0 ? "json" : selectType(only),
    ...(Array.isArray(choices) && { choices: choices.map(String) }),
    ...(isNullable && { isNullable }),
    description: texts.filter((text) => text !== "").join("; "),
  };
}

/** A value that can be null is written as `anyOf`, or with a list of types. */
function listAlternatives(schema: JsonSchema): JsonSchema[] {
  const { anyOf, type, ...rest } = schema;
  if (Array.isArray(anyOf)) return anyOf as JsonSchema[];
  return Array.isArray(type) ? type.map((each: string) => ({ ...rest, type: each })) : [schema];
}

function selectType({ type, items }: JsonSchema): ParameterSpec["type"] {
  if (type === "string") return "text";
  if (type === "number" || type === "integer") return "number";
  if (type === "boolean") return "boolean";
  return type === "array" && (items as JsonSchema | undefined)?.["type"] === "string" ? "texts" : "json";
}
