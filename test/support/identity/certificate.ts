import { generateKeyPairSync, sign } from "node:crypto";

/** Both in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** Encodes one DER value: tag, length, content. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const lengthBytes = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content]);
}

const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const octetString = (part: Uint8Array) => der(0x04, part);
const objectId = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const utcTime = (year: string) => der(0x17, Buffer.from(`${year}0101000000Z`));

const ECDSA_WITH_SHA256 = sequence(objectId("2a8648ce3d040302"));
const NAME = sequence(der(0x31, sequence(objectId("550403"), der(0x0c, Buffer.from("Test")))));
const IS_AUTHORITY = sequence(
  objectId("551d13"),
  der(0x01, Buffer.from([255])),
  octetString(sequence(der(0x01, Buffer.from([255])))),
);

/** Creates a self-signed certificate for a host name and its direct subdomains. */
export function createCertificate(host: string): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const hosts = sequence(...[host, `*.${host}`].map((name) => der(0x82, Buffer.from(name))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    NAME,
    sequence(utcTime("20"), utcTime("49")),
    NAME,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(objectId("551d11"), octetString(hosts)), IS_AUTHORITY)),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, privateKey));
  const base64 = sequence(body, ECDSA_WITH_SHA256, signature).toString("base64");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}
