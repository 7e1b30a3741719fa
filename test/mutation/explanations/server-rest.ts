import type { Explanation } from "./explanation.ts";

const HTTP = "A test of the area server/rest detects it; this area has no test that starts a service.";

export const SERVER_REST: Record<string, Explanation[]> = {
  "server/rest/error-response.ts": [
    { original: '"Unknown endpoint. GET /v1/openapi.json lists all endpoints."', reason: "The text of an error." },
  ],
  "server/rest/request-body.ts": [
    { original: '""', replacement: '"Stryker was here!"', reason: "Equivalent: neither is a code of a body parser." },
    { original: '"error"', reason: "Equivalent: the parser rejects such a body for every text that it does not know." },
    { original: "error === null", replacement: "true", reason: "Equivalent: with an error there is no value." },
    { original: "256 * 1024", reason: HTTP },
  ],
  "server/rest/streamed-bodies.ts": [
    { original: "this.#open.delete(body);", reason: "Not caught: it only frees memory." },
    { original: "{ destroyOnReturn: false }", reason: "Equivalent: no loop ends the iterator early." },
    { original: "false", replacement: "true", reason: "Equivalent: no loop ends the iterator early." },
    {
      original: "this.#failure !== null",
      replacement: "false",
      reason: "Not caught: the service would have to stop between two reads.",
    },
  ],
};
