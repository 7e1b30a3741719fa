import type { LiveProcedure } from "./list-procedures.ts";

/** As many properties of an input as a snippet shows. */
const PROPERTIES_SHOWN = 12;

interface Property {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
}

/** A typed call of a procedure, to paste into code and fill in: optional properties are marked as such. */
export function callSnippet({ slug, name, inputSchema }: LiveProcedure): string {
  const required = new Set(Array.isArray(inputSchema["required"]) ? (inputSchema["required"] as unknown[]) : []);
  const properties = Object.entries((inputSchema["properties"] ?? {}) as Record<string, Property>);
  const shown = properties
    .slice(0, PROPERTIES_SHOWN)
    .map(
      ([key, property]) => `${JSON.stringify(key)}: ${typeOf(property)}${required.has(key) ? "" : " /* optional */"}`,
    );
  const more = properties.length > shown.length ? [`/* ${properties.length - shown.length} more */`] : [];
  const input = properties.length === 0 ? "" : `{ ${[...shown, ...more].join(", ")} }`;
  return `await service.apps[${JSON.stringify(slug)}]${name.split(".").map(member).join("")}(${input})`;
}

function member(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function typeOf({ type, enum: values, const: value }: Property): string {
  if (value !== undefined) return JSON.stringify(value);
  if (Array.isArray(values))
    return values
      .slice(0, PROPERTIES_SHOWN)
      .map((each) => JSON.stringify(each))
      .join(" | ");
  return [type ?? "unknown"]
    .flat()
    .map((each) => (each === "integer" ? "number" : each))
    .join(" | ");
}
