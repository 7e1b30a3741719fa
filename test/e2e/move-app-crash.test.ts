import { readdir } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";
import { appRequest } from "../support/edge/app-request.ts";
import { createInstallation, type ServiceProcess } from "../support/service/service-process.ts";
import { waitFor } from "../support/time-limits.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** A Worker that fills its three stores, and returns all that is in them. */
const FILES = {
  "package.json": JSON.stringify({ name: "stores", private: true }),
  "wrangler.jsonc": JSON.stringify({
    name: "stores",
    main: "src/index.js",
    compatibility_date: "2026-07-01",
    d1_databases: [{ binding: "DB", database_name: "stores" }],
    kv_namespaces: [{ binding: "KV", id: "values" }],
    r2_buckets: [{ binding: "BUCKET", bucket_name: "objects" }],
  }),
  "migrations/0001_items.sql": "create table items (n integer primary key, text text);",
  "src/index.js": `export default {
    async fetch(request, { DB, KV, BUCKET }) {
      if (new URL(request.url).pathname === "/fill")
        for (let n = 0; n < 5; n++) {
          await DB.prepare("insert into items values (?, ?)").bind(n, "row " + n).run();
          await KV.put("key " + n, "value " + n);
          await BUCKET.put("object/" + n, "content " + n);
        }
      const { results } = await DB.prepare("select * from items order by n").all();
      const values = [], objects = [];
      for (const { name } of (await KV.list()).keys) values.push([name, await KV.get(name)]);
      for (const { key } of (await BUCKET.list()).objects) objects.push([key, await (await BUCKET.get(key)).text()]);
      return Response.json({ results, values, objects });
    },
  };`,
};

async function waitUntilReady({ rest }: ServiceProcess, id: string): Promise<string> {
  await waitFor(async () => {
    expect((await rest.get(`/v1/apps/${id}`)).body).toMatchObject({ status: "ready", error: null });
  });
  return String((await rest.get(`/v1/apps/${id}`)).body["url"]);
}

interface Exported {
  file: Buffer<ArrayBuffer>;
  /** What the app returns. */
  content: string;
}

async function exportFilledApp(service: ServiceProcess): Promise<Exported> {
  const { body } = await service.rest.deploy({ files: FILES });
  const id = String(body["app_id"]);
  const url = await waitUntilReady(service, id);
  const { text: content } = await appRequest(`${url}/fill`);
  const response = await fetch(`${service.publicUrl}/v1/apps/${id}/export`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.tokens.api_key}` },
  });
  expect(response.status).toBe(200);
  return { file: Buffer.from(await response.arrayBuffer()), content };
}

verifies(
  ["apps.export", "apps.import", hazard(41), hazard(42)],
  "an app moves to another installation with its data, also if the service is killed while it is imported",
  async () => {
    await using origin = await createInstallation();
    const first = await origin.start();
    const { file, content } = await exportFilledApp(first);
    await first.end("SIGTERM");
    await using target = await createInstallation();
    let service = await target.start();
    for (const moment of ["queued", "building", "provisioning"]) {
      const headers = { "content-type": "application/gzip" };
      const { status, body } = await service.rest.send("POST", "/v1/apps/import", { body: file, headers });
      expect(status).toBe(201);
      const id = String(body["app_id"]);
      await waitFor(async () => {
        const { body: app } = await service.rest.get(`/v1/apps/${id}`);
        expect(moment === "queued" ? ["queued", app["status"]] : [moment, "ready"]).toContain(app["status"]);
      });
      await service.end("SIGKILL");
      service = await target.start();
      expect(await appRequest(await waitUntilReady(service, id))).toEqual({ status: 200, text: content });
    }
    await service.end("SIGTERM");
    expect(await readdir(path.join(target.dataDirectory, "app-data-copies"))).toEqual([]);
  },
);
