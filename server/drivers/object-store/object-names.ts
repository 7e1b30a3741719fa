const MAX_KEY_BYTES = 1024;

/** File systems allow 255 bytes. One is used for the prefix of folders. */
const MAX_SEGMENT_BYTES = 254;

/** Whether a name can be that of a bucket in every kind of store. */
export function isBucketName(name: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,99}$/.test(name);
}

/** @throws when the name could be anything but a folder directly below the root of the store */
export function validateBucket(bucket: string): void {
  if (!isBucketName(bucket)) throw new Error(`Invalid bucket name: ${JSON.stringify(bucket)}`);
}

/**
 * Returns the segments of a key. Every store has the same rules, so that objects can be moved between them.
 *
 * @throws when `key` is not a relative path, has empty, `.` or `..` segments, or is too long
 */
export function keySegments(key: string): string[] {
  const segments = key.split("/");
  const tooLong = Buffer.byteLength(key) > MAX_KEY_BYTES;
  if (tooLong || !segments.every(isValidSegment))
    throw new Error(`Invalid object key: ${JSON.stringify(key.slice(0, 200))}`);
  return segments;
}

function isValidSegment(segment: string): boolean {
  const dots = segment === "." || segment === "..";
  return segment !== "" && !dots && !segment.includes("\0") && Buffer.byteLength(segment) <= MAX_SEGMENT_BYTES;
}
