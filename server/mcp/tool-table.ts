import { z } from "zod";
import { appRouter } from "../../routers/index.ts";
import type { ToolMeta } from "../../routers/trpc.ts";

/** A tool as a client sees it. */
export interface Tool extends Pick<ToolMeta, "name" | "title" | "description" | "annotations"> {
  inputSchema: object;
  outputSchema: object;
}

export interface ToolEntry {
  /** The dotted path of the procedure behind the tool. */
  path: string;
  tool: Tool;
}

interface Procedure {
  _def: { meta?: { tool?: ToolMeta }; inputs: z.ZodType[]; output?: z.ZodType };
}

const PROCEDURES = appRouter._def.procedures as unknown as Record<string, Procedure>;
const NO_INPUT = z.strictObject({});

/** What schemas say of themselves, but for the names they have in the REST description: those would become references. */
const NAMELESS = {
  get(type: z.ZodType): object {
    const { id: _name, ...said } = z.globalRegistry.get(type) ?? {};
    return said;
  },
  has: (type: z.ZodType): boolean => z.globalRegistry.has(type),
};

/** Every procedure with `meta.tool`, by the tool's name. Made once: no schema is built for a request. */
export const TOOLS: ReadonlyMap<string, ToolEntry> = new Map(
  Object.entries(PROCEDURES)
    .flatMap(([path, { _def }]) =>
      _def.meta?.tool ? [entryOf(path, _def.meta.tool, _def.inputs[0], _def.output)] : [],
    )
    .toSorted((a, b) => (a.tool.name < b.tool.name ? -1 : 1))
    .map((entry) => [entry.tool.name, entry]),
);

/** In an order that never changes, so that clients can cache it. */
export const TOOL_LIST: readonly Tool[] = [...TOOLS.values()].map(({ tool }) => tool);

function entryOf(path: string, meta: ToolMeta, input = NO_INPUT as z.ZodType, output?: z.ZodType): ToolEntry {
  if (output === undefined) throw new Error(`the tool ${meta.name} says nothing of its output`);
  const { name, title, description, annotations } = meta;
  const tool = { name, title, description, annotations };
  return { path, tool: { ...tool, inputSchema: schemaOf(input, "input"), outputSchema: schemaOf(output, "output") } };
}

function schemaOf(type: z.ZodType, io: "input" | "output"): object {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(type, { io, metadata: NAMELESS as never });
  return schema;
}
