import { Ajv2020 } from "ajv/dist/2020.js";

/**
 * What the APIs of models refuse in the tools of a request, as their documentation and error messages say. One refused tool makes
 * the whole request fail.
 */
export interface ListedTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

export const PROVIDERS = ["anthropic", "openai", "openai-strict", "gemini", "bedrock"] as const;
export type Provider = (typeof PROVIDERS)[number];

type Schema = Record<string, unknown>;

/** @returns what the API says against the tool; empty for an accepted one */
export function listViolations({ name, description, inputSchema }: ListedTool, provider: Provider): string[] {
  const { names, checkRoot, checkSchema } = RULES[provider];
  const found = checkRoot(inputSchema);
  if (!names.test(name)) found.push(`name ${name}`);
  if (description === "" || description.length > 1024) found.push(`description of ${description.length} characters`);
  visit(inputSchema, "", 0, (schema, path, depth) => {
    for (const violation of [...checkEverywhere(schema, depth), ...checkSchema(schema)])
      found.push(`${path}: ${violation}`);
  });
  return found;
}

interface ProviderRules {
  names: RegExp;
  checkRoot(schema: Schema): string[];
  /** Checks one schema, without those inside. */
  checkSchema(schema: Schema): string[];
}

const COMPOSITIONS = ["anyOf", "oneOf", "allOf", "not", "enum", "$ref", "const"];
/** The keywords of structured outputs. In this mode clients make every property required. */
const STRICT_KEYWORDS =
  "type properties required items anyOf enum const description format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems $ref $defs additionalProperties".split(
    " ",
  );
const STRICT_FORMATS = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
const GEMINI_KEYWORDS =
  "type properties required items anyOf enum description format minimum maximum minItems maxItems minLength maxLength minProperties maxProperties title nullable".split(
    " ",
  );
/** Beyond it, `strict` refuses a schema. */
const MAX_DEPTH = 10;

const RULES: Readonly<Record<Provider, ProviderRules>> = {
  anthropic: {
    names: /^[a-zA-Z0-9_-]{1,64}$/,
    checkRoot: (schema) => [...requireObject(schema), ...refuse(schema, COMPOSITIONS), ...validateJsonSchema(schema)],
    checkSchema: ({ properties }) =>
      Object.keys(properties ?? {})
        .filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
        .map((name) => `property ${JSON.stringify(name)}`),
  },
  openai: {
    names: /^[a-zA-Z0-9_-]{1,64}$/,
    checkRoot: (schema) => [...requireObject(schema), ...refuse(schema, COMPOSITIONS)],
    checkSchema: ({ type, items }) => (type === "array" && items === undefined ? ["array without items"] : []),
  },
  "openai-strict": {
    names: /^[a-zA-Z0-9_-]{1,64}$/,
    checkRoot: (schema) => [...requireObject(schema), ...refuse(schema, COMPOSITIONS)],
    checkSchema: (schema) => {
      const { type, anyOf, format, additionalProperties } = schema;
      const untyped = type === undefined && anyOf === undefined ? ["schema without a type"] : [];
      const unknownFormat = format !== undefined && !STRICT_FORMATS.some((known) => known === format) ? ["format"] : [];
      const open = typeof additionalProperties === "object" ? ["additionalProperties"] : [];
      return [...allowOnly(schema, STRICT_KEYWORDS), ...untyped, ...unknownFormat, ...open];
    },
  },
  gemini: {
    names: /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/,
    checkRoot: requireObject,
    checkSchema: checkGeminiSchema,
  },
  bedrock: {
    names: /^[a-zA-Z0-9_-]{1,64}$/,
    checkRoot: (schema) => [...requireObject(schema), ...allowOnly(schema, ["type", "properties", "required"])],
    checkSchema: () => [],
  },
};

function checkGeminiSchema(schema: Schema): string[] {
  const { type, anyOf, format, enum: values, items, required = [], properties = {} } = schema;
  const found = allowOnly(schema, GEMINI_KEYWORDS);
  if (anyOf !== undefined && Object.keys(schema).length > 1) found.push("keywords beside anyOf");
  if (anyOf === undefined && typeof type !== "string") found.push("no single type");
  if (type === "array" && items === undefined) found.push("array without items");
  if (format !== undefined && !(type === "string" && ["date-time", "enum"].some((known) => known === format)))
    found.push("format");
  const isTextEnum = (each: unknown) => typeof each === "string" && each !== "";
  if (values !== undefined && !(type === "string" && Array.isArray(values) && values.every(isTextEnum)))
    found.push("enum of other values than texts");
  for (const name of required as string[])
    if (!Object.hasOwn(properties as object, name)) found.push(`required property ${name} is not described`);
  return found;
}

/** Rules that hold for every API. */
function checkEverywhere(schema: Schema, depth: number): string[] {
  const found = depth > MAX_DEPTH ? ["nested too deeply"] : [];
  const numbers = Object.values(schema).filter((value) => typeof value === "number");
  if (numbers.some((value) => Math.abs(value) >= Number.MAX_SAFE_INTEGER))
    found.push("a number at the end of the range");
  // RE2 and Rust's engine, which validate schemas behind some APIs, have neither lookarounds nor references.
  const { pattern } = schema;
  if (typeof pattern === "string" && /\(\?[=!<]|\\[1-9]|\\p/.test(pattern)) found.push("pattern");
  return found;
}

function requireObject({ type }: Schema): string[] {
  return type === "object" ? [] : ["the root is no object"];
}

function refuse(schema: Schema, keywords: readonly string[]): string[] {
  return keywords.filter((keyword) => Object.hasOwn(schema, keyword)).map((keyword) => `${keyword} at the root`);
}

function allowOnly(schema: Schema, keywords: readonly string[]): string[] {
  return Object.keys(schema).filter((keyword) => !keywords.includes(keyword));
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });

function validateJsonSchema(schema: Schema): string[] {
  return ajv.validateSchema(schema) === true ? [] : [ajv.errorsText()];
}

/** Visits every schema inside a schema. */
function visit(
  schema: unknown,
  path: string,
  depth: number,
  check: (schema: Schema, path: string, depth: number) => void,
): void {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return;
  const { properties, items, anyOf, additionalProperties, ...others } = schema as Schema;
  check(schema as Schema, path, depth);
  for (const [name, property] of Object.entries(properties ?? {})) visit(property, `${path}.${name}`, depth + 1, check);
  visit(items, `${path}[]`, depth + 1, check);
  visit(additionalProperties, `${path}.*`, depth + 1, check);
  for (const keyword of ["oneOf", "allOf", "prefixItems"])
    for (const part of [others[keyword] ?? []].flat()) visit(part, `${path}|`, depth, check);
  for (const option of [anyOf ?? []].flat()) visit(option, `${path}|`, depth, check);
}
