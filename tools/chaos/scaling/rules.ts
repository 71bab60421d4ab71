import { readFileSync } from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

/** What the chart says of scaling, read from the chart itself: when a role gets more pods, and how it loses them. */

/** What a role is scaled by, and at which value it should have as many pods as it has. */
interface ScalingMetric {
  /** Processor time of a pod, of what it asks for; a value of the whole role. */
  readonly name: 'cpu' | 'kiln_queue_oldest_seconds' | 'kiln_poll_lag_seconds';
  /** Of one (1 is all that it asks for), or seconds. */
  readonly target: number;
}

/** How one role is scaled. */
export interface ScalingRule {
  readonly role: 'gateway' | 'media' | 'worker';
  readonly min: number;
  readonly max: number;
  readonly metrics: readonly ScalingMetric[];
  /** Milliseconds over which the largest wish counts before pods go, and between two that go. */
  readonly stabilisationMs: number;
  readonly periodMs: number;
}

const chart = path.resolve(import.meta.dirname, '../../../deploy/helm/kiln');

/** Reads the rules of the chart as it is without further values. Throws where the chart says it in other words than these. */
export function chartRules(): readonly ScalingRule[] {
  const values = parse(readFileSync(path.join(chart, 'values.yaml'), 'utf8'));
  const template = readFileSync(path.join(chart, 'templates/autoscaling.yaml'), 'utf8');
  const [horizontal = '', keda = ''] = template.split('kind: ScaledObject');
  const common = (role: ScalingRule['role']) => {
    const { min, max } = values[role].autoscaling;
    return { role, min: toNumber(min), max: toNumber(max) };
  };
  const byCpu = (role: 'gateway' | 'media'): ScalingRule => ({
    ...common(role),
    metrics: [{ name: 'cpu', target: toNumber(values[role].autoscaling.cpuPercent) / 100 }],
    stabilisationMs: secondsIn(horizontal, /stabilizationWindowSeconds: (\d+)/),
    periodMs: secondsIn(horizontal, /\{ type: Pods, value: 1, periodSeconds: (\d+) \}/),
  });
  const { queueSeconds, pollLagSeconds, cooldownSeconds } = values.worker.autoscaling;
  const worker: ScalingRule = {
    ...common('worker'),
    metrics: [
      { name: 'kiln_queue_oldest_seconds', target: toNumber(queueSeconds) },
      { name: 'kiln_poll_lag_seconds', target: toNumber(pollLagSeconds) },
    ],
    stabilisationMs: toNumber(cooldownSeconds) * 1_000,
    periodMs: secondsIn(keda, /\{ type: Pods, value: 1, periodSeconds: (\d+) \}/),
  };
  return [byCpu('gateway'), byCpu('media'), worker];
}

function toNumber(value: unknown): number {
  const number = Number(value);
  if (!Number.isFinite(number)) throw new Error(`the chart has ${String(value)} in place of a number`);
  return number;
}

function secondsIn(text: string, pattern: RegExp): number {
  return toNumber(pattern.exec(text)?.[1]) * 1_000;
}
