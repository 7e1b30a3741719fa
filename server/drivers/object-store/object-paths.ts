const MAX_KEY_BYTES = 1024;

/** One less than a file's name may have, for the mark of a folder. */
const MAX_SEGMENT_BYTES = 254;

/** @throws when `bucket` could be anything but a folder right below the store's own */
export function checkBucket(bucket: string): void {
  if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(bucket)) throw new Error(`Not a bucket name: ${JSON.stringify(bucket)}`);
}

/**
 * Where an object lies in the folder of its bucket. Folders are marked with a leading `+`, so that `a` and `a/b` can
 * both be objects, as in any object store.
 *
 * @throws when `key` is not a relative path of plain segments
 */
export function pathOfKey(key: string): string {
  const segments = key.split("/");
  const tooLong = Buffer.byteLength(key) > MAX_KEY_BYTES;
  if (tooLong || !segments.every(isPlain)) throw new Error(`Not an object key: ${JSON.stringify(key.slice(0, 200))}`);
  const folders = segments.slice(0, -1).map((folder) => `+${folder}`);
  return [...folders, (segments.at(-1) ?? "").replace(/^[+=]/, "=$&")].join("/");
}

/** The segment of a key that a file or folder of a bucket stands for. */
export function segmentOf(name: string): string {
  return name.replace(/^[+=]/, "");
}

function isPlain(segment: string): boolean {
  const dots = segment === "." || segment === "..";
  return segment !== "" && !dots && !segment.includes("\0") && Buffer.byteLength(segment) <= MAX_SEGMENT_BYTES;
}
