import type { Expression, ExpressionBuilder } from "kysely";

/** A `text[]` of words or numbers, which contain no space. It is one parameter, however many they are. */
export function textArray<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  values: readonly (string | number)[],
): Expression<string[]> {
  return spacedArray(eb, values.join(" "));
}

/** As `textArray`, of values that are separated by spaces. */
export function spacedArray<DB, TB extends keyof DB>(
  { fn, val }: ExpressionBuilder<DB, TB>,
  values: string,
): Expression<string[]> {
  return fn<string[]>("string_to_array", [val(values), val(" ")]);
}
