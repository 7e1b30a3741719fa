import { appRouter } from "../../routers/index.ts";
import type { Meta } from "../../routers/core/trpc.ts";

interface Definition {
  _def: { meta?: Meta; inputs: { meta?(): { id?: string } | undefined }[] };
}

/** Every procedure of the service, by its dotted path. */
export const PROCEDURES: Readonly<Record<string, Definition>> = appRouter._def.procedures as never;

/** The metadata of the procedure at a dotted path. */
export function metaOf(path: string | undefined): Meta | undefined {
  return path === undefined ? undefined : PROCEDURES[path]?._def.meta;
}
