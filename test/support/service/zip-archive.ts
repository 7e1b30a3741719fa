import { crc32, deflateRawSync } from "node:zlib";

/** An entry of a zip file, with fields that can contradict its content. */
export interface ZipEntry {
  name: string | Buffer;
  content?: string | Uint8Array;
  /** The compressed bytes, instead of those of `content`. */
  compressed?: Buffer;
  /** 8: deflate. */
  method?: number;
  flags?: number;
  /** The type and permissions of a file on Unix. */
  mode?: number;
  declaredSize?: number;
  crc?: number;
}

const UTF8_NAME = 0x800;
const UNIX = 3 << 8;

/** Creates a zip file (APPNOTE.TXT 6.3). */
export function zipArchive(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { local, central } = describeEntry(entry, offset);
    parts.push(...local);
    directory.push(central);
    offset += local.reduce((sum, part) => sum + part.length, 0);
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}

function describeEntry(entry: ZipEntry, offset: number): { local: Buffer[]; central: Buffer } {
  const { method = 8, flags = UTF8_NAME, mode = 0o100644 } = entry;
  const name = Buffer.from(entry.name);
  const content = Buffer.from(entry.content ?? "");
  const compressed = entry.compressed ?? (method === 8 ? deflateRawSync(content) : content);
  // The fields that the local and the central header have in common.
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(flags, 2);
  common.writeUInt16LE(method, 4);
  common.writeUInt32LE(entry.crc ?? crc32(content), 10);
  common.writeUInt32LE(compressed.length, 14);
  common.writeUInt32LE(entry.declaredSize ?? content.length, 18);
  common.writeUInt16LE(name.length, 22);
  const before = Buffer.alloc(6);
  before.writeUInt32LE(0x02014b50, 0);
  before.writeUInt16LE(UNIX, 4);
  const after = Buffer.alloc(14);
  after.writeUInt32LE((mode << 16) >>> 0, 6);
  after.writeUInt32LE(offset, 10);
  return {
    local: [Buffer.from("PK\u0003\u0004"), common, name, compressed],
    central: Buffer.concat([before, common, after, name]),
  };
}

/** Returns zeros in deflate, in blocks that repeat, so that any size is created quickly. */
export function deflatedZeros(mebibytes: number): Buffer {
  const block = deflateRawSync(Buffer.alloc(1024 * 1024), { finishFlush: 3 });
  const last = deflateRawSync(Buffer.alloc(0));
  return Buffer.concat([...Array.from({ length: mebibytes }, () => block), last]);
}
