import type { DiskObject } from "./disk-objects.ts";

export class S3Failure extends Error {
  override readonly name = "S3Failure";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

export function errorXml(code: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${code}</Message></Error>`;
}

/** One page of ListObjectsV2. */
export function listXml(bucket: string, sorted: readonly DiskObject[], query: URLSearchParams): string {
  const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter") ?? ""];
  const token = query.get("continuation-token");
  const after = token === null ? (query.get("start-after") ?? "") : Buffer.from(token, "base64url").toString();
  const max = Number(query.get("max-keys") ?? "1000");
  const entries: string[] = [];
  let [last, isTruncated] = [after, false];
  for (const object of sorted) {
    const end = delimiter === "" ? -1 : object.key.indexOf(delimiter, prefix.length);
    const name = end === -1 ? object.key : object.key.slice(0, end + delimiter.length);
    if (Buffer.compare(Buffer.from(name), Buffer.from(last)) <= 0 || (end !== -1 && last.startsWith(name))) continue;
    isTruncated = entries.length === max;
    if (isTruncated) break;
    entries.push(
      end === -1 ? contentsXml(object) : `<CommonPrefixes><Prefix>${escapeXml(name)}</Prefix></CommonPrefixes>`,
    );
    last = name;
  }
  return [
    `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`,
    `<Name>${bucket}</Name><Prefix>${escapeXml(prefix)}</Prefix><KeyCount>${entries.length}</KeyCount><MaxKeys>${max}</MaxKeys>`,
    `<IsTruncated>${isTruncated}</IsTruncated>`,
    isTruncated ? `<NextContinuationToken>${Buffer.from(last).toString("base64url")}</NextContinuationToken>` : "",
    ...entries,
    "</ListBucketResult>",
  ].join("");
}

export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function contentsXml({ key, etag, size, modifiedAt }: DiskObject): string {
  return `<Contents><Key>${escapeXml(key)}</Key><LastModified>${modifiedAt}</LastModified><ETag>${escapeXml(etag)}</ETag><Size>${size}</Size><StorageClass>STANDARD</StorageClass></Contents>`;
}
