import { gzipSync } from "node:zlib";

const BLOCK = 512;

/** Creates a gzipped tar file like `npm pack`, with every file in the folder `package`. Equal files give equal bytes. */
export function createTarball(files: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    return [
      header(`package/${name}`, content.length),
      content,
      Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK),
    ];
  });
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]));
}

/** The ustar header (POSIX.1-1988) of a regular file. */
function header(name: string, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0);
  block.write("0000644\0", 100);
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  block.write("00000000000\0", 136);
  block.write("        0", 148);
  block.write("ustar\x0000", 257);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${checksum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
