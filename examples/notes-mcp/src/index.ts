import { handleMessage } from "./protocol.ts";

export default {
  async fetch(request: Request, env: { DB: D1Database }): Promise<Response> {
    if (new URL(request.url).pathname !== "/mcp") return new Response("Notes. Its tools are at /mcp.\n");
    // The server is stateless: GET would open a stream and DELETE would end a session, and there are neither.
    if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
    // The platform's edge proxy sets this header when the app token is valid, and removes it from all other requests.
    const trusted = request.headers.get("x-service-auth") === "app";
    const message: unknown = await request.json().catch(() => null);
    const response = await handleMessage(message, { db: env.DB, trusted });
    return response === null ? new Response(null, { status: 202 }) : Response.json(response);
  },
};
