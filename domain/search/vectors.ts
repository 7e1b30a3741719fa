import { Buffer } from "node:buffer";

const NUMBER_BYTES = 4;

/** Writes the numbers of a vector as 4 bytes each, little-endian. */
export function encodeVector(vector: Float32Array): Buffer {
  const data = Buffer.alloc(vector.length * NUMBER_BYTES);
  for (const [index, value] of vector.entries()) data.writeFloatLE(value, index * NUMBER_BYTES);
  return data;
}

/** Returns the cosine of the angle between a vector and one that `encodeVector` wrote. Both have the length 1. */
export function cosineOf(vector: Float32Array, data: Uint8Array): number {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let sum = 0;
  for (let index = 0; index < vector.length; index++)
    sum += (vector[index] ?? 0) * view.getFloat32(index * NUMBER_BYTES, true);
  return sum;
}

/** Returns the signs of a vector as `0` and `1`. Vectors of similar directions differ in few of them. */
export function signsOf(vector: Float32Array): string {
  return Array.from(vector, (value) => (value > 0 ? "1" : "0")).join("");
}
