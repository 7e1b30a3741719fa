import * as z from "zod";
import { requireRow } from "./require-row.ts";
import { mutation, query, router } from "./trpc.ts";

const company = z.object({ id: z.int(), name: z.string(), website: z.string().nullable() });
type Company = z.infer<typeof company>;

export const companies = router({
  list: query
    .meta({ description: "Lists up to 100 companies, ordered by name." })
    .output(z.array(company))
    .query(async ({ ctx }) => {
      const { results } = await ctx.db.prepare("SELECT * FROM companies ORDER BY name LIMIT 100").all<Company>();
      return results;
    }),

  get: query
    .meta({ description: "Returns one company." })
    .input(company.pick({ id: true }))
    .output(company)
    .query(async ({ ctx, input }) =>
      requireRow(await ctx.db.prepare("SELECT * FROM companies WHERE id = ?").bind(input.id).first<Company>(), "Company"),
    ),

  create: mutation
    .meta({ description: "Creates a company. Its name must be unique." })
    .input(z.object({ name: z.string().trim().min(1).max(200), website: z.url().optional() }))
    .output(company)
    .mutation(async ({ ctx, input }) =>
      requireRow(
        await ctx.db
          .prepare("INSERT INTO companies (name, website) VALUES (?, ?) RETURNING *")
          .bind(input.name, input.website ?? null)
          .first<Company>(),
        "Company",
      ),
    ),
});
