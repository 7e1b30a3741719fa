// Runs in a throwaway workerd beside the app's own code, which may do to this module whatever it likes: everything said
// here is checked again outside. It answers `REPORT_PATH` with what the app's router holds, and leaves every other
// request to the app.
import { zod3Schema } from "./zod-3.mjs";

/** In characters, roughly. A little more than what is let in outside, and together less than what this isolate can hold. */
const MAX_SCHEMA = 96 * 1024;
const MAX_REPORT = 16 * 1024 * 1024;
const MAX_DEPTH = 100;
const TARGET = { target: "draft-2020-12" };

/**
 * @param {Record<string, unknown>} app the namespace of the app's main module
 * @param {{ path: string, most: number, loadZod4: () => Promise<unknown> }} options
 */
export function introspecting(app, { path, most, loadZod4 }) {
  return {
    async fetch(request, env, context) {
      if (new URL(request.url).pathname === path) return Response.json(await report(app, most, loadZod4));
      return answerOfApp(app.default, request, env, context);
    },
  };
}

function answerOfApp(entry, request, env, context) {
  if (typeof entry === "function") return new entry(context, env).fetch(request);
  if (typeof entry?.fetch === "function") return entry.fetch(request, env, context);
  return new Response(null, { status: 404 });
}

async function report(app, most, loadZod4) {
  const router = findRouter(app);
  if (router === null) return { found: false };
  await loadLazyRouters(router._def);
  const converters = { loadZod4, room: MAX_REPORT };
  const procedures = [];
  let total = 0;
  for (const [name, procedure] of Object.entries(router._def.procedures)) {
    const kind = procedure?._def?.type;
    if (kind !== "query" && kind !== "mutation") continue;
    total++;
    if (procedures.length < most) procedures.push(await describe(name, kind, procedure._def, converters));
  }
  return { found: true, total, transformer: transformerOf(router._def._config), procedures };
}

/** `appRouter` first, by convention; else whichever comes first. */
function findRouter(app) {
  for (const name of ["appRouter", ...Object.keys(app)]) {
    try {
      const candidate = app[name];
      if (candidate?._def?.router === true && candidate._def.procedures) return candidate;
    } catch {
      // An export that throws when it is looked at is no router.
    }
  }
  return null;
}

/** A lazy router puts its procedures beside the others when it is loaded, and may hold further lazy ones. */
async function loadLazyRouters(definition) {
  for (let round = 0; round < 100; round++) {
    const loaders = Object.values(definition.lazy ?? {});
    if (loaders.length === 0) return;
    await Promise.all(loaders.map((loader) => loader.load()));
  }
}

async function describe(name, kind, definition, converters) {
  const meta = definition.meta ?? {};
  const texts = [meta.description, meta.openapi?.description, meta.openapi?.summary, meta.summary];
  return {
    name,
    kind,
    description: texts.find((text) => typeof text === "string" && text !== "") ?? "",
    inputs: await Promise.all((definition.inputs ?? []).map((parser) => schemaOf(parser, "input", converters))),
    output: definition.output ? await schemaOf(definition.output, "output", converters) : null,
  };
}

/** The JSON Schema of a parser, or why there is none. */
async function schemaOf(parser, direction, converters) {
  const schema = await convert(parser, direction, converters).catch(() => null);
  if (schema === null) return { left: "unknown" };
  const size = sizeOf(schema, Math.min(MAX_SCHEMA, converters.room), MAX_DEPTH);
  if (size === Infinity) return { left: "large" };
  converters.room -= size;
  return { schema };
}

/** How much text a value makes; `Infinity` when it is more than `most` or nested deeper than `depth`. */
function sizeOf(value, most, depth) {
  if (typeof value === "string") return value.length > most ? Infinity : value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (depth === 0) return Infinity;
  let size = 8;
  for (const key in value) {
    size += key.length + 8 + sizeOf(value[key], most - size, depth - 1);
    if (size > most) return Infinity;
  }
  return size;
}

async function convert(parser, direction, { loadZod4 }) {
  try {
    const standard = parser["~standard"]?.jsonSchema?.[direction];
    if (standard) return standard(TARGET);
  } catch {
    // It throws for what JSON Schema has no words for, such as a date; zod's own converter can leave that part open.
  }
  if (parser._zod) {
    const { toJSONSchema } = await loadZod4();
    return toJSONSchema(parser, { ...TARGET, io: direction, unrepresentable: "any", override: describedByItself });
  }
  return typeof parser._def?.typeName === "string" ? zod3Schema(parser, direction) : null;
}

/** Early versions of zod 4 keep descriptions where only the app's own copy finds them. */
function describedByItself({ zodSchema, jsonSchema }) {
  const text = zodSchema.description;
  if (typeof text === "string" && jsonSchema.description === undefined) jsonSchema.description = text;
}

/** superjson wraps a value and notes what JSON cannot hold. */
function transformerOf(config) {
  const sides = [config?.transformer?.input, config?.transformer?.output];
  if (sides.every((side) => !side || same(side))) return "none";
  return sides.every((side) => side && wraps(side)) ? "superjson" : "unknown";
}

function same(side) {
  const probe = { at: new Date(0) };
  return side.serialize(probe) === probe;
}

function wraps(side) {
  const sent = side.serialize({ at: new Date(0) });
  return sent?.json?.at === "1970-01-01T00:00:00.000Z" && sent.meta?.values?.at?.[0] === "Date";
}
