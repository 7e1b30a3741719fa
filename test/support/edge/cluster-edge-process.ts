// A process that a test can kill: an edge of a cluster on the given data folder. It prints the port of its edge proxy.
import type { S3Settings } from "../../../server/drivers/object-store/s3.ts";
import { openClusterEdge, openTestBucket } from "./cluster-edge.ts";

const [dataDirectory, settings] = process.argv.slice(2);
if (dataDirectory === undefined || settings === undefined)
  throw new Error("Usage: cluster-edge-process.ts <folder> <settings of the object store>");
const bucket = openTestBucket(JSON.parse(settings) as S3Settings);
const { platform } = await openClusterEdge(bucket, { dataDirectory });
process.stdout.write(`${platform.port}\n`);
