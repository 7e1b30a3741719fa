// JSON Schema of a zod 3 schema, which zod 3 itself cannot give. What JSON Schema has no words for is left open.

/** Schemas that contain themselves end here. */
const MAX_DEPTH = 24;

/** @param {"input" | "output"} direction which side of defaults and transformations is meant */
export function zod3Schema(schema, direction, depth = 0) {
  if (depth > MAX_DEPTH) return {};
  const convert = (inner) => zod3Schema(inner, direction, depth + 1);
  const converter = CONVERTERS[schema._def.typeName];
  const converted = converter ? converter(schema._def, convert, direction) : {};
  const { description } = schema._def;
  return typeof description === "string" ? { ...converted, description } : converted;
}

const CONVERTERS = {
  ZodString: (def) => ({ type: "string", ...checks(def, STRING_CHECKS) }),
  ZodNumber: (def) => ({ type: "number", ...checks(def, NUMBER_CHECKS) }),
  ZodBoolean: () => ({ type: "boolean" }),
  ZodNull: () => ({ type: "null" }),
  ZodUndefined: () => ({ not: {} }),
  ZodVoid: () => ({ not: {} }),
  ZodNever: () => ({ not: {} }),
  ZodLiteral: (def) => ({ const: def.value }),
  ZodEnum: (def) => ({ type: "string", enum: def.values }),
  ZodNativeEnum: (def) => ({ enum: enumValues(def.values) }),
  ZodObject: objectSchema,
  ZodRecord: (def, convert) => ({ type: "object", additionalProperties: convert(def.valueType) }),
  ZodArray: arraySchema,
  ZodSet: (def, convert) => ({ type: "array", uniqueItems: true, items: convert(def.valueType) }),
  ZodTuple: tupleSchema,
  ZodUnion: (def, convert) => ({ anyOf: def.options.map(convert) }),
  ZodDiscriminatedUnion: (def, convert) => ({ anyOf: [...def.options.values()].map(convert) }),
  ZodIntersection: (def, convert) => ({ allOf: [convert(def.left), convert(def.right)] }),
  ZodOptional: (def, convert) => convert(def.innerType),
  ZodNullable: (def, convert) => ({ anyOf: [convert(def.innerType), { type: "null" }] }),
  ZodDefault: (def, convert) => ({ ...convert(def.innerType), default: def.defaultValue() }),
  ZodCatch: (def, convert) => convert(def.innerType),
  ZodReadonly: (def, convert) => convert(def.innerType),
  ZodBranded: (def, convert) => convert(def.type),
  ZodLazy: (def, convert) => convert(def.getter()),
  ZodPromise: (def, convert) => convert(def.type),
  ZodPipeline: (def, convert, direction) => convert(direction === "input" ? def.in : def.out),
  // A transformation tells nothing of what it makes.
  ZodEffects: (def, convert, direction) =>
    direction === "output" && def.effect.type === "transform" ? {} : convert(def.schema),
};

const FORMATS = { email: "email", url: "uri", uuid: "uuid", datetime: "date-time", date: "date", time: "time" };

const STRING_CHECKS = {
  ...Object.fromEntries(Object.entries(FORMATS).map(([kind, format]) => [kind, () => ({ format })])),
  min: ({ value }) => ({ minLength: value }),
  max: ({ value }) => ({ maxLength: value }),
  length: ({ value }) => ({ minLength: value, maxLength: value }),
  // Flags have no place in JSON Schema, and without them the expression would be another one.
  regex: ({ regex }) => (regex.flags === "" ? { pattern: regex.source } : {}),
};

const NUMBER_CHECKS = {
  int: () => ({ type: "integer" }),
  min: ({ value, inclusive }) => ({ [inclusive ? "minimum" : "exclusiveMinimum"]: value }),
  max: ({ value, inclusive }) => ({ [inclusive ? "maximum" : "exclusiveMaximum"]: value }),
  multipleOf: ({ value }) => ({ multipleOf: value }),
};

function checks(def, known) {
  return Object.assign({}, ...(def.checks ?? []).map((check) => known[check.kind]?.(check) ?? {}));
}

function objectSchema(def, convert, direction) {
  const shape = Object.entries(def.shape());
  const required = shape.filter(([, inner]) => isRequired(inner, direction)).map(([name]) => name);
  const rest = def.catchall?._def.typeName === "ZodNever" ? def.unknownKeys !== "strict" : convert(def.catchall);
  return {
    type: "object",
    properties: Object.fromEntries(shape.map(([name, inner]) => [name, convert(inner)])),
    ...(required.length > 0 ? { required } : {}),
    ...(rest === true ? {} : { additionalProperties: rest }),
  };
}

/** A default makes a property optional for who sends it, and certain for who reads it. */
function isRequired(schema, direction) {
  const { typeName } = schema._def;
  if (typeName === "ZodDefault" || typeName === "ZodCatch") return direction === "output";
  return !schema.isOptional();
}

function arraySchema(def, convert) {
  const bounds = { minItems: def.exactLength ?? def.minLength, maxItems: def.exactLength ?? def.maxLength };
  const known = Object.entries(bounds).flatMap(([name, bound]) => (bound ? [[name, bound.value]] : []));
  return { type: "array", items: convert(def.type), ...Object.fromEntries(known) };
}

function tupleSchema(def, convert) {
  const count = def.items.length;
  const items = { type: "array", prefixItems: def.items.map(convert), minItems: count };
  return def.rest ? { ...items, items: convert(def.rest) } : { ...items, items: false, maxItems: count };
}

/** TypeScript's numeric enums map back from value to name. */
function enumValues(values) {
  const names = Object.keys(values).filter((name) => typeof values[values[name]] !== "number");
  return names.map((name) => values[name]);
}
