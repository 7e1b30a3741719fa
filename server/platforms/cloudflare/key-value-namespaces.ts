import { z } from "zod";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { isMissing } from "./cloudflare-error.ts";
import { ensureCreated } from "./ensure-created.ts";

const PATH = "storage/kv/namespaces";
const namespaces = z.array(z.object({ id: z.string(), title: z.string() }));
const anything = z.unknown();

/** A key-value namespace of the account. */
export type KeyValueNamespace = z.output<typeof namespaces>[number];

/** Lists the key-value namespaces whose titles start with `prefix`. */
export async function listNamespaces(client: CloudflareClient, prefix: string): Promise<KeyValueNamespace[]> {
  const all = await client.listPages({ operation: "list key-value namespaces", method: "GET", path: PATH }, namespaces);
  return all.filter(({ title }) => title.startsWith(prefix));
}

/** Returns the id of the key-value namespace with a title, which is created if it does not exist. */
export function ensureNamespace(client: CloudflareClient, title: string): Promise<string> {
  return ensureCreated(
    async () => (await listNamespaces(client, title)).find((each) => each.title === title)?.id ?? null,
    async () => {
      const request = { operation: "create a key-value namespace", method: "POST", path: PATH } as const;
      const schema = z.object({ id: z.string() });
      return (await client.call({ ...request, body: { title }, isRepeatable: false }, schema)).id;
    },
  );
}

/** Removes a namespace with its entries. Succeeds if it does not exist. */
export async function removeNamespace(client: CloudflareClient, id: string): Promise<void> {
  const request = { operation: "remove a key-value namespace", method: "DELETE", path: `${PATH}/${id}` } as const;
  await client.call(request, anything).catch(ignoreMissing);
}

/** Returns the value of a key; `null` if there is none. */
export async function readKey(
  client: CloudflareClient,
  namespaceId: string,
  key: string,
  signal?: AbortSignal,
): Promise<Uint8Array | null> {
  const request = { operation: "read a key", method: "GET", path: keyPath(namespaceId, key), signal } as const;
  return client.download(request).catch(ignoreMissing);
}

export async function writeKey(
  client: CloudflareClient,
  namespaceId: string,
  key: string,
  value: unknown,
): Promise<void> {
  const request = { operation: "write a key", method: "PUT", path: keyPath(namespaceId, key) } as const;
  await client.call({ ...request, body: JSON.stringify(value) }, anything);
}

/** Succeeds if there is no such key. */
export async function removeKey(client: CloudflareClient, namespaceId: string, key: string): Promise<void> {
  const request = { operation: "remove a key", method: "DELETE", path: keyPath(namespaceId, key) } as const;
  await client.call(request, anything).catch(ignoreMissing);
}

/** Lists all keys that start with `prefix`. */
export async function listKeys(client: CloudflareClient, namespaceId: string, prefix: string): Promise<string[]> {
  const request = { operation: "list keys", method: "GET", path: `${PATH}/${namespaceId}/keys` } as const;
  const query = { prefix, limit: "1000" };
  const keys = await client.listByCursor({ ...request, query }, z.array(z.object({ name: z.string() })));
  return keys.map(({ name }) => name);
}

function keyPath(namespaceId: string, key: string): string {
  return `${PATH}/${namespaceId}/values/${encodeURIComponent(key)}`;
}

function ignoreMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
