import { type FieldEncoding, type JsonSchema, PARAMETER_STYLES } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { encodingSchema, type MediaType } from "./openapi-document.ts";
import type { References } from "./openapi-references.ts";

/** The media types that agents can send, the preferred ones first. JSON Patch is a list of edits, not the data itself. */
const SENDABLE: readonly RegExp[] = [
  /^application\/json$/,
  /^(\*|application)\/\*$/,
  /^application\/merge-patch\+json$/,
  /[/+]json$/,
  /^application\/x-www-form-urlencoded$/,
  /^multipart\/form-data$/,
  /^text\/|^application\/(xml|yaml|x-yaml|x-ndjson|jsonl|graphql|sql)$|\+(xml|yaml)$/,
];
const JSON_PATCH = "application/json-patch+json";

export interface SelectedBody {
  /** Without parameters, in lower case. */
  contentType: string;
  media: MediaType;
}

/** Selects the media type in which agents send a body; `null` when they can send none of them. */
export function selectBody(content: Readonly<Record<string, MediaType>>): SelectedBody | null {
  const types = Object.entries(content).map(([type, media]) => ({ contentType: toEssence(type), media }));
  // Last, so that another type is preferred.
  types.sort((a, b) => Number(a.contentType === JSON_PATCH) - Number(b.contentType === JSON_PATCH));
  for (const pattern of SENDABLE) {
    const found = types.find(({ contentType }) => pattern.test(contentType));
    if (found === undefined) continue;
    // A range of types includes JSON.
    return found.contentType.endsWith("/*") && !found.contentType.startsWith("text/")
      ? { ...found, contentType: "application/json" }
      : found;
  }
  return null;
}

/** `Application/JSON; charset=utf-8` becomes `application/json`. */
function toEssence(mediaType: string): string {
  return (mediaType.split(";")[0] ?? "").trim().toLowerCase();
}

export function isJsonMediaType(mediaType: string): boolean {
  return /[/+]json$/.test(toEssence(mediaType));
}

export function isForm(contentType: string): boolean {
  return contentType === "application/x-www-form-urlencoded" || contentType === "multipart/form-data";
}

/** The encodings of the fields of a form, as far as they differ from the default. */
export function listFieldEncodings({ encoding = {} }: MediaType, references: References): FieldEncoding[] {
  const fields: FieldEncoding[] = [];
  for (const [name, value] of Object.entries(isRecord(encoding) ? encoding : {})) {
    const parsed = encodingSchema.safeParse(references.follow(value).value).data;
    if (parsed === undefined) continue;
    const style = PARAMETER_STYLES.find((known) => known === parsed.style);
    const field = {
      name,
      ...(style !== undefined && { style }),
      ...(parsed.explode !== undefined && { explode: parsed.explode }),
      ...(parsed.allowReserved === true && { allowReserved: true }),
      ...(parsed.contentType !== undefined && { contentType: parsed.contentType }),
    };
    if (Object.keys(field).length > 1) fields.push(field);
  }
  return fields;
}

/**
 * The names of the fields of a form that are files. An agent cannot send one.
 *
 * @param schema - of the whole form, in JSON Schema
 */
export function listFileFields(schema: JsonSchema, { encoding = {} }: MediaType): string[] {
  const { properties } = schema;
  if (!isRecord(properties)) return [];
  return Object.entries(properties).flatMap(([name, value]) => {
    const field = isRecord(value) && isRecord(value["items"]) ? value["items"] : value;
    return isRecord(field) && isFile(field, isRecord(encoding) ? encoding[name] : undefined) ? [name] : [];
  });
}

function isFile({ format, contentMediaType, contentEncoding }: JsonSchema, encoding: unknown): boolean {
  if (format === "binary") return true;
  if (contentEncoding !== undefined) return false;
  if (typeof contentMediaType === "string" && isBinary(contentMediaType)) return true;
  const types = encodingSchema.safeParse(encoding).data?.contentType ?? "";
  return types.split(",").some((type) => type.trim() !== "" && isBinary(toEssence(type)));
}

function isBinary(type: string): boolean {
  return /^(image|audio|video|font)\/|^application\/(octet-stream|pdf|zip|gzip|x-tar|msword|vnd\.)/.test(type);
}
