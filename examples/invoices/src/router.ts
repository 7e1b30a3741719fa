import { TRPCError } from "@trpc/server";
import * as z from "zod";
import { mutation, query, router } from "./trpc.ts";

const invoice = z.object({
  id: z.int(),
  customer: z.string(),
  cents: z.int().describe("The amount in cents"),
  due: z.iso.date(),
  paid: z.boolean(),
});

const id = invoice.pick({ id: true });

const COLUMNS = "id, customer, cents, due, paid";

export const appRouter = router({
  list: query
    .meta({ description: "Lists invoices, ordered by due date." })
    .input(z.object({ paid: z.boolean().optional().describe("true: only paid invoices, false: only unpaid ones") }))
    .output(z.array(invoice))
    .query(async ({ ctx, input }) => {
      const { results } = await ctx.db
        .prepare(`SELECT ${COLUMNS} FROM invoices WHERE ?1 IS NULL OR paid = ?1 ORDER BY due, id LIMIT 100`)
        .bind(input.paid === undefined ? null : Number(input.paid))
        .all<Row>();
      return results.map(toInvoice);
    }),

  get: query
    .meta({ description: "Returns one invoice." })
    .input(id)
    .output(invoice)
    .query(async ({ ctx, input }) =>
      requireInvoice(await ctx.db.prepare(`SELECT ${COLUMNS} FROM invoices WHERE id = ?`).bind(input.id).first<Row>()),
    ),

  outstanding: query
    .meta({ description: "Returns the number and the total amount of the unpaid invoices." })
    .output(z.object({ count: z.int(), cents: z.int() }))
    .query(async ({ ctx }) => {
      const sum = await ctx.db
        .prepare("SELECT count(*) AS count, coalesce(sum(cents), 0) AS cents FROM invoices WHERE NOT paid")
        .first<{ count: number; cents: number }>();
      return sum ?? { count: 0, cents: 0 };
    }),

  create: mutation
    .meta({ description: "Creates an unpaid invoice." })
    .input(
      z.object({
        customer: z.string().trim().min(1).max(200),
        cents: z.int().positive().describe("The amount in cents"),
        due: z.iso.date().describe("The due date, such as 2026-07-31"),
      }),
    )
    .output(invoice)
    .mutation(async ({ ctx, input }) =>
      requireInvoice(
        await ctx.db
          .prepare(`INSERT INTO invoices (customer, cents, due) VALUES (?, ?, ?) RETURNING ${COLUMNS}`)
          .bind(input.customer, input.cents, input.due)
          .first<Row>(),
      ),
    ),

  markPaid: mutation
    .meta({ description: "Marks an invoice as paid. Safe to repeat." })
    .input(id)
    .output(invoice)
    .mutation(async ({ ctx, input }) =>
      requireInvoice(await ctx.db.prepare(`UPDATE invoices SET paid = 1 WHERE id = ? RETURNING ${COLUMNS}`).bind(input.id).first<Row>()),
    ),
});

/** SQLite stores booleans as 0 and 1. */
type Row = Omit<z.infer<typeof invoice>, "paid"> & { paid: 0 | 1 };

function toInvoice(row: Row): z.infer<typeof invoice> {
  return { ...row, paid: row.paid === 1 };
}

function requireInvoice(row: Row | null): z.infer<typeof invoice> {
  if (row === null) throw new TRPCError({ code: "NOT_FOUND", message: "Invoice not found" });
  return toInvoice(row);
}
