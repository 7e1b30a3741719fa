// Converts zod 3 schemas to JSON Schema, which zod 3 itself cannot, with the library zod-to-json-schema.

/**
 * @param {object} library the namespace of zod-to-json-schema
 * @param {object} schema
 * @param {"input" | "output"} direction which side of defaults and transformations the schema describes
 */
export function convertZod3(library, schema, direction) {
  return library.zodToJsonSchema(schema, {
    applyRegexFlags: true,
    pipeStrategy: direction,
    // An object accepts unknown properties, unless it is strict.
    removeAdditionalStrategy: "strict",
    allowedAdditionalProperties: undefined,
    override: (definition, context) => override(library, definition, context, direction),
    postProcess: (converted, definition) =>
      direction === "output" && definition.typeName === "ZodObject"
        ? requireDefaults(converted, definition)
        : converted,
  });
}

function override(library, definition, context, direction) {
  const { ignoreOverride } = library;
  const converted = OVERRIDES[definition.typeName]?.(library, definition, context, direction) ?? ignoreOverride;
  const { description } = definition;
  return converted === ignoreOverride || !description ? converted : { ...converted, description };
}

/** Conversions that differ from those of the library. */
const OVERRIDES = {
  // JSON has no dates, and JSON Schema cannot describe what the app's transformer makes of them.
  ZodDate: () => ({}),
  // A transformation does not tell the type of its result.
  ZodEffects: ({ ignoreOverride }, { effect }, _context, direction) =>
    direction === "output" && effect.type === "transform" ? {} : ignoreOverride,
  // The library writes tuples as draft 7 does. JSON Schema 2020-12 renamed both keywords.
  ZodTuple: ({ parseDef }, { items, rest }, context) => {
    const convert = (item, ...steps) =>
      parseDef(item._def, { ...context, currentPath: [...context.currentPath, ...steps] }) ?? {};
    const prefixItems = items.map((item, at) => convert(item, "prefixItems", String(at)));
    const tuple = { type: "array", prefixItems, minItems: items.length };
    return rest ? { ...tuple, items: convert(rest, "items") } : { ...tuple, items: false, maxItems: items.length };
  },
};

/** A property with a default is optional in the input and always present in the output. */
function requireDefaults(converted, definition) {
  const required = Object.entries(definition.shape())
    .filter(([, { _def: property }]) => property.typeName === "ZodDefault" || property.typeName === "ZodCatch")
    .map(([name]) => name);
  return required.length === 0 ? converted : { ...converted, required: [...(converted.required ?? []), ...required] };
}
