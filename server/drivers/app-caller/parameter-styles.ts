import type { FieldEncoding, ParameterStyle, RequestParameter } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";

/** How one value is written. The styles of OpenAPI 3.1 are expansions of URI templates (RFC 6570). */
interface Form {
  style: ParameterStyle;
  explode: boolean;
  encode: (text: string) => string;
}

/** A value as the styles distinguish it. Texts are not encoded yet. */
type Shape =
  | { kind: "text"; text: string }
  | { kind: "list"; items: string[] }
  | { kind: "fields"; fields: [name: string, text: string][] };

/**
 * Writes a path parameter. Everything in the value is encoded, so that it cannot end the segment.
 *
 * @returns "" for a value without content, which would leave the segment empty
 */
export function writePathParameter(parameter: RequestParameter, value: unknown): string {
  const shape = toShape(value, parameter.isJson);
  if (isEmpty(shape)) return "";
  const { style = "simple", explode } = parameter;
  const name = encodeText(parameter.name);
  if (style === "matrix") return expandMatrix(name, shape, explode);
  if (style !== "label") return expandSimple(shape, { explode, encode: encodeText });
  const separator = explode ? "." : ",";
  return `.${expandSimple(shape, { explode, encode: encodeText, separator })}`;
}

/** Writes a query parameter as pairs such as `a=1`. */
export function writeQueryParameter(parameter: RequestParameter, value: unknown): string[] {
  const { name, style = "form", explode, allowReserved, isJson } = parameter;
  const encode = allowReserved === true ? encodeExceptReserved : encodeText;
  return writePairs(name, isJson ? JSON.stringify(value) : value, { style, explode, encode });
}

/** Writes a header parameter. The value is not percent-encoded, as OpenAPI requires. */
export function writeHeaderParameter({ explode, isJson }: RequestParameter, value: unknown): string {
  // JSON can express every character in ASCII.
  if (isJson === true) return JSON.stringify(value).replaceAll(/[^\x20-\x7e]/g, escapeUnit);
  return expandSimple(toShape(value, false), { explode, encode: (text) => text });
}

/** Writes a cookie parameter as pairs such as `a=1`. OpenAPI 3.2 separates the pairs of one parameter like other cookies. */
export function writeCookieParameter(parameter: RequestParameter, value: unknown): string[] {
  const { name, explode, isJson } = parameter;
  return writePairs(name, isJson ? JSON.stringify(value) : value, { style: "form", explode, encode: encodeText });
}

/** Writes a field of a form as pairs. By default the items of a list are separate, and an object is JSON. */
export function writeFormField(encoding: FieldEncoding, value: unknown): string[] {
  const { name, style, explode, allowReserved, contentType } = encoding;
  const encode = allowReserved === true ? encodeExceptReserved : encodeText;
  if (style !== undefined || explode !== undefined || allowReserved !== undefined)
    return writePairs(name, value, { style: style ?? "form", explode: explode ?? isExplodedByDefault(style), encode });
  const whole = isRecord(value) || isJsonType(contentType ?? "");
  return writePairs(name, whole ? JSON.stringify(value) : value, { style: "form", explode: true, encode });
}

/** Only the items of `form` are separate by default. */
function isExplodedByDefault(style: ParameterStyle | undefined): boolean {
  return style === undefined || style === "form" || style === "deepObject";
}

export function isJsonType(contentType: string): boolean {
  return /^[^;]*[/+]json\s*(;|$)/i.test(contentType);
}

