/** What the first bytes of an image say about it. */
export interface ImageHeader {
  mimeType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  width: number;
  height: number;
}

/**
 * Reads the header of an image in one of the four formats that language models accept. The declared type of an image is not
 * used: a model API refuses the whole conversation when the type is wrong.
 *
 * @returns `null` for any other data
 */
export function readImageHeader(bytes: Buffer): ImageHeader | null {
  const signature = bytes.toString("latin1", 0, 16);
  try {
    if (signature.startsWith("\x89PNG\r\n\x1a\n"))
      return { mimeType: "image/png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
    if (/^GIF8[79]a/.test(signature))
      return { mimeType: "image/gif", width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    if (signature.startsWith("\xff\xd8\xff")) return readJpegHeader(bytes);
    return /^RIFF[^]{4}WEBPVP8[ LX]$/.test(signature) ? readWebpHeader(bytes) : null;
  } catch (error) {
    // The data ends before the header does.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The segments with the size of the image: SOF0 to SOF15, without DHT, JPG and DAC. */
const FRAME_MARKERS = new Set([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);

/** @throws {RangeError} when the data ends before the size */
function readJpegHeader(bytes: Buffer): ImageHeader | null {
  let at = 2;
  for (;;) {
    if (bytes.readUInt8(at) !== 0xff) return null;
    const marker = bytes.readUInt8(at + 1);
    if (FRAME_MARKERS.has(marker))
      return { mimeType: "image/jpeg", height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    // A marker can be preceded by any number of fill bytes.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
}

/** @throws {RangeError} when the data ends before the size */
function readWebpHeader(bytes: Buffer): ImageHeader {
  const mimeType = "image/webp";
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { mimeType, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      const packed = bytes.readUInt32LE(21);
      return { mimeType, width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    default:
      return { mimeType, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
}
