import { Hono } from "hono";
import openapi from "../openapi.json";
import { addTask, finishTask, getTask, listTasks, readNewTask } from "./tasks.ts";

const app = new Hono<{ Bindings: { DB: D1Database } }>();

// GET requests need no token. The platform's edge proxy sets this header when the app token is valid, and removes it
// from all other requests.
app.use(async (c, next) => {
  if (c.req.method === "GET" || c.req.header("x-service-auth") === "app") return next();
  return c.json({ error: "App token required" }, 401);
});

app.get("/", (c) => c.text("Tasks. The operations are described in /openapi.json.\n"));

app.get("/openapi.json", (c) => c.json(openapi));

app.get("/tasks", async (c) => {
  const done = c.req.query("done");
  return c.json(await listTasks(c.env.DB, done === undefined ? null : done === "true"));
});

app.post("/tasks", async (c) => {
  const task = readNewTask(await c.req.json().catch(() => null));
  return task === null ? c.json({ error: "title: 1 to 200 characters required; due: a date such as 2026-07-31, or null" }, 400) : c.json(await addTask(c.env.DB, task), 201);
});

app.get("/tasks/:id", async (c) => {
  const task = await getTask(c.env.DB, Number(c.req.param("id")));
  return task === null ? c.json({ error: "Task not found" }, 404) : c.json(task);
});

app.patch("/tasks/:id", async (c) => {
  const { done } = await c.req.json<{ done?: unknown }>().catch(() => ({ done: undefined }));
  if (typeof done !== "boolean") return c.json({ error: "done: must be true or false" }, 400);
  const task = await finishTask(c.env.DB, Number(c.req.param("id")), done);
  return task === null ? c.json({ error: "Task not found" }, 404) : c.json(task);
});

export default app;
