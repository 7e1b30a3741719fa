import type { FastifyReply, FastifyRequest } from "fastify";

/** The APIs that require a token. */
const API = /^\/(v1|mcp|trpc)([/?]|$)/;

/** Forbids caches to store what an API responds. It may contain secrets, and depends on the token and the organization. */
export function forbidCaching({ routeOptions, url }: FastifyRequest, reply: FastifyReply): void {
  // The route is more exact than the URL, which can have escaped letters. An unknown endpoint has no route.
  if (API.test(routeOptions.url ?? url)) void reply.header("cache-control", "no-store");
}
