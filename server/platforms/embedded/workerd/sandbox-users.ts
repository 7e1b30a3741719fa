import { lchown, lstat, readdir } from "node:fs/promises";
import path from "node:path";

const FIRST_UID = 60_700;
const LAST_UID = 61_099;

/**
 * Hands every sandbox a user id of its own, so that no app can touch the processes or files of another one even if it
 * got out of its namespaces. Ids name no account and are free again when the sandbox ends.
 */
export class SandboxUsers {
  readonly #taken = new Set<number>();

  /**
   * Takes a free id and gives it the folders with all they hold. An app mostly gets the id that owns its folders
   * already, which spares the walk.
   */
  async take(folders: readonly string[]): Promise<number> {
    const uid = await this.#choose(folders[0]);
    try {
      for (const folder of folders) await giveTo(uid, folder);
    } catch (error) {
      this.release(uid);
      throw error;
    }
    return uid;
  }

  release(uid: number): void {
    this.#taken.delete(uid);
  }

  async #choose(folder: string | undefined): Promise<number> {
    const owner = folder === undefined ? 0 : (await lstat(folder)).uid;
    let uid = owner >= FIRST_UID && owner <= LAST_UID && !this.#taken.has(owner) ? owner : FIRST_UID;
    while (this.#taken.has(uid)) uid++;
    if (uid > LAST_UID) throw new Error(`All ${LAST_UID - FIRST_UID + 1} sandbox users are taken`);
    this.#taken.add(uid);
    return uid;
  }
}

/** The folder itself comes last: it says that everything below is done, also after a crash in between. */
async function giveTo(uid: number, folder: string): Promise<void> {
  if ((await lstat(folder)).uid === uid) return;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const target = path.join(folder, entry.name);
    if (entry.isDirectory()) await giveTo(uid, target);
    else await lchown(target, uid, uid);
  }
  await lchown(folder, uid, uid);
}
