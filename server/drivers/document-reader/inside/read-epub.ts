import path from "node:path";
import type { OfficeArchive } from "./office-archive.ts";
import { readHtml } from "./read-html.ts";
import { type ReadLimits, realTitle, RefusedFile } from "./report.ts";
import { findAll, findFirst, textIn } from "./xml.ts";

/** Reads a book (EPUB 3.3): its chapters in their order. The table of contents is left out. */
export async function readEpub(
  archive: OfficeArchive,
  limits: ReadLimits,
): Promise<{ title: string | null; text: string }> {
  const container = await archive.readXml("META-INF/container.xml");
  const main = container && findFirst(container, "container", "rootfiles", "rootfile")?.attributes["full-path"];
  const xml = main ? await archive.readXml(main) : null;
  const book = xml && findFirst(xml, "package");
  if (!main || !book) throw new RefusedFile("damaged");
  const items = new Map(findAll(book, "manifest", "item").map(({ attributes }) => [attributes["id"], attributes]));
  const texts: string[] = [];
  let room = limits.characters;
  for (const { attributes } of findAll(book, "spine", "itemref")) {
    const { href = "", properties = "", "media-type": type = "" } = items.get(attributes["idref"]) ?? {};
    if (!/html/.test(type) || /\bnav\b/.test(properties)) continue;
    const chapter = await archive.readText(path.posix.join(path.posix.dirname(main), decode(href)));
    if (chapter === null) continue;
    const { text } = readHtml(chapter, { ...limits, characters: room });
    room -= text.length;
    texts.push(text);
  }
  const title = findFirst(book, "metadata", "title");
  return { title: title ? realTitle(textIn(title)) : null, text: texts.filter((text) => text !== "").join("\n\n") };
}

function decode(href: string): string {
  try {
    return decodeURIComponent(href.replace(/#.*$/, ""));
  } catch {
    return href;
  }
}
