import { randomUUID } from "node:crypto";
import { mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hash } from "./check-signature.ts";

export interface DiskObject {
  key: string;
  etag: string;
  size: number;
  modifiedAt: string;
  /** The content type and the metadata. */
  headers: Record<string, string>;
  /** The name of the file with the bytes. */
  file: string;
}

/** The objects of a bucket as files, which survive a restart. The functions that change one are atomic: they do not wait. */
export class DiskObjects {
  readonly #folder: string;
  readonly #objects = new Map<string, DiskObject>();

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    const files = readdirSync(folder);
    for (const name of files.filter((file) => file.endsWith(".json"))) {
      const object = JSON.parse(readFileSync(join(folder, name), "utf8")) as DiskObject;
      this.#objects.set(object.key, object);
    }
    const used = new Set(Array.from(this.#objects.values(), ({ file }) => file));
    for (const file of files) if (!file.endsWith(".json") && !used.has(file)) rmSync(join(folder, file));
  }

  /** Returns a path for the bytes of a new object. */
  stage(): string {
    return join(this.#folder, randomUUID());
  }

  get(key: string): DiskObject | null {
    return this.#objects.get(key) ?? null;
  }

  /** Opens the bytes of an object, which stay readable when it is replaced. */
  open({ file }: DiskObject): number {
    return openSync(join(this.#folder, file), "r");
  }

  put(object: DiskObject): void {
    const earlier = this.#objects.get(object.key);
    const record = join(this.#folder, hash("sha256", object.key));
    writeFileSync(`${record}.new`, JSON.stringify(object));
    renameSync(`${record}.new`, `${record}.json`);
    this.#objects.set(object.key, object);
    if (earlier !== undefined) rmSync(join(this.#folder, earlier.file));
  }

  remove(key: string): void {
    const object = this.#objects.get(key);
    if (object === undefined) return;
    rmSync(join(this.#folder, `${hash("sha256", key)}.json`));
    rmSync(join(this.#folder, object.file));
    this.#objects.delete(key);
  }

  /** Lists objects in the order of the bytes of their keys. */
  list(prefix: string): DiskObject[] {
    const found = this.#objects.values().filter(({ key }) => key.startsWith(prefix));
    return Array.from(found).toSorted((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  }
}
