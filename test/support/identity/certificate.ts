import { generateKeyPairSync, sign } from "node:crypto";

export interface Certificate {
  /** Both in PEM. */
  cert: string;
  key: string;
}

/** DER: one value, its tag before it. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const octets = (part: Uint8Array) => der(0x04, part);
const id = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const utcTime = (year: string) => der(0x17, Buffer.from(`${year}0101000000Z`));

const ECDSA_WITH_SHA256 = sequence(id("2a8648ce3d040302"));
const NAME = sequence(der(0x31, sequence(id("550403"), der(0x0c, Buffer.from("Test")))));
const IS_AUTHORITY = sequence(
  id("551d13"),
  der(0x01, Buffer.from([255])),
  octets(sequence(der(0x01, Buffer.from([255])))),
);

/** A certificate of its own authority for a host name and the names right below it. */
export function certificateFor(host: string): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const hosts = sequence(...[host, `*.${host}`].map((name) => der(0x82, Buffer.from(name))));
  const statement = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    NAME,
    sequence(utcTime("20"), utcTime("49")),
    NAME,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(id("551d11"), octets(hosts)), IS_AUTHORITY)),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", statement, privateKey));
  const bytes = sequence(statement, ECDSA_WITH_SHA256, signature).toString("base64");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${bytes.replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}
