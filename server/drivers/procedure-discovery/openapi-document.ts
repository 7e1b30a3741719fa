import { z } from "zod";

/** Unquoted texts of YAML can be numbers, such as the version 3.0. */
const text = z.preprocess((value) => (typeof value === "number" ? String(value) : value), z.string());
/** A key of YAML without a value is `null`, which means the same as a missing key. */
const optionalText = text.optional().catch(undefined);
const optionalBoolean = z.boolean().optional().catch(undefined);
const anyObject = z.record(z.string(), z.unknown());
const optionalObject = anyObject.optional().catch(undefined);

/**
 * The outline of an OpenAPI 3 document. Its parts are validated one by one, so that a malformed part does not
 * invalidate the others.
 */
export const openApiSchema = z.looseObject({
  openapi: text.pipe(z.string().regex(/^3(\.|$)/)),
  servers: z.unknown().optional(),
  paths: anyObject.nullish().transform((paths) => paths ?? {}),
});

export type OpenApi = z.output<typeof openApiSchema>;

export const serversSchema = z
  .array(
    z.looseObject({
      url: text,
      variables: z
        .record(
          z.string(),
          z.looseObject({ default: optionalText, enum: z.array(text).optional().catch(undefined) }).catch({}),
        )
        .optional()
        .catch(undefined),
    }),
  )
  .min(1);

export const operationSchema = z.looseObject({
  operationId: optionalText,
  summary: optionalText,
  description: optionalText,
  parameters: z.array(z.unknown()).optional().catch(undefined),
  requestBody: z.unknown().optional(),
  responses: optionalObject,
  servers: z.unknown().optional(),
});

export type OpenApiOperation = z.output<typeof operationSchema>;

export const encodingSchema = z.looseObject({
  style: optionalText,
  explode: optionalBoolean,
  allowReserved: optionalBoolean,
  contentType: optionalText,
});

/** The `encoding` of a schema by property is read later, because it does not concern JSON. */
const mediaType = z
  .looseObject({ schema: z.unknown().optional(), encoding: optionalObject })
  .catch({ schema: undefined });
const mediaTypes = z.record(z.string(), mediaType);

export type MediaType = z.output<typeof mediaType>;

export const parameterSchema = z.looseObject({
  name: text.pipe(z.string().min(1).max(200)),
  in: z.enum(["path", "query", "header", "cookie"]),
  description: optionalText,
  required: z.boolean().default(false).catch(false),
  style: optionalText,
  explode: optionalBoolean,
  allowReserved: optionalBoolean,
  schema: z.unknown().optional(),
  content: mediaTypes.optional().catch(undefined),
});

export type Parameter = z.output<typeof parameterSchema>;

export const requestBodySchema = z.looseObject({
  description: optionalText,
  required: z.boolean().default(false).catch(false),
  content: mediaTypes.catch({}),
});
export const responseSchema = z.looseObject({ content: mediaTypes.optional().catch(undefined) });
