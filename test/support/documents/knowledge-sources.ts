import { expect } from "vitest";
import type { Tenant } from "../service/harness.ts";
import { waitFor } from "../time-limits.ts";

export const SOURCES = "/v1/knowledge/sources";
export const DOCUMENTS = "/v1/knowledge/documents";

type Body = Record<string, unknown>;

export interface ListedDocument {
  document_id: string;
  title: string;
  file_name: string;
  version: number;
  source_id: string | null;
}

/** The sources of an organization, as its members use them. */
export function sourcesOf({ rest }: Pick<Tenant, "rest">) {
  /** Waits for the end of a reading. */
  const reading = (id: string): Promise<Body> =>
    waitFor(async () => {
      const { body } = await rest.get(`${SOURCES}/${id}`);
      expect(["ready", "failed"]).toContain(body["status"]);
      return body;
    });
  return {
    reading,
    /** Adds a source and waits for its first reading. */
    async add(location: object): Promise<Body> {
      const added = await rest.post(SOURCES, { kind: "policy", ...location });
      expect([added.status, added.body]).toMatchObject([201, { status: "queued", document_count: 0 }]);
      return reading(String(added.body["source_id"]));
    },
    async refresh({ source_id: id }: Body): Promise<Body> {
      const refreshed = await rest.post(`${SOURCES}/${String(id)}/refresh`, {});
      expect(refreshed.status).toBe(200);
      return reading(String(id));
    },
    documents: async (): Promise<ListedDocument[]> =>
      (await rest.get(`${DOCUMENTS}?limit=100`)).body["documents"] as ListedDocument[],
    text: async ({ document_id: id }: ListedDocument): Promise<unknown> =>
      (await rest.get(`${DOCUMENTS}/${id}`)).body["content"],
    answer: async (query: string): Promise<unknown> =>
      (await rest.get(`/v1/knowledge/search?query=${encodeURIComponent(query)}`)).body["answer"],
  };
}
