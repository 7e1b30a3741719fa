import { AppCallFailed } from "../../../domain/ports/app-caller.ts";
import type { Invocation, RequestBody, RequestParameter } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord, parseJson } from "../../../domain/shared/json.ts";
import { type CallEncoding, InvalidArguments, toFailedResult, toInputObject } from "./call-encoding.ts";
import { writeForm, writeMultipart } from "./form-bodies.ts";
import {
  isJsonType,
  toText,
  writeCookieParameter,
  writeHeaderParameter,
  writePathParameter,
  writeQueryParameter,
} from "./parameter-styles.ts";
import type { AppResponse } from "./send-app-request.ts";

type OpenApiInvocation = Extract<Invocation, { via: "openapi" }>;
type Input = Record<string, unknown>;

/** Plain HTTP, as the OpenAPI document of the app describes it. */
export const openApiCall: CallEncoding<"openapi"> = {
  encode(call, invocation) {
    const input = toInputObject(call.input);
    requireArguments(input, invocation);
    const { method } = invocation;
    const { path, headers, rest } = placeParameters(input, invocation);
    const body = encodeBody(input, rest, invocation.body);
    if (body === null) return { method, path, headers, body: null };
    return { method, path, headers: { ...headers, "content-type": body.contentType }, body: body.text };
  },

  decode(response) {
    if (response.status >= 400) return toFailedResult(response, response.text);
    if (response.status >= 300) return toFailedResult(response, describeRedirect(response));
    return { ok: true, output: readOutput(response) };
  },
};

function requireArguments(input: Input, { parameters, required = [], body }: OpenApiInvocation): void {
  const parameterNames = new Map(parameters.map((parameter) => [parameter.property, parameter]));
  for (const name of required) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    // In a body, null is a value of JSON.
    const isMissing = value === undefined || (value === null && (parameterNames.has(name) || body === null));
    if (isMissing) throw new InvalidArguments(`Argument ${JSON.stringify(name)} is required.`);
  }
}

interface PlacedParameters {
  path: string;
  headers: Record<string, string>;
  /** The arguments that are not parameters. */
  rest: Input;
}

/** Puts each parameter in its place. */
function placeParameters(input: Input, { path: template, parameters }: OpenApiInvocation): PlacedParameters {
  const query: string[] = [];
  const cookies: string[] = [];
  const headers: Record<string, string> = { accept: "application/json" };
  const rest = new Map(Object.entries(input));
  for (const parameter of parameters) {
    const value = rest.get(parameter.property) ?? null;
    rest.delete(parameter.property);
    if (value === null || parameter.in === "path") continue;
    if (parameter.in === "header") headers[parameter.name.toLowerCase()] = writeHeader(parameter, value);
    else if (parameter.in === "cookie") cookies.push(...write(parameter, value, writeCookieParameter));
    else query.push(...write(parameter, value, writeQueryParameter));
  }
  if (cookies.length > 0) headers["cookie"] = cookies.join("; ");
  const path = expandPath(template, parameters, input);
  return { path: query.length === 0 ? path : `${path}?${query.join("&")}`, headers, rest: Object.fromEntries(rest) };
}

/** Expands each segment by itself, so that a value can neither add nor remove one. */
function expandPath(template: string, parameters: readonly RequestParameter[], input: Input): string {
  const byName = new Map(parameters.filter(({ in: place }) => place === "path").map((item) => [item.name, item]));
  // A name may contain a slash, so the template is split outside of the braces.
  const segments = template.match(/\/(?:\{[^{}]*\}|[^/])*/g) ?? [];
  return segments.map((segment) => expandSegment(segment, byName, input)).join("");
}

