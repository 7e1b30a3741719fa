import sax from "sax";

export interface ListedObject {
  key: string;
  /** In bytes. */
  size: number;
  etag: string;
  /** In the form of the server, ISO 8601. */
  lastModified: string;
}

export interface ListedPage {
  objects: ListedObject[];
  /** The prefixes up to the delimiter, if the request had one. */
  folders: string[];
  /** The continuation token; `null` at the last page. */
  nextToken: string | null;
}

/**
 * Reads a response of ListObjectsV2.
 *
 * @returns `null` when it is something else
 */
export function parseListedPage(xml: string): ListedPage | null {
  const page: ListedPage = { objects: [], folders: [], nextToken: null };
  let [isComplete, isTruncated] = [false, ""];
  const object = { key: "", size: 0, etag: "", lastModified: "" };
  const isXml = readElements(xml, (path, text) => {
    if (path === "ListBucketResult/Contents/Key") object.key = text;
    if (path === "ListBucketResult/Contents/Size") object.size = Number(text);
    if (path === "ListBucketResult/Contents/ETag") object.etag = text;
    if (path === "ListBucketResult/Contents/LastModified") object.lastModified = text;
    if (path === "ListBucketResult/Contents") page.objects.push({ ...object });
    if (path === "ListBucketResult/CommonPrefixes/Prefix") page.folders.push(text);
    if (path === "ListBucketResult/NextContinuationToken") page.nextToken = text;
    if (path === "ListBucketResult/IsTruncated") isTruncated = text;
    if (path === "ListBucketResult") isComplete = true;
  });
  if (!isXml || !isComplete || (isTruncated === "true") !== (page.nextToken !== null)) return null;
  return page;
}

/** Reads an error document of S3; its code is empty when it is something else. */
export function parseError(xml: string): { code: string; reason: string } {
  const error = { code: "", reason: "" };
  readElements(xml, (path, text) => {
    if (path === "Error/Code") error.code = /^[A-Za-z0-9]{1,60}$/.test(text) ? text : "";
    if (path === "Error/Message") error.reason = text.slice(0, 200);
  });
  return error;
}

/** Writes an error document of S3. */
export function formatError(code: string, message: string): string {
  return document("Error", element("Code", code) + element("Message", message));
}

/** Writes a response of ListObjectsV2. */
export function formatListedPage(
  bucket: string,
  query: Readonly<Record<string, string>>,
  { objects, folders, nextToken }: ListedPage,
): string {
  const optional = (name: string, value: string | null | undefined) => (value ? element(name, value) : "");
  const entries = objects.map(({ key, size, etag, lastModified }) => {
    const fields = { Key: key, LastModified: lastModified, ETag: etag, Size: String(size), StorageClass: "STANDARD" };
    const content = Object.entries(fields).map(([name, value]) => element(name, value));
    return `<Contents>${content.join("")}</Contents>`;
  });
  return document(
    "ListBucketResult",
    [
      element("Name", bucket),
      element("Prefix", query["prefix"] ?? ""),
      optional("Delimiter", query["delimiter"]),
      optional("StartAfter", query["start-after"]),
      optional("ContinuationToken", query["continuation-token"]),
      element("KeyCount", String(objects.length + folders.length)),
      element("MaxKeys", query["max-keys"] ?? "1000"),
      element("IsTruncated", String(nextToken !== null)),
      optional("NextContinuationToken", nextToken),
      ...entries,
      ...folders.map((folder) => `<CommonPrefixes>${element("Prefix", folder)}</CommonPrefixes>`),
    ].join(""),
  );
}

/**
 * Calls `onElement` with the path and the text of every element, at its end.
 *
 * @returns whether the text is XML
 */
function readElements(xml: string, onElement: (path: string, text: string) => void): boolean {
  const names: string[] = [];
  let text = "";
  const addText = (part: string): void => {
    text += part;
  };
  // The parser has no methods that add a handler.
  const parser = Object.assign(sax.parser(true, { position: false }), {
    onopentag: ({ name }: sax.Tag | sax.QualifiedTag) => {
      names.push(name);
      text = "";
    },
    ontext: addText,
    oncdata: addText,
    onclosetag: () => {
      onElement(names.join("/"), text);
      names.pop();
      text = "";
    },
  });
  try {
    parser.write(xml).close();
    return true;
  } catch {
    return false;
  }
}

function document(name: string, content: string): string {
  const namespace = name === "Error" ? "" : ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name}${namespace}>${content}</${name}>`;
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

function element(name: string, text: string): string {
  return `<${name}>${text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "")}</${name}>`;
}
