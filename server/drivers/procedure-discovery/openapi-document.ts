import { z } from "zod";

const anyObject = z.record(z.string(), z.unknown());

/**
 * The outline of an OpenAPI 3 document. Its parts are validated one by one, so that a malformed part does not
 * invalidate the others.
 */
export const openApiSchema = z.looseObject({
  openapi: z.string().regex(/^3\.\d/),
  servers: z
    .array(z.looseObject({ url: z.string() }))
    .optional()
    .catch(undefined),
  paths: anyObject.default({}),
});

export type OpenApi = z.output<typeof openApiSchema>;

export const operationSchema = z.looseObject({
  operationId: z.string().optional().catch(undefined),
  summary: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  parameters: z.array(z.unknown()).max(100).default([]),
  requestBody: z.unknown().optional(),
  responses: anyObject.optional().catch(undefined),
});

export type OpenApiOperation = z.output<typeof operationSchema>;

const mediaTypes = z.record(z.string(), z.looseObject({ schema: z.unknown().optional() }));

export const parameterSchema = z.looseObject({
  name: z.string().min(1).max(200),
  in: z.enum(["path", "query", "header", "cookie"]),
  description: z.string().optional().catch(undefined),
  required: z.boolean().default(false).catch(false),
  explode: z.boolean().optional().catch(undefined),
  schema: z.unknown().optional(),
});

export type Parameter = z.output<typeof parameterSchema>;

export const requestBodySchema = z.looseObject({
  required: z.boolean().default(false).catch(false),
  content: mediaTypes,
});
export const responseSchema = z.looseObject({ content: mediaTypes });