function expandSegment(segment: string, byName: ReadonlyMap<string, RequestParameter>, input: Input): string {
  const names: string[] = [];
  const expanded = segment.replaceAll(/\{([^{}]*)\}/g, (placeholder, name: string) => {
    const parameter = byName.get(name);
    if (parameter === undefined) return placeholder;
    const { property } = parameter;
    const value = Object.hasOwn(input, property) ? input[property] : undefined;
    const isMissing = value === undefined || value === null;
    const text = isMissing ? "" : write(parameter, value, writePathParameter);
    if (text === "") throw invalidPathParameter([property]);
    names.push(property);
    return text;
  });
  // Every URL parser reads these segments as a folder, encoded or not.
  if (names.length > 0 && /^\/(\.|%2e){1,2}$/i.test(expanded)) throw invalidPathParameter(names);
  return expanded;
}

function invalidPathParameter(properties: readonly string[]): InvalidArguments {
  const names = properties.map((name) => JSON.stringify(name)).join(", ");
  return new InvalidArguments(
    `Argument ${names} is a part of the path. It is required, and must not make the part empty, "." or "..".`,
  );
}

function write<T>(parameter: RequestParameter, value: unknown, writer: (at: RequestParameter, value: unknown) => T): T {
  try {
    return writer(parameter, value);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw new InvalidArguments(`Argument ${JSON.stringify(parameter.property)} contains half of a surrogate pair.`);
  }
}

/** A header is Latin-1 without control characters (RFC 9110). */
const HEADER_VALUE = /^[\t\x20-\x7e\xa0-\xff]*$/;

function writeHeader(parameter: RequestParameter, value: unknown): string {
  const text = writeHeaderParameter(parameter, value);
  // Apps read headers as UTF-8, and Node writes each character as one byte.
  if (HEADER_VALUE.test(text)) return Buffer.from(text, "utf8").toString("latin1");
  const name = JSON.stringify(parameter.property);
  throw new InvalidArguments(
    `Argument ${name} is sent as an HTTP header, which can contain only printable characters of Latin-1 and no line break.`,
  );
}

/** @returns `null` when the request has no body */
function encodeBody(input: Input, rest: Input, body: RequestBody | null): { contentType: string; text: string } | null {
  if (body === null) return null;
  const { contentType, property, fields, isRequired = true } = body;
  const content = property === null ? rest : Object.hasOwn(input, property) ? input[property] : undefined;
  const isMissing = property === null ? Object.keys(rest).length === 0 : content === undefined;
  if (isMissing && !isRequired) return null;
  if (isJsonType(contentType)) return { contentType, text: JSON.stringify(content ?? (isMissing ? {} : null)) };
  if (contentType === "application/x-www-form-urlencoded")
    return { contentType, text: encodeFields(content, property, (object) => writeForm(object, fields)) };
  if (contentType === "multipart/form-data") {
    const multipart = writeMultipart(toFields(content, property), fields);
    return { contentType: multipart.contentType, text: multipart.body };
  }
  return { contentType, text: toText(content ?? "") };
}

function encodeFields(content: unknown, property: string | null, writer: (fields: object) => string): string {
  try {
    return writer(toFields(content, property));
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw new InvalidArguments("A field of the form contains half of a surrogate pair.");
  }
}

function toFields(content: unknown, property: string | null): object {
  if (content === undefined || content === null) return {};
  if (isRecord(content)) return content;
  throw new InvalidArguments(`Argument ${JSON.stringify(property)} must be an object with the fields of the form.`);
}

/** @throws {AppCallFailed} when the app says that its response is JSON, and it is not */
function readOutput({ status, contentType, text }: AppResponse): unknown {
  if (text === "") return null;
  if (!isJsonType(contentType)) return text;
  if (text.trim() === "") return null;
  const value = parseJson(text);
  if (value !== undefined) return value;
  throw new AppCallFailed(
    `The app responded with status ${status} and content type application/json, but the body is not valid JSON.`,
  );
}

function describeRedirect({ status, location, text }: AppResponse): string {
  if (location === null) return text === "" ? `The app responded with status ${status}.` : text;
  return `The app redirects to ${JSON.stringify(location)} (status ${status}). The redirect was not followed: only redirects on the app's own host are, at most 5, and the method of a call never changes except to GET after POST.`;
}
