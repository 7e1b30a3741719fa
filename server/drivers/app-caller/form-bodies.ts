import { randomUUID } from "node:crypto";
import type { FieldEncoding, RequestBody } from "../../../domain/ports/procedure-discovery.ts";
import { isJsonType, toText, writeFormField } from "./parameter-styles.ts";

/** Writes an `application/x-www-form-urlencoded` body. Fields without a value are left out. */
export function writeForm(content: object, encodings: RequestBody["fields"] = []): string {
  const fields = Object.entries(content).filter(([, value]) => value !== undefined && value !== null);
  return fields.flatMap(([name, value]) => writeFormField(findEncoding(name, encodings), value)).join("&");
}

/** Writes a `multipart/form-data` body. Each item of a list is a part of its own. */
export function writeMultipart(
  content: object,
  encodings: RequestBody["fields"] = [],
): { contentType: string; body: string } {
  const boundary = `form-${randomUUID()}`;
  const parts = Object.entries(content).flatMap(([name, value]) => {
    const { contentType } = findEncoding(name, encodings);
    const values: unknown[] = Array.isArray(value) && !isJsonType(contentType ?? "") ? value : [value];
    return values
      .filter((item) => item !== undefined && item !== null)
      .map((item) => writePart(name, item, contentType));
  });
  const body = `${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join("")}--${boundary}--\r\n`;
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

function findEncoding(name: string, encodings: readonly FieldEncoding[]): FieldEncoding {
  return encodings.find((encoding) => encoding.name === name) ?? { name };
}

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;

function writePart(name: string, value: unknown, contentType: string | undefined): string {
  const isJson = typeof value === "object";
  const stated = contentType !== undefined && MEDIA_TYPE.test(contentType) ? contentType : null;
  const type = stated ?? (isJson ? "application/json" : null);
  // The name is written as browsers do it: these characters would end the header.
  const quoted = name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
  const header = `Content-Disposition: form-data; name="${quoted}"`;
  const text = isJsonType(type ?? "") ? JSON.stringify(value) : toText(value);
  return `${header}${type === null ? "" : `\r\nContent-Type: ${type}`}\r\n\r\n${text}`;
}
