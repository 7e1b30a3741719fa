import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

/** Both in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** Encodes one DER value: tag, length, content. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const octetString = (part: Uint8Array) => der(0x04, part);
const objectId = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const utcTime = (year: string) => der(0x17, Buffer.from(`${year}0101000000Z`));

const ECDSA_WITH_SHA256 = sequence(objectId("2a8648ce3d040302"));
const alternativeName = (name: string) =>
  isIPv4(name) ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name));

/**
 * Creates a certificate for host names and IPv4 addresses (RFC 5280), and its key. A client that trusts the certificate itself accepts it.
 *
 * @param names - `*.example.com` means the direct subdomains. All together may have 60 KB.
 */
export function createSelfSignedCertificate(names: readonly string[]): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(0x31, sequence(objectId("550403"), der(0x0c, Buffer.from("App Provisioning Service")))));
  const hosts = sequence(...names.map(alternativeName));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    name,
    sequence(utcTime("20"), utcTime("49")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(objectId("551d11"), octetString(hosts)))),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, privateKey));
  const base64 = sequence(body, ECDSA_WITH_SHA256, signature).toString("base64");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}
