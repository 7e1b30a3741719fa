import { answer } from "./protocol.ts";

export default {
  async fetch(request: Request, env: { DB: D1Database }): Promise<Response> {
    if (new URL(request.url).pathname !== "/mcp") return new Response("Notes. Its tools are at /mcp.\n");
    // Every answer is complete at once, so there is nothing to listen to and no session to end.
    if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
    // The platform's front door sets this header for a good app token, and removes it from everything else.
    const trusted = request.headers.get("x-service-auth") === "app";
    const message: unknown = await request.json().catch(() => null);
    const reply = await answer(message, { db: env.DB, trusted });
    return reply === null ? new Response(null, { status: 202 }) : Response.json(reply);
  },
};
