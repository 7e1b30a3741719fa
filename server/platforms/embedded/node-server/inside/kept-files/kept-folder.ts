import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The folder in `/data` with what a server wrote beside its code. */
const KEPT = "files";
/** What a server wrote to files that a later deployment has changed. */
const REPLACED = "replaced-files";
/** The digests that changed files had when they were deployed, and the names of what was placed for the process that runs. */
const DIGESTS = ".deployed.json";
const PLACED = ".placed.json";
/** Where files are until all of what belongs together is there. */
const DRAFT = ".moving";

/** The folders of `/data` with what a server wrote beside its code. */
export class KeptFolder {
  readonly #data: string;

  constructor(data: string) {
    this.#data = data;
  }

  /** @param name - relative to the folder of the code */
  pathOf = (name: string): string => path.join(this.#data, KEPT, name);

  /** A new place for what a server has written and does not use any more. */
  replacedPathOf = (name: string): string => path.join(this.#data, REPLACED, `${name}.${Date.now()}`);

  /** The name of what a link leads to; `null` for a link to something else. */
  nameOf(target: string): string | null {
    const name = path.relative(this.pathOf("."), target);
    return path.isAbsolute(target) && name !== "" && !name.startsWith("..") ? name : null;
  }

  /** Whether a file is one of those below, which are not of the server. */
  isOwn = (name: string): boolean => [DIGESTS, PLACED, DRAFT].includes(name);

  get draft(): string {
    return this.pathOf(DRAFT);
  }

  readDigests(): Map<string, string> {
    return new Map(
      Object.entries(this.#read(DIGESTS) ?? {}).filter(
        (entry): entry is [string, string] => typeof entry[1] === "string",
      ),
    );
  }

  writeDigests(digests: ReadonlyMap<string, string>): void {
    this.#write(DIGESTS, Object.fromEntries(digests));
  }

  /** `null` if it is not known what was placed. */
  readPlaced(): Set<string> | null {
    const placed = this.#read(PLACED);
    return Array.isArray(placed) ? new Set(placed.filter((each) => typeof each === "string")) : null;
  }

  writePlaced(names: readonly string[]): void {
    this.#write(PLACED, names);
  }

  removePlaced(): void {
    rmSync(this.pathOf(PLACED), { force: true });
  }

  #read(name: string): object | null {
    try {
      const value: unknown = JSON.parse(readFileSync(this.pathOf(name), "utf8"));
      return typeof value === "object" ? value : null;
    } catch {
      return null;
    }
  }

  #write(name: string, value: unknown): void {
    const draft = `${this.pathOf(name)}.new`;
    writeFileSync(draft, JSON.stringify(value));
    renameSync(draft, this.pathOf(name));
  }
}
