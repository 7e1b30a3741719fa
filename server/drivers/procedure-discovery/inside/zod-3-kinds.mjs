/** The one value that zod-to-json-schema imports from zod 3: an enum in which each value equals its key. */
export const ZodFirstPartyTypeKind = new Proxy({}, { get: (_target, name) => name });
