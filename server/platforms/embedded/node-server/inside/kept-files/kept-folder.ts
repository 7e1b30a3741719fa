import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DATABASE_SUFFIXES, renameWithDatabase, statusOf } from "./data-files.ts";

/** The folder in `/data` with what a server wrote beside its code. */
const KEPT = "beside-code";
/** What was there before, and is not used any more. */
const REPLACED = "beside-code-replaced";
/** The newest ones of each path stay. */
const MAX_REPLACED = 3;
const MAX_BYTES = 4 * 1024 * 1024;
/** The digests that changed files had when they were deployed, and the names of what was placed for the process that runs. */
const DIGESTS = ".deployed.json";
const PLACED = ".placed.json";
/** Where files are until all of what belongs together is there. */
const DRAFT = ".moving-";

/** The folders of `/data` with what a server wrote beside its code. */
export class KeptFolder {
  readonly #data: string;

  constructor(data: string) {
    this.#data = data;
  }

  /** @param name - relative to the folder of the code */
  pathOf = (name: string): string => path.join(this.#data, KEPT, name);

  /** Moves what is not used any more, with the files of a database, so that its owner can still find it. */
  setAside(name: string): void {
    const place = path.join(this.#data, REPLACED, name);
    mkdirSync(path.dirname(place), { recursive: true });
    renameWithDatabase(this.pathOf(name), `${place}.${Date.now()}`);
    const others = readdirSync(path.dirname(place)).filter((each) => each.startsWith(`${path.basename(name)}.`));
    const times = new Set(
      others.map((each) => Number(/\.(\d+)(?:-\w+)?$/.exec(each)?.[1])).filter(Number.isSafeInteger),
    );
    for (const time of [...times].toSorted((one, other) => other - one).slice(MAX_REPLACED))
      for (const suffix of ["", ...DATABASE_SUFFIXES])
        rmSync(`${place}.${time}${suffix}`, { recursive: true, force: true });
  }

  /** The name of what a link leads to; `null` for a link to something else. */
  nameOf(target: string): string | null {
    const name = path.relative(this.pathOf("."), target);
    return path.isAbsolute(target) && name !== "" && !name.startsWith("..") ? name : null;
  }

  /** Whether a file is one of those below, which are not of the server. */
  isOwn = (name: string): boolean => name === DIGESTS || name === PLACED || name.startsWith(DRAFT);

  /** Removes what a killed process has left. */
  removeDrafts(): void {
    for (const name of statusOf(this.pathOf(".")) === null ? [] : readdirSync(this.pathOf(".")))
      if (name.startsWith(DRAFT)) rmSync(this.pathOf(name), { recursive: true, force: true });
  }

  /** A new version starts beside the one that serves if the app has no data. */
  removeIfEmpty(): void {
    const folder = this.pathOf(".");
    if (statusOf(folder) !== null && readdirSync(folder).length === 0) rmdirSync(folder);
  }

  /** A place for files that are being moved here. */
  createDraftName = (): string => this.pathOf(DRAFT + randomUUID());

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
      // The app can write to it, and could have made it something from which reading never ends.
      const status = statusOf(this.pathOf(name));
      if (status?.isFile() !== true || status.size > MAX_BYTES) return null;
      const value: unknown = JSON.parse(readFileSync(this.pathOf(name), "utf8"));
      return typeof value === "object" ? value : null;
    } catch {
      return null;
    }
  }

  #write(name: string, value: unknown): void {
    const draft = this.createDraftName();
    writeFileSync(draft, JSON.stringify(value));
    renameSync(draft, this.pathOf(name));
  }
}
