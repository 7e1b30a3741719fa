import * as z from "zod";
import { mutation, query, router } from "./trpc.ts";

const note = z.object({ id: z.int(), text: z.string(), created_at: z.string() });

export const appRouter = router({
  search: query
    .meta({ description: "Finds the newest notes that contain a text." })
    .input(z.object({ text: z.string().max(200).default("").describe("Part of a note; empty for all notes") }))
    .output(z.array(note))
    .query(async ({ ctx, input }) => {
      const { results } = await ctx.db
        .prepare("SELECT * FROM notes WHERE instr(lower(text), lower(?1)) > 0 OR ?1 = '' ORDER BY id DESC LIMIT 50")
        .bind(input.text)
        .all<z.infer<typeof note>>();
      return results;
    }),

  add: mutation
    .meta({ description: "Adds a note." })
    .input(z.object({ text: z.string().trim().min(1).max(2000) }))
    .output(note)
    .mutation(async ({ ctx, input }) => {
      const added = await ctx.db
        .prepare("INSERT INTO notes (text) VALUES (?) RETURNING *")
        .bind(input.text)
        .first<z.infer<typeof note>>();
      return note.parse(added);
    }),
});
