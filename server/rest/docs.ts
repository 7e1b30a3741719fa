import type { FastifyInstance } from "fastify";
import { CompressedBody } from "../http/compressed-body.ts";

interface Reference {
  document: CompressedBody;
  page: CompressedBody;
  pagePolicy: string;
}

/** Serves the OpenAPI document, and a page that shows it. Neither requires a token. */
export function docsPlugin(publicUrl: () => string) {
  return async (scope: FastifyInstance): Promise<void> => {
    let reference: Promise<Reference> | undefined;
    // Created at the first request: the public URL may depend on the port, which is known once the server listens.
    const readReference = () => (reference ??= createReference(publicUrl()));
    scope.get("/v1/openapi.json", async (request, reply) => {
      const { document } = await readReference();
      return document.send(request, reply.type("application/json; charset=utf-8"));
    });
    scope.get("/docs", async (request, reply) => {
      const { page, pagePolicy } = await readReference();
      void reply.type("text/html; charset=utf-8").header("content-security-policy", pagePolicy);
      return page.send(request, reply);
    });
  };
}

/** The generator is imported here, because it has a tenth of all modules that a start would load. */
async function createReference(baseUrl: string): Promise<Reference> {
  const [{ createOpenApiDocument }, { REFERENCE_POLICY, renderReferencePage }] = await Promise.all([
    import("./openapi.ts"),
    import("./reference/reference-page.ts"),
  ]);
  const document = createOpenApiDocument(baseUrl);
  return {
    document: new CompressedBody(Buffer.from(JSON.stringify(document))),
    page: new CompressedBody(Buffer.from(renderReferencePage(document))),
    pagePolicy: REFERENCE_POLICY,
  };
}
