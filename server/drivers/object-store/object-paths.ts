const MAX_KEY_BYTES = 1024;

/** File systems allow 255 bytes. One is used for the prefix of folders. */
const MAX_SEGMENT_BYTES = 254;

export function isBucketName(name: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,99}$/.test(name);
}

/** @throws when the name could be anything but a folder directly below the root of the store */
export function validateBucket(bucket: string): void {
  if (!isBucketName(bucket)) throw new Error(`Invalid bucket name: ${JSON.stringify(bucket)}`);
}

/**
 * Returns the path of an object, relative to the folder of its bucket. Folder names have the prefix `+`, so that `a`
 * and `a/b` can both be objects, as in any object store.
 *
 * @throws when `key` is not a relative path, has empty, `.` or `..` segments, or is too long
 */
export function keyToPath(key: string): string {
  const segments = key.split("/");
  const tooLong = Buffer.byteLength(key) > MAX_KEY_BYTES;
  if (tooLong || !segments.every(isValidSegment))
    throw new Error(`Invalid object key: ${JSON.stringify(key.slice(0, 200))}`);
  const folders = segments.slice(0, -1).map((folder) => `+${folder}`);
  return [...folders, (segments.at(-1) ?? "").replace(/^[+=]/, "=$&")].join("/");
}

/** Returns the key segment of a file or folder name: the reverse of `keyToPath`. */
export function nameToSegment(name: string): string {
  return name.replace(/^[+=]/, "");
}

function isValidSegment(segment: string): boolean {
  const dots = segment === "." || segment === "..";
  return segment !== "" && !dots && !segment.includes("\0") && Buffer.byteLength(segment) <= MAX_SEGMENT_BYTES;
}
