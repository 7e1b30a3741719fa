import { createRequire } from "node:module";
import path from "node:path";
import staticFiles from "@fastify/static";
import type { FastifyInstance } from "fastify";

const swaggerFolder = path.dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>App Provisioning Service: reference</title>
  <link rel="stylesheet" href="/docs/ui/swagger-ui.css">
</head>
<body>
  <main id="reference"></main>
  <script src="/docs/ui/swagger-ui-bundle.js"></script>
  <script src="/docs/reference.js"></script>
</body>
</html>
`;

const SCRIPT = `SwaggerUIBundle({ url: "/v1/openapi.json", dom_id: "#reference", deepLinking: true, validatorUrl: null });\n`;

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the OpenAPI document, and a page that renders it. Neither requires a token. */
export function docsPlugin(publicUrl: () => string) {
  return async (scope: FastifyInstance): Promise<void> => {
    let document: Promise<string> | undefined;
    scope.get("/v1/openapi.json", async (_request, reply) => {
      // Created at the first request: the public URL may depend on the port, which is known once the server listens.
      document ??= createDocument(publicUrl());
      return reply.type("application/json").send(await document);
    });
    scope.get("/docs", (_request, reply) =>
      reply.type("text/html").header("content-security-policy", POLICY).send(PAGE),
    );
    scope.get("/docs/reference.js", (_request, reply) => reply.type("text/javascript").send(SCRIPT));
    await scope.register(staticFiles, {
      root: swaggerFolder,
      prefix: "/docs/ui/",
      decorateReply: false,
      index: false,
      allowedPath: (file) => /^\/swagger-ui(-bundle)?\.(css|js)$/.test(file),
    });
  };
}

/** The generator is imported here, because it has a tenth of all modules that a start would load. */
async function createDocument(baseUrl: string): Promise<string> {
  const { createOpenApiDocument } = await import("./openapi.ts");
  return JSON.stringify(createOpenApiDocument(baseUrl));
}
