import path from "node:path";
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { realTitle, RefusedFile } from "./report.ts";
import { findAll, findFirst, parseXml, textIn, type XmlElement } from "./xml.ts";

/** Of all files that are read from one archive. */
const MAX_UNPACKED_BYTES = 200 * 1024 * 1024;
const MAX_ENTRIES = 20_000;
/** Of the record at the end of an archive, without its comment. */
const END_BYTES = 22;

/** The files in a document that is a zip archive (ECMA-376 part 2, OpenDocument 1.3 part 2, EPUB 3). */
export class OfficeArchive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  #room = MAX_UNPACKED_BYTES;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  /** @throws {RefusedFile} for a file that is not an archive */
  static async open(content: Uint8Array): Promise<OfficeArchive> {
    const options = { decodeStrings: false, validateEntrySizes: false };
    const zip = await fromBufferPromise(withoutTrailer(Buffer.from(content)), options);
    if (zip.entryCount > MAX_ENTRIES) throw new RefusedFile("damaged");
    const entries = new Map<string, Entry>();
    for await (const entry of zip.eachEntry()) entries.set(keyOf(Buffer.from(entry.fileNameRaw).toString()), entry);
    return new OfficeArchive(zip, entries);
  }

  has(name: string): boolean {
    return this.#entries.has(keyOf(name));
  }

  /** Returns `null` for a file that the archive does not have. */
  async read(name: string): Promise<Buffer | null> {
    const entry = this.#entries.get(keyOf(name));
    if (entry === undefined) return null;
    if (entry.isEncrypted()) throw new RefusedFile("encrypted");
    const chunks: Buffer[] = [];
    const stream = await this.#zip.openReadStreamPromise(entry);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      this.#room -= chunk.length;
      if (this.#room < 0) throw new RefusedFile("unpacks");
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  async readText(name: string): Promise<string | null> {
    const content = await this.read(name);
    if (content === null) return null;
    const isUtf16 = (content[0] === 0xff && content[1] === 0xfe) || (content[0] === 0xfe && content[1] === 0xff);
    return new TextDecoder(isUtf16 ? (content[0] === 0xff ? "utf-16le" : "utf-16be") : "utf-8").decode(content);
  }

  async readXml(name: string): Promise<XmlElement | null> {
    const text = await this.readText(name);
    return text === null ? null : parseXml(text);
  }
}

/** Some programs add bytes after the end of the archive, or cut its comment off. */
function withoutTrailer(content: Buffer): Buffer {
  const start = content.lastIndexOf("PK\u0005\u0006");
  if (start < 0 || content.length < start + END_BYTES) return content;
  const archive = content.subarray(0, start + END_BYTES);
  archive.writeUInt16LE(0, END_BYTES + start - 2);
  return archive;
}

/** The names of files in a package do not depend on their case. */
function keyOf(name: string): string {
  return name.replaceAll("\\", "/").replace(/^\/+/, "").toLowerCase();
}

/** What a part of a package refers to: by id, its type without the namespace, and its path in the archive. */
export type Relations = ReadonlyMap<string, { type: string; target: string }>;

/** @param part - the path of a part; an empty text for the package */
export async function readRelations(archive: OfficeArchive, part: string): Promise<Relations> {
  const folder = path.posix.dirname(part);
  const xml = await archive.readXml(path.posix.join(folder, "_rels", `${path.posix.basename(part)}.rels`));
  const found = xml === null ? [] : findAll(xml, "Relationships", "Relationship");
  return new Map(
    found.map(({ attributes: { Id = "", Type = "", Target = "", TargetMode } }) => [
      Id,
      {
        type: TargetMode === "External" ? "external" : (Type.split("/").at(-1) ?? ""),
        target: Target.startsWith("/") ? Target.slice(1) : path.posix.join(folder, Target),
      },
    ]),
  );
}

export function targetOf(relations: Relations, type: string): string | null {
  return [...relations.values()].find((relation) => relation.type === type)?.target ?? null;
}

/** Reads the title that the properties of an Office file contain. */
export async function readCoreTitle(archive: OfficeArchive): Promise<string | null> {
  const name = targetOf(await readRelations(archive, ""), "core-properties") ?? "docProps/core.xml";
  const properties = await archive.readXml(name).catch(() => null);
  const title = properties === null ? undefined : findFirst(properties, "coreProperties", "title");
  return title === undefined ? null : realTitle(textIn(title));
}
