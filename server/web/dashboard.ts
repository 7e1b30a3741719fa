import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import staticFiles from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isFirstRun } from "../../domain/organizations/first-run.ts";
import type { Db } from "../../domain/database-types.ts";
import type { Config } from "../config.ts";
import type { Auth } from "../identity/open-auth.ts";
import { insertInitialResponses, readInitialResponses } from "./initial-responses.ts";

/** The folder in which `npm run setup` stores the built dashboard. */
const BUILD_FOLDER = path.resolve(import.meta.dirname, "../../.cache/dashboard");

/** The URLs of the pages. They all serve index.html, and the router of the dashboard renders the page. */
const PAGES = [
  ...["/", "/sign-in", "/sign-up", "/consent", "/device", "/invitations/*"],
  ...[
    "/apps",
    "/apps/*",
    "/agents",
    "/agents/*",
    "/sessions/*",
    "/skills",
    "/skills/*",
    "/knowledge",
    "/knowledge/*",
    "/projects",
    "/projects/*",
  ],
  ...["/usage", "/connect", "/settings/*"],
];
/** The URLs of the APIs. Their responses are never HTML, whatever the request accepts. */
const APIS = /^\/(v1|mcp|trpc|api|downloads|[.]well-known)([/?]|$)/;

/** Allows files and requests of this service only: no inline scripts or styles, nothing of other sites, no frames. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const NOT_BUILT = "The dashboard is not built. Run npm run setup. The APIs work without it.";

export interface DashboardOptions {
  db: Db;
  signIn: Pick<Config, "signUp" | "social">;
  auth: () => Promise<Auth>;
  publicUrl: () => string;
  /** The folder of the built dashboard. */
  folder?: string;
}

/** Serves the dashboard. The URLs of scripts and styles contain a hash of their content, so browsers cache them for a year. */
export function dashboardPlugin({ db, auth, publicUrl, signIn, folder = BUILD_FOLDER }: DashboardOptions) {
  const { signUp, social } = signIn;
  const providers = (["github", "google"] as const).filter((name) => social[name] !== null);
  return async (scope: FastifyInstance): Promise<void> => {
    // The sign-in pages need these options before a user is signed in.
    scope.get("/api/sign-in-options", async (_request, reply) =>
      reply.header("cache-control", "no-store").send({ first_run: await isFirstRun(db), sign_up: signUp, providers }),
    );
    const index = path.join(folder, "index.html");
    if (!existsSync(index)) {
      for (const url of PAGES) scope.get(url, (_request, reply) => reply.code(503).send({ error: NOT_BUILT }));
      return;
    }
    const page = readFileSync(index, "utf8");
    for (const url of PAGES)
      scope.get(url, async (request, reply) => {
        // A program that asks for `/apps` instead of `/v1/apps` gets an error that it understands.
        if (url !== "/" && !wantsPage(request)) return reply.callNotFound();
        const responses = await readInitialResponses(await auth(), request, publicUrl());
        if (responses.cookies.length > 0) void reply.header("set-cookie", responses.cookies);
        return sendPage(reply, insertInitialResponses(page, responses));
      });
    // For any other URL, the router of the dashboard renders the page "Page not found".
    scope.get("/*", { exposeHeadRoute: false }, (request, reply) =>
      wantsPage(request) ? sendPage(reply.code(404), page) : reply.callNotFound(),
    );
    await scope.register(staticFiles, {
      root: path.join(folder, "assets"),
      prefix: "/assets/",
      decorateReply: false,
      preCompressed: true,
      index: false,
      immutable: true,
      maxAge: "365d",
    });
    const icon = readFileSync(path.join(folder, "icon.svg"));
    scope.get("/icon.svg", (_request, reply) => reply.type("image/svg+xml").send(icon));
  };
}

/** Whether a browser sent the request to open a page. Programs do not accept text/html. */
function wantsPage({ headers, url }: FastifyRequest): boolean {
  return headers.accept?.includes("text/html") === true && !APIS.test(url);
}

function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply
    .type("text/html; charset=utf-8")
    .headers({
      "content-security-policy": CONTENT_SECURITY_POLICY,
      "cache-control": "no-store",
      // The URL of an OAuth request or an invitation contains secrets. Other sites must not receive it.
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "same-origin",
    })
    .send(page);
}
