// Describes the procedures of a tRPC router. Runs in a temporary process beside the code of the app, which can change anything
// there. The report is therefore validated again outside.
import { BIGINT, DATE, describeJsType, isImpossible, mapOf, setOf } from "./js-types.mjs";
import { convertZod3 } from "./zod-3-json-schema.mjs";

/**
 * Bounds in characters, approximately. They are slightly above the caps outside. The report as a whole must fit into
 * the memory of this isolate.
 */
const MAX_SCHEMA_CHARACTERS = 96 * 1024;
const MAX_REPORT_CHARACTERS = 16 * 1024 * 1024;
const MAX_SCHEMA_DEPTH = 100;
const TARGET = { target: "draft-2020-12" };

/**
 * @param {object | null} router
 * @param {object} options
 * @param {number} options.maxProcedures
 * @param {() => Promise<unknown>} options.loadZod4 imports zod's own converter
 * @param {() => Promise<unknown>} options.loadZod3 imports zod-to-json-schema
 */
export async function createReport(router, { maxProcedures, ...loaders }) {
  if (router === null) return { found: false };
  await loadLazyRouters(router._def);
  const transformer = detectTransformer(router._def._config);
  const isSuperjson = transformer === "superjson";
  const converters = { ...loaders, isSuperjson, remainingCharacters: MAX_REPORT_CHARACTERS };
  const procedures = [];
  const subscriptions = [];
  let total = 0;
  for (const [name, procedure] of Object.entries(router._def.procedures)) {
    const kind = procedure?._def?.type;
    if (kind === "subscription" && subscriptions.length < maxProcedures) subscriptions.push(name);
    if (kind !== "query" && kind !== "mutation") continue;
    total++;
    if (procedures.length < maxProcedures) procedures.push(await describe(name, kind, procedure._def, converters));
  }
  return { found: true, total, transformer, procedures, subscriptions };
}

/** Loading a lazy router adds its procedures to the others. It may contain further lazy routers. */
async function loadLazyRouters(definition) {
  for (let round = 0; round < 100; round++) {
    const routers = Object.values(definition.lazy ?? {});
    if (routers.length === 0) return;
    await Promise.all(routers.map((router) => router.load()));
  }
}

async function describe(name, kind, definition, converters) {
  const meta = definition.meta ?? {};
  const texts = [meta.description, meta.openapi?.description, meta.openapi?.summary, meta.summary];
  return {
    name,
    kind,
    description: texts.find((text) => typeof text === "string" && text !== "") ?? "",
    inputs: await Promise.all((definition.inputs ?? []).map((parser) => tryConvert(parser, "input", converters))),
    isInputOptional: (await Promise.all((definition.inputs ?? []).map(acceptsNothing))).every(Boolean),
    output: definition.output ? await tryConvert(definition.output, "output", converters) : null,
  };
}

/** Returns the JSON Schema of a parser, or why there is none. */
async function tryConvert(parser, direction, converters) {
  if (direction === "input" && NOTHING_KINDS.has(parser._zod?.def.type ?? parser._def?.typeName))
    return { schema: NO_INPUT };
  const schema = await convert(parser, direction, converters).catch(() => null);
  if (schema === null) return { failed: "unknown" };
  if (direction === "input" && isImpossible(schema)) return { failed: "impossible" };
  const size = measure(schema, Math.min(MAX_SCHEMA_CHARACTERS, converters.remainingCharacters), MAX_SCHEMA_DEPTH);
  if (size === Infinity) return { failed: "large" };
  converters.remainingCharacters -= size;
  return { schema };
}

/** The validators of procedures without input, in zod 4 and zod 3. */
const NOTHING_KINDS = new Set(["void", "undefined", "ZodVoid", "ZodUndefined"]);
const NO_INPUT = { type: "object", properties: {}, additionalProperties: false };

/** Whether a parser of any library accepts a call without input. */
async function acceptsNothing(parser) {
  try {
    const standard = parser["~standard"]?.validate;
    if (standard) return (await standard(undefined)).issues === undefined;
    if (typeof parser.safeParseAsync === "function") return (await parser.safeParseAsync(undefined)).success === true;
    const parse = ["parseAsync", "parse", "validateSync", "create", "assert"].find((name) => parser[name]);
    await (parse === undefined ? parser(undefined) : parser[parse](undefined));
    return true;
  } catch {
    return false;
  }
}

/** Estimates the length of a value as JSON. `Infinity` means longer than `max` or nested deeper than `depth`. */
function measure(value, max, depth) {
  if (typeof value === "string") return value.length > max ? Infinity : value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (depth === 0) return Infinity;
  let size = 8;
  for (const key in value) {
    size += key.length + 8 + measure(value[key], max - size, depth - 1);
    if (size > max) return Infinity;
  }
  return size;
}

async function convert(parser, direction, { loadZod4, loadZod3, isSuperjson }) {
  try {
    const standard = parser["~standard"]?.jsonSchema?.[direction];
    if (standard) return standard(TARGET);
  } catch {
    // It throws for types that JSON Schema cannot express, such as a date. zod's own converter can leave those open.
  }
  if (parser._zod) {
    const { toJSONSchema } = await loadZod4();
    return convertZod4(toJSONSchema, parser, { direction, isSuperjson });
  }
  if (typeof parser._def?.typeName !== "string") return null;
  return convertZod3(await loadZod3(), parser, { direction, isSuperjson });
}

function convertZod4(toJSONSchema, parser, options) {
  const convertPart = (part) => {
    const { $schema: _schema, ...schema } = convertZod4(toJSONSchema, part, options);
    // A reference would need the definitions of the part at the root.
    return JSON.stringify(schema).includes('"$ref"') ? {} : schema;
  };
  const override = (context) => {
    addOwnDescription(context);
    const { def } = context.zodSchema._zod;
    const json = JS_TYPES[def.type]?.(def, convertPart);
    if (json === undefined) return;
    const [type, schema] = json;
    Object.assign(context.jsonSchema, describeJsType(type, schema, { ...options, isCoerced: def.coerce === true }));
  };
  return toJSONSchema(parser, { ...TARGET, io: options.direction, unrepresentable: "any", override });
}

const JS_TYPES = {
  date: () => ["Date", DATE],
  bigint: () => ["bigint", BIGINT],
  set: ({ valueType }, convertPart) => ["Set", setOf(convertPart(valueType))],
  map: ({ keyType, valueType }, convertPart) => ["Map", mapOf(convertPart(keyType), convertPart(valueType))],
};

/** Early versions of zod 4 store descriptions in a registry that only the app's own copy of zod can read. */
function addOwnDescription({ zodSchema, jsonSchema }) {
  const text = zodSchema.description;
  if (typeof text === "string" && jsonSchema.description === undefined) jsonSchema.description = text;
}

/** superjson wraps a value and records the types that JSON does not have. */
function detectTransformer(config) {
  const sides = [config?.transformer?.input, config?.transformer?.output];
  if (sides.every((side) => !side || isIdentity(side))) return "none";
  return sides.every((side) => side && isSuperjson(side)) ? "superjson" : "unknown";
}

function isIdentity(side) {
  const probe = { at: new Date(0) };
  return side.serialize(probe) === probe;
}

function isSuperjson(side) {
  const serialized = side.serialize({ at: new Date(0) });
  return serialized?.json?.at === "1970-01-01T00:00:00.000Z" && serialized.meta?.values?.at?.[0] === "Date";
}
