// Runs inside the sandbox: replaces pointers of Git LFS by the files that the git host has for them, within the limits. The
// outcome is written to $GIT_DIR/report.json. `.lfsconfig` and every other setting of the repository is ignored.
//
// usage: GIT_DIR=<folder> GIT_WORK_TREE=<folder> node large-files.mjs <options as JSON>
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:fs";
import { pipeline } from "node:stream/promises";
import { isWithoutLinks, POINTERS_FILE } from "./repository.mjs";

const BATCH_SIZE = 100;
const SIMULTANEOUS = 4;
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
const MAX_REDIRECTS = 3;
const MAX_REPORTED = 10;
const MEDIA_TYPE = "application/vnd.git-lfs+json";
/** Headers that describe the message, which the client sets itself. */
const OWN_HEADERS =
  /^(host|connection|content-.*|transfer-encoding|te|upgrade|proxy-.*|accept-encoding|expect|cookie)$/i;

const { origin, limits, used, timeMs } = JSON.parse(process.argv[2]);
const deadline = AbortSignal.timeout(timeMs);
const folder = `${process.env.GIT_DIR}/large-files`;
/** The paths of pointers that stay, by the reason. */
const omitted = new Map();
let [count, bytes] = [0, 0];

mkdirSync(folder);
await replacePointers();
if (count > 0) console.log(`Downloaded from Git LFS: ${count} files, ${bytes} bytes`);
const listed = [...omitted].map(([reason, paths]) => [
  reason,
  { names: paths.slice(0, MAX_REPORTED), count: paths.length },
]);
writeFileSync(`${process.env.GIT_DIR}/report.json`, JSON.stringify({ omitted: Object.fromEntries(listed) }));

async function replacePointers() {
  const lines = readFileSync(POINTERS_FILE, "utf8").split("\n").slice(0, -1);
  const pointers = lines.map((line) => JSON.parse(line)).filter(isWithinLimits);
  for (const [url, ofRepository] of Map.groupBy(pointers, (pointer) => pointer.url)) {
    const objects = [...Map.groupBy(ofRepository, ({ oid, size }) => `${oid} ${size}`).values()];
    for (let start = 0; start < objects.length; start += BATCH_SIZE)
      await replaceObjects(url, objects.slice(start, start + BATCH_SIZE));
  }
}

/** In the order of the pointers, so that the same ones fit in every checkout. */
function isWithinLimits({ path, oid, size }) {
  if (oid === null) return omit("format", [path]);
  if (size > limits.fileBytes || used.bytes + size > limits.totalBytes) return omit("limits", [path]);
  used.bytes += size;
  return true;
}

function omit(reason, paths) {
  const key = deadline.aborted ? "time" : reason;
  omitted.set(key, [...(omitted.get(key) ?? []), ...paths]);
  return false;
}

/** @param objects - for each object, its pointers */
async function replaceObjects(url, objects) {
  const batch = await requestBatch(url, objects).catch(() => null);
  const left = [...objects];
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await replaceObject(batch, next);
  };
  await Promise.all(Array.from({ length: SIMULTANEOUS }, work));
}

async function replaceObject(batch, pointers) {
  const [{ oid, size }] = pointers;
  const file = `${folder}/${oid}-${size}`;
  const paths = pointers.map(({ path }) => path);
  try {
    const reason = batch === null ? "host" : await download(batch.get(oid), { oid, size, file });
    if (reason !== null) return omit(reason, paths);
    for (const path of paths) await writeOver(path, file);
    [count, bytes] = [count + paths.length, bytes + paths.length * size];
  } catch {
    omit("download", paths);
  } finally {
    rmSync(file, { force: true });
  }
}

/** Keeps the executable bit of the pointer. */
async function writeOver(path, file) {
  if (!isWithoutLinks(path)) throw new Error("The path leads through a link.");
  const flags = constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW;
  await pipeline(createReadStream(file), createWriteStream(`${process.env.GIT_WORK_TREE}/${path}`, { flags }));
}

/** Returns how each object can be downloaded; `null` if the host serves no Git LFS. */
async function requestBatch(url, objects) {
  const wanted = objects.map(([{ oid, size }]) => ({ oid, size }));
  const response = await fetch(`${url}/info/lfs/objects/batch`, {
    method: "POST",
    headers: { accept: MEDIA_TYPE, "content-type": MEDIA_TYPE },
    body: JSON.stringify({ operation: "download", transfers: ["basic"], objects: wanted, hash_algo: "sha256" }),
    redirect: "manual",
    signal: deadline,
  });
  if (response.status !== 200) return null;
  const { transfer = "basic", objects: found } = JSON.parse(await readText(response));
  return transfer === "basic" ? new Map(found.map((object) => [object.oid, object])) : null;
}

async function readText(response) {
  const chunks = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > MAX_RESPONSE_BYTES) throw new Error("The response is too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Returns `null` if the file has the content of the object, otherwise the reason. */
async function download(object, target) {
  const action = object?.actions?.download;
  if (action === undefined) return "missing";
  let url = toAllowedUrl(action.href);
  let headers = requestHeaders(action.header);
  for (let redirects = 0; url !== null && redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetch(url, { headers, redirect: "manual", signal: deadline });
    if (response.status === 200) return (await writeVerified(response, target)) ? null : "content";
    await response.body?.cancel();
    if (![301, 302, 303, 307, 308].includes(response.status)) return "download";
    const next = toAllowedUrl(response.headers.get("location") ?? "", url);
    // The headers can contain a token, which only the host gets for which they are.
    if (next?.origin !== url.origin) headers = requestHeaders({});
    url = next;
  }
  return url === null ? "address" : "download";
}

/** Returns `null` for every address but one of the git host, or one with HTTPS. The proxy refuses addresses that are not public. */
function toAllowedUrl(text, base) {
  const url = URL.parse(text, base);
  if (url === null || url.username !== "" || url.password !== "") return null;
  return url.origin === origin || url.protocol === "https:" ? url : null;
}

function requestHeaders(given) {
  const own = Object.entries(given ?? {}).filter(
    ([name, value]) => typeof value === "string" && !OWN_HEADERS.test(name),
  );
  return { ...Object.fromEntries(own), "accept-encoding": "identity" };
}

/** Writes the body to a file. Returns whether it has the size and the hash of the object. */
async function writeVerified(response, { oid, size, file }) {
  const hash = createHash("sha256");
  let length = 0;
  const check = async function* (chunks) {
    for await (const chunk of chunks) {
      length += chunk.length;
      if (length > size) return;
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(response.body, check, createWriteStream(file));
  return length === size && hash.digest("hex") === oid;
}
