import { Hono } from "hono";
import { addEntry, type EntryForm, latestEntries } from "./entries.ts";
import { guestbookPage } from "./page.ts";

const app = new Hono<{ Bindings: { DB: D1Database } }>();

app.get("/", async (c) => c.html(guestbookPage(await latestEntries(c.env.DB))));

app.post("/", async (c) => {
  const form = await c.req.parseBody();
  const entry: EntryForm = { name: text(form["name"], 80), message: text(form["message"], 1000) };
  if (!entry.name || !entry.message) {
    return c.html(guestbookPage(await latestEntries(c.env.DB), "Enter a name and a message."), 400);
  }
  await addEntry(c.env.DB, entry);
  // Redirects, so that reloading the page does not send the form again.
  return c.redirect("/", 303);
});

app.get("/api/entries", async (c) => c.json(await latestEntries(c.env.DB)));

function text(field: unknown, maxLength: number): string {
  return typeof field === "string" ? field.trim().slice(0, maxLength) : "";
}

export default app;
