import { Hono } from "hono";
import { addItem, deleteItem, getItem, listItems, readNewItem } from "./items.ts";
import { openapi } from "./openapi.ts";

const app = new Hono<{ Bindings: { DB: D1Database } }>();

// GET requests need no token. The platform's edge proxy sets this header when the app token is valid, and removes it
// from all other requests.
app.use(async (c, next) => {
  if (c.req.method === "GET" || c.req.header("x-service-auth") === "app") return next();
  return c.json({ error: "App token required" }, 401);
});

app.get("/", (c) => c.text("The operations are described in /openapi.json.\n"));

app.get("/openapi.json", (c) => c.json(openapi));

app.get("/items", async (c) => c.json(await listItems(c.env.DB)));

app.post("/items", async (c) => {
  const item = readNewItem(await c.req.json().catch(() => null));
  if (item === null) return c.json({ error: "name: 1 to 200 characters required" }, 400);
  return c.json(await addItem(c.env.DB, item), 201);
});

app.get("/items/:id", async (c) => {
  const item = await getItem(c.env.DB, Number(c.req.param("id")));
  return item === null ? c.json({ error: "Item not found" }, 404) : c.json(item);
});

app.delete("/items/:id", async (c) => {
  const isDeleted = await deleteItem(c.env.DB, Number(c.req.param("id")));
  return isDeleted ? c.body(null, 204) : c.json({ error: "Item not found" }, 404);
});

export default app;
