import type { HostedSkill } from "../../../../domain/ports/agent-host.ts";
import type { GatewaySkill } from "./gateway-schemas.ts";
import { toLine } from "./sanitize-hosted-text.ts";

const MAX_NAME = 100;
const MAX_DESCRIPTION = 1024;
const MAX_REASONS = 20;

export function toHostedSkill(skill: GatewaySkill): HostedSkill {
  const missing = reasonsOf(skill);
  return {
    name: toLine(skill.name, MAX_NAME) || "unknown",
    description: toLine(skill.description, MAX_DESCRIPTION),
    source: toLine(skill.source, MAX_NAME),
    // A gateway reports separately what an agent must not use.
    eligible: skill.eligible && missing.length === 0,
    missing: missing.slice(0, MAX_REASONS),
  };
}

function reasonsOf(skill: GatewaySkill): string[] {
  const { bins = [], anyBins = [], env = [], config = [], os = [] } = skill.missing;
  const reasons = [
    ...(skill.disabled ? ["disabled"] : []),
    ...(skill.blockedByAllowlist || skill.blockedByAgentFilter ? ["not allowed for this agent"] : []),
    ...bins.map((name) => `program ${name}`),
    ...(anyBins.length > 0 ? [`one of the programs ${anyBins.join(", ")}`] : []),
    ...env.map((name) => `environment variable ${name}`),
    ...config.map((name) => `setting ${name}`),
    ...(os.length > 0 || skill.platformIncompatible ? [`operating system ${os.join(" or ")}`] : []),
  ];
  return reasons.map((reason) => toLine(reason, MAX_NAME));
}
