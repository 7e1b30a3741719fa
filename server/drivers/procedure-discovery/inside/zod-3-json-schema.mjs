import { BIGINT, DATE, describeJsType, isImpossible, mapOf, setOf } from "./js-types.mjs";

// Converts zod 3 schemas to JSON Schema, which zod 3 itself cannot, with the library zod-to-json-schema.

/**
 * @param {object} library the namespace of zod-to-json-schema
 * @param {object} schema
 * @param {object} options
 * @param {"input" | "output"} options.direction which side of defaults and transformations the schema describes
 * @param {boolean} options.isSuperjson whether dates, bigints, sets and maps can be sent
 */
export function convertZod3(library, schema, options) {
  const { direction } = options;
  return library.zodToJsonSchema(schema, {
    applyRegexFlags: true,
    pipeStrategy: direction,
    // An object accepts unknown properties, unless it is strict.
    removeAdditionalStrategy: "strict",
    allowedAdditionalProperties: undefined,
    override: (definition, context) => override(library, definition, context, options),
    postProcess: (converted, definition) =>
      direction === "output" && definition.typeName === "ZodObject"
        ? requireDefaults(converted, definition)
        : converted,
  });
}

function override(library, definition, context, options) {
  const { ignoreOverride } = library;
  const converted = OVERRIDES[definition.typeName]?.(library, definition, context, options) ?? ignoreOverride;
  const { description } = definition;
  return converted === ignoreOverride || !description ? converted : { ...converted, description };
}

/** Conversions that differ from those of the library. */
const OVERRIDES = {
  ZodDate: (_library, { coerce }, _context, options) => describeJsType("Date", DATE, { ...options, isCoerced: coerce }),
  ZodBigInt: (_library, { coerce }, _context, options) =>
    describeJsType("bigint", BIGINT, { ...options, isCoerced: coerce }),
  ZodSet: (library, { valueType }, context, options) =>
    describeJsType("Set", setOf(convertPart(library, valueType, context, "items")), options),
  ZodMap: (library, { keyType, valueType }, context, options) => {
    const key = convertPart(library, keyType, context, "items", "prefixItems", "0");
    const value = convertPart(library, valueType, context, "items", "prefixItems", "1");
    return describeJsType("Map", mapOf(key, value), options);
  },
  // A transformation does not tell the type of its result, and preprocessing can create a value that nobody could send.
  ZodEffects: (library, { effect, schema }, context, { direction }) => {
    if (direction === "output") return effect.type === "transform" ? {} : library.ignoreOverride;
    if (effect.type !== "preprocess") return library.ignoreOverride;
    const converted = convertPart(library, schema, context);
    return isImpossible(converted) ? {} : converted;
  },
  // The library writes tuples as draft 7 does. JSON Schema 2020-12 renamed both keywords.
  ZodTuple: (library, { items, rest }, context) => {
    const convert = (item, ...steps) => convertPart(library, item, context, ...steps);
    const prefixItems = items.map((item, at) => convert(item, "prefixItems", String(at)));
    const tuple = { type: "array", prefixItems, minItems: items.length };
    return rest ? { ...tuple, items: convert(rest, "items") } : { ...tuple, items: false, maxItems: items.length };
  },
};

/** @param {string[]} steps where the part is in the schema that contains it */
function convertPart({ parseDef }, part, context, ...steps) {
  return parseDef(part._def, { ...context, currentPath: [...context.currentPath, ...steps] }) ?? {};
}

/** A property with a default is optional in the input and always present in the output. */
function requireDefaults(converted, definition) {
  const required = Object.entries(definition.shape())
    .filter(([, { _def: property }]) => property.typeName === "ZodDefault" || property.typeName === "ZodCatch")
    .map(([name]) => name);
  return required.length === 0 ? converted : { ...converted, required: [...(converted.required ?? []), ...required] };
}
