/** The version of OpenClaw that is installed from npm. Scripted gateways respond as this one does. */
export const OPENCLAW_VERSION = "2026.9.6";
