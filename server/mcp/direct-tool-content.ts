import type { ContentBlock, EmbeddedResource, ResultContent } from "../../domain/ports/app-caller.ts";
import { readImageHeader } from "./image-header.ts";

/** The limits of the blocks of one result. */
const MAX_BLOCKS = 20;
/** All images and sounds of a result together, in characters of base64. */
const MAX_MEDIA_CHARACTERS = 2 * 1024 * 1024;
const MAX_PIXELS_PER_SIDE = 8000;
const MAX_URI_CHARACTERS = 2000;
const MAX_NAME_CHARACTERS = 200;
/** Shorter data that is not passed on as a block stays in the output. */
const MAX_INLINE_CHARACTERS = 2000;

/** A content block of the gateway's own result: an image, a sound, an embedded resource or a link. */
export type PassedBlock = Exclude<ContentBlock, { type: "text" | "unknown" }>;

/** How the content of an app's result is shown to an agent. */
export interface ShownContent {
  /** The blocks that are passed on, in their order. */
  blocks: PassedBlock[];
  /** All blocks as data, without the binary data of those that are passed on. */
  output: unknown[];
  /** What was left out; empty if nothing was. */
  notes: string[];
}

interface Budget {
  blocks: number;
  mediaCharacters: number;
  textCharacters: number;
  /** Whether the output contains everything but binary data, so that only binary data can be lost. */
  isDataShown: boolean;
}

type Omission = "large" | "invalid";

/**
 * Selects the blocks of an app's result that are passed on to the agent. Every block is rebuilt from members that clients
 * validate, so that no client and no model API refuses the result: the type of an image is that of its data, base64 is
 * canonical, and a URI is valid.
 *
 * @param textCharacters - how many characters the texts and the binary data of embedded resources may have
 */
export function showContent({ blocks, isOutput }: ResultContent, textCharacters: number): ShownContent {
  const media = MAX_MEDIA_CHARACTERS;
  const budget = { blocks: MAX_BLOCKS, mediaCharacters: media, textCharacters, isDataShown: isOutput };
  const shown: ShownContent = { blocks: [], output: [], notes: [] };
  const omitted: Record<Omission, number> = { large: 0, invalid: 0 };
  for (const block of blocks) {
    const passed = block.type === "text" || block.type === "unknown" ? null : passBlock(block, budget);
    if (typeof passed === "string") omitted[passed] += 1;
    else if (passed !== null) shown.blocks.push(passed);
    shown.output.push(toData(block, passed !== null && typeof passed === "object"));
  }
  const of = `of the ${blocks.length} parts of the result`;
  if (omitted.large > 0)
    shown.notes.push(
      `${omitted.large} ${of} were left out because of their size: images and sounds may have ${media / 1024 / 1024} MiB of base64 together, and a result ${MAX_BLOCKS} parts.`,
    );
  if (omitted.invalid > 0)
    shown.notes.push(
      `${omitted.invalid} ${of} were left out because models or clients would refuse them: an image must be a PNG, JPEG, GIF or WebP image of at most ${MAX_PIXELS_PER_SIDE} pixels per side, binary data must be base64, and a URI absolute.`,
    );
  return shown;
}

/** The output of a result whose blocks are all passed on. */
export function toOutput({ blocks }: ResultContent): unknown[] {
  return blocks.map((block) => toData(block, true));
}

/** @returns `null` for a block that is not passed on, but of which nothing is lost */
function passBlock(block: PassedBlock, budget: Budget): PassedBlock | Omission | null {
  const passed = budget.blocks === 0 ? "large" : convert(block, budget);
  const isData = block.type === "resource_link" || (block.type === "resource" && block.resource.text !== undefined);
  if (typeof passed === "string") return isData && budget.isDataShown ? null : passed;
  budget.blocks -= 1;
  return passed;
}

function convert(block: PassedBlock, budget: Budget): PassedBlock | Omission {
  switch (block.type) {
    case "image":
    case "audio":
      return convertMedia(block, budget);
    case "resource":
      return convertResource(block.resource, budget);
    case "resource_link": {
      const { type, uri, name, mimeType } = block;
      if (!isUri(uri)) return "invalid";
      return { type, uri, name: name.slice(0, MAX_NAME_CHARACTERS).toWellFormed(), ...keepMimeType(mimeType) };
    }
  }
}

function convertMedia(
  { type, data, mimeType: declared }: Extract<ContentBlock, { data: string }>,
  budget: Budget,
): PassedBlock | Omission {
  if (data.length > budget.mediaCharacters) return "large";
  const bytes = decodeBase64(data);
  if (bytes === null) return "invalid";
  const mimeType = type === "image" ? readImageType(bytes) : declared;
  if (mimeType === null || (type === "audio" && !/^audio\/[\w.+-]{1,60}$/.test(mimeType))) return "invalid";
  budget.mediaCharacters -= data.length;
  return { type, data: bytes.toString("base64"), mimeType };
}

/** @returns `null` for data that no model accepts as an image */
function readImageType(bytes: Buffer): string | null {
  const header = readImageHeader(bytes);
  if (header === null) return null;
  const isUsable = [header.width, header.height].every((side) => side > 0 && side <= MAX_PIXELS_PER_SIDE);
  return isUsable ? header.mimeType : null;
}

function convertResource(resource: EmbeddedResource, budget: Budget): PassedBlock | Omission {
  const { uri, text, blob } = resource;
  if (!isUri(uri)) return "invalid";
  const content = text ?? blob ?? "";
  if (content.length > budget.textCharacters) return "large";
  const bytes = text === undefined ? decodeBase64(content) : null;
  if (text === undefined && bytes === null) return "invalid";
  budget.textCharacters -= content.length;
  const data = text === undefined ? { blob: bytes?.toString("base64") } : { text: text.toWellFormed() };
  return { type: "resource", resource: { uri, ...keepMimeType(resource.mimeType), ...data } };
}

function keepMimeType(mimeType: string | undefined): { mimeType?: string } {
  return mimeType !== undefined && /^[\w.+-]{1,60}\/[\w.+-]{1,100}(; ?charset=[\w-]{1,40})?$/.test(mimeType)
    ? { mimeType }
    : {};
}

/** Some clients accept absolute URIs only. */
function isUri(uri: string): boolean {
  return uri.length <= MAX_URI_CHARACTERS && URL.canParse(uri) && /^[\x21-\x7e]+$/.test(uri);
}

/** Accepts line breaks, a missing padding, the URL-safe alphabet, and a `data:` URL. */
function decodeBase64(text: string): Buffer | null {
  const data = text.replace(/^data:[\w.+-]+\/[\w.+-]+;base64,/, "").replaceAll(/\s/g, "");
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(data) ? Buffer.from(data, "base64") : null;
}

/** A block as a part of the output. */
function toData(block: ContentBlock, isPassed: boolean): unknown {
  switch (block.type) {
    case "image":
    case "audio": {
      const { type, mimeType, data } = block;
      return { type, mimeType, ...describeBinary(data, isPassed, "data") };
    }
    case "resource": {
      const { blob, ...resource } = block.resource;
      return { ...block, resource: { ...resource, ...(blob !== undefined && describeBinary(blob, isPassed, "blob")) } };
    }
    case "unknown":
      return block.block;
    default:
      return block;
  }
}

function describeBinary(data: string, isPassed: boolean, name: "data" | "blob"): object {
  const bytes = Math.floor((data.length * 3) / 4);
  return !isPassed && data.length <= MAX_INLINE_CHARACTERS ? { bytes, [name]: data } : { bytes };
}
