import * as z from "zod";
import { requireRow } from "./require-row.ts";
import { mutation, query, router } from "./trpc.ts";

const stage = z.enum(["lead", "offer", "won", "lost"]);

const deal = z.object({
  id: z.int(),
  title: z.string(),
  companyId: z.int(),
  cents: z.int().describe("The value in cents"),
  stage,
});
type Deal = z.infer<typeof deal>;

export const deals = router({
  list: query
    .meta({ description: "Lists up to 100 deals, optionally of one stage." })
    .input(z.object({ stage: stage.optional() }))
    .output(z.array(deal))
    .query(async ({ ctx, input }) => {
      const { results } = await ctx.db
        .prepare("SELECT * FROM deals WHERE ?1 IS NULL OR stage = ?1 ORDER BY id DESC LIMIT 100")
        .bind(input.stage ?? null)
        .all<Deal>();
      return results;
    }),

  pipeline: query
    .meta({ description: "Returns the number and the total value of the deals of each stage." })
    .output(z.array(z.object({ stage, count: z.int(), cents: z.int() })))
    .query(async ({ ctx }) => {
      const { results } = await ctx.db
        .prepare("SELECT stage, count(*) AS count, sum(cents) AS cents FROM deals GROUP BY stage ORDER BY stage")
        .all<{ stage: Deal["stage"]; count: number; cents: number }>();
      return results;
    }),

  create: mutation
    .meta({ description: "Creates a deal with a company, in the stage `lead`." })
    .input(deal.pick({ title: true, companyId: true, cents: true }))
    .output(deal)
    .mutation(async ({ ctx, input }) =>
      requireRow(
        await ctx.db
          .prepare("INSERT INTO deals (title, companyId, cents) VALUES (?, ?, ?) RETURNING *")
          .bind(input.title, input.companyId, input.cents)
          .first<Deal>(),
        "Deal",
      ),
    ),

  move: mutation
    .meta({ description: "Moves a deal to another stage." })
    .input(deal.pick({ id: true, stage: true }))
    .output(deal)
    .mutation(async ({ ctx, input }) =>
      requireRow(
        await ctx.db
          .prepare("UPDATE deals SET stage = ? WHERE id = ? RETURNING *")
          .bind(input.stage, input.id)
          .first<Deal>(),
        "Deal",
      ),
    ),
});
