import { variableSizeBytes } from "./variable-rules.ts";
import type { ValueContext, VariableCipher } from "./variable-cipher.ts";

/** Returns the columns of a variable, with its value encrypted. */
export function sealVariable(
  cipher: VariableCipher,
  { value, ...columns }: ValueContext & { value: string; isForBuild: boolean },
) {
  return {
    ...columns,
    sealedValue: cipher.seal(value, columns),
    sizeBytes: variableSizeBytes({ name: columns.name, value }),
  };
}
