import { randomUUID } from "node:crypto";
import { open, rename } from "node:fs/promises";
import path from "node:path";
import { isRecord, parseJson } from "../../../../domain/shared/json.ts";
import { openBeneath, openFolderBeneath, pathOf } from "../app-databases/open-beneath.ts";

export const DIGESTS_FILE = ".deployed.json";
const MAX_BYTES = 1024 * 1024;

/** The digests that files had when they were deployed, before the server changed them, in a JSON file that the app can write to. */
export class DeployedDigests {
  readonly #data: string;
  readonly #folder: string;

  /** @param folder - the folder with the JSON file, relative to `data` */
  constructor(data: string, folder: string) {
    this.#data = data;
    this.#folder = folder;
  }

  async read(): Promise<Map<string, string>> {
    await using file = await openBeneath(this.#data, path.posix.join(this.#folder, DIGESTS_FILE));
    if (file === null || (await file.stat()).size > MAX_BYTES) return new Map();
    const value = parseJson(await file.readFile("utf8"));
    const entries = isRecord(value) ? Object.entries(value) : [];
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  }

  async set(name: string, digest: string): Promise<void> {
    const digests = await this.read();
    if (digests.get(name) === digest) return;
    await using folder = await openFolderBeneath(this.#data, this.#folder, true);
    if (folder === null) return;
    digests.set(name, digest);
    const draft = `${pathOf(folder)}/.${randomUUID()}`;
    await using file = await open(draft, "wx", 0o600);
    await file.writeFile(JSON.stringify(Object.fromEntries(digests)));
    const { uid, gid } = await folder.stat();
    await file.chown(uid, gid);
    await rename(draft, `${pathOf(folder)}/${DIGESTS_FILE}`);
  }
}