/** Text as it is written in a request. Objects and lists within a list or an object have no style: they are JSON. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function toShape(value: unknown, isJson: boolean | undefined): Shape {
  if (isJson === true) return { kind: "text", text: JSON.stringify(value) };
  // As in RFC 6570, a member without a value is left out.
  if (Array.isArray(value)) return { kind: "list", items: value.filter(hasValue).map(toText) };
  if (!isRecord(value)) return { kind: "text", text: toText(value) };
  const members = Object.entries(value).filter(([, member]) => hasValue(member));
  return { kind: "fields", fields: members.map(([name, member]) => [name, toText(member)]) };
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isEmpty(shape: Shape): boolean {
  switch (shape.kind) {
    case "text":
      return shape.text === "";
    case "list":
      return shape.items.every((item) => item === "");
    case "fields":
      return shape.fields.length === 0;
  }
}

/** `blue,black` and `R,100,G,200`, or exploded `R=100,G=200`. */
function expandSimple(
  shape: Shape,
  { explode, encode, separator = "," }: Pick<Form, "explode" | "encode"> & { separator?: string },
): string {
  if (shape.kind === "text") return encode(shape.text);
  if (shape.kind === "list") return shape.items.map(encode).join(separator);
  const glue = explode ? "=" : separator;
  return shape.fields.map(([name, text]) => `${encode(name)}${glue}${encode(text)}`).join(separator);
}

/** `;color=blue`, and without a value `;color`. */
function expandMatrix(name: string, shape: Shape, explode: boolean): string {
  const write = (key: string, text: string) => (text === "" ? `;${key}` : `;${key}=${text}`);
  if (explode && shape.kind === "list") return shape.items.map((item) => write(name, encodeText(item))).join("");
  if (explode && shape.kind === "fields")
    return shape.fields.map(([key, text]) => write(encodeText(key), encodeText(text))).join("");
  return write(name, expandSimple(shape, { explode: false, encode: encodeText }));
}

/** The separators of a list that is not exploded. They are encoded, because URLs may contain neither a space nor `|`. */
const SEPARATORS: Partial<Record<ParameterStyle, string>> = { spaceDelimited: "%20", pipeDelimited: "%7C" };

function writePairs(name: string, value: unknown, form: Form): string[] {
  const { style, explode, encode } = form;
  const key = encodeText(name);
  if (style === "deepObject") return [...iterateDeepPairs(name, value, encode)];
  const shape = toShape(value, false);
  if (shape.kind === "text") return [`${key}=${encode(shape.text)}`];
  if (shape.kind === "list" ? shape.items.length === 0 : shape.fields.length === 0) return [];
  if (explode && shape.kind === "list") return shape.items.map((item) => `${key}=${encode(item)}`);
  if (explode && shape.kind === "fields")
    return shape.fields.map(([member, text]) => `${encodeText(member)}=${encode(text)}`);
  return [`${key}=${expandSimple(shape, { explode: false, encode, separator: SEPARATORS[style] ?? "," })}`];
}

/**
 * `filter[min]=1&filter[tags][]=a`. OpenAPI describes objects of one level only. For the rest this is what qs, PHP and
 * Rails read: lists repeat `[]`, and lists of objects have numbers.
 */
function* iterateDeepPairs(name: string, value: unknown, encode: Form["encode"]): Generator<string> {
  if (!hasValue(value)) return;
  if (Array.isArray(value)) {
    const isNested = value.some((item) => typeof item === "object" && item !== null);
    for (const [at, item] of value.entries())
      yield* iterateDeepPairs(isNested ? `${name}[${at}]` : `${name}[]`, item, encode);
  } else if (isRecord(value)) {
    for (const [key, member] of Object.entries(value)) yield* iterateDeepPairs(`${name}[${key}]`, member, encode);
  } else {
    yield `${encodeText(name)}=${encode(toText(value))}`;
  }
}

/** Encodes everything but the unreserved characters of RFC 3986. */
function encodeText(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, encodeUnit);
}

/** Keeps reserved characters, except those that end a value or a query, and `+`, which apps read as a space. */
function encodeExceptReserved(text: string): string {
  return text
    .split(/([:/?@!$'()*,;=]+)/)
    .map((part, at) => (at % 2 === 0 ? encodeText(part) : part))
    .join("");
}

function encodeUnit(unit: string): string {
  return `%${unit.charCodeAt(0).toString(16).toUpperCase()}`;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
