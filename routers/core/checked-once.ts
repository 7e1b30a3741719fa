import type { z } from "zod";
import { frozen } from "../../domain/shared/frozen.ts";

/** Like `schema`, but what cannot change is checked one time only: `domain/frozen.ts` makes such data. */
export function checkedOnce<S extends z.ZodType<object>>(schema: S): S {
  const checked = new WeakMap<object, z.output<S>>();
  const parse = (data: unknown): z.output<S> => {
    if (typeof data !== "object" || data === null || !Object.isFrozen(data)) return schema.parse(data);
    const known = checked.get(data);
    if (known !== undefined) return known;
    const output = frozen(schema.parse(data));
    checked.set(data, output);
    return output;
  };
  return Object.create(schema, { parse: { value: parse } }) as S;
}
