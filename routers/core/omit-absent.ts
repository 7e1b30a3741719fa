import { z } from "zod";
import { isRecord } from "../../domain/shared/json.ts";

/**
 * Optional fields in which the empty text is not the same as no value, with the reason. In every other optional field, null and
 * the empty text count as absent, because typed clients and models write both for a value that they do not have.
 */
export const EMPTY_TEXT_IS_A_VALUE = z.registry<{ reason: string }>();

/** Removes members of an input that count as absent, also in objects and arrays within it. The schema then judges the rest. */
export function omitAbsent(schema: z.ZodType, value: unknown): unknown {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return value.map((item) => omitAbsent(inner.element as z.ZodType, item));
  if (!(inner instanceof z.ZodObject) || !isRecord(value)) return value;
  const shape = inner.shape as Record<string, z.ZodType>;
  const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field === undefined) return [[name, member]];
    return isAbsent(field, member) ? [] : [[name, omitAbsent(field, member)]];
  });
  return Object.fromEntries(members);
}

/** Which values of a field count as absent. */
interface AbsentValues {
  null: boolean;
  emptyText: boolean;
}

const absentValuesOf = new WeakMap<z.ZodType, AbsentValues>();

function isAbsent(field: z.ZodType, value: unknown): boolean {
  if (value !== null && value !== "") return false;
  let absent = absentValuesOf.get(field);
  if (absent === undefined) absentValuesOf.set(field, (absent = findAbsentValues(field)));
  return value === null ? absent.null : absent.emptyText;
}

function findAbsentValues(field: z.ZodType): AbsentValues {
  const accepts = (value: unknown) => field.safeParse(value).success;
  if (!accepts(undefined)) return { null: false, emptyText: false };
  const isText = unwrap(field) instanceof z.ZodString;
  return { null: !accepts(null), emptyText: !keepsEmptyText(field) && (isText || !accepts("")) };
}

function keepsEmptyText(field: z.ZodType): boolean {
  if (EMPTY_TEXT_IS_A_VALUE.has(field)) return true;
  return isWrapper(field) && keepsEmptyText(field.unwrap() as z.ZodType);
}

function unwrap(schema: z.ZodType): z.ZodType {
  return isWrapper(schema) ? unwrap(schema.unwrap() as z.ZodType) : schema;
}

function isWrapper(schema: z.ZodType): schema is z.ZodOptional | z.ZodDefault | z.ZodNullable {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable;
}
