import * as z from "zod";
import { requireRow } from "./require-row.ts";
import { mutation, query, router } from "./trpc.ts";

const contact = z.object({
  id: z.int(),
  name: z.string(),
  email: z.string(),
  companyId: z.int().nullable(),
});
type Contact = z.infer<typeof contact>;

const id = contact.pick({ id: true });

export const contacts = router({
  search: query
    .meta({ description: "Finds up to 50 contacts by a part of their name or e-mail address." })
    .input(z.object({ text: z.string().max(200).default("").describe("Empty: all contacts"), companyId: z.int().optional() }))
    .output(z.array(contact))
    .query(async ({ ctx, input }) => {
      const { results } = await ctx.db
        .prepare(
          `SELECT * FROM contacts WHERE (instr(lower(name), lower(?1)) > 0 OR instr(lower(email), lower(?1)) > 0)
             AND (?2 IS NULL OR companyId = ?2) ORDER BY name, id LIMIT 50`,
        )
        .bind(input.text, input.companyId ?? null)
        .all<Contact>();
      return results;
    }),

  get: query
    .meta({ description: "Returns one contact." })
    .input(id)
    .output(contact)
    .query(async ({ ctx, input }) =>
      requireRow(await ctx.db.prepare("SELECT * FROM contacts WHERE id = ?").bind(input.id).first<Contact>(), "Contact"),
    ),

  create: mutation
    .meta({ description: "Creates a contact." })
    .input(z.object({ name: z.string().trim().min(1).max(200), email: z.email(), companyId: z.int().optional() }))
    .output(contact)
    .mutation(async ({ ctx, input }) =>
      requireRow(
        await ctx.db
          .prepare("INSERT INTO contacts (name, email, companyId) VALUES (?, ?, ?) RETURNING *")
          .bind(input.name, input.email, input.companyId ?? null)
          .first<Contact>(),
        "Contact",
      ),
    ),

  remove: mutation
    .meta({ description: "Removes a contact. Safe to repeat." })
    .input(id)
    .output(z.object({ removed: z.boolean() }))
    .mutation(async ({ ctx, input }) => {
      const { meta } = await ctx.db.prepare("DELETE FROM contacts WHERE id = ?").bind(input.id).run();
      return { removed: meta.changes > 0 };
    }),
});
