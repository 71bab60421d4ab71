import { z } from 'zod';

import { coversWire } from '../faults/faults.ts';
import { DEFAULT_LATENCY } from '../jobs/latency-profile.ts';
import type { LatencyProfile } from '../jobs/latency-profile.ts';

const latencyChange = z.strictObject({
  /** A wire's name, or `*` for all. */
  wire: z.string().default('*'),
  queuedMs: z.number().int().min(0).max(600_000).optional(),
  runningMs: z.number().int().min(0).max(600_000).optional(),
  progressSteps: z.number().int().min(1).max(100).optional(),
  holdAt: z.number().int().min(0).max(100).optional(),
  concurrency: z.number().int().min(1).max(10_000).optional(),
  queueSize: z.number().int().min(0).max(100_000).optional(),
});

/** The body of a request to /_control/latency. */
export type LatencyChange = z.input<typeof latencyChange>;

/** The latency profiles of all wires. */
export interface LatencyProfiles {
  of(wire: string): LatencyProfile;
  /** Changes the profile of one wire, or of all; a running step is not affected. Throws ZodError. */
  change(change: unknown): Record<string, LatencyProfile>;
  list(): Record<string, LatencyProfile>;
  reset(): void;
}

/** Creates the profiles with their initial values. */
export function createLatencyProfiles(
  first: Readonly<Record<string, Partial<LatencyProfile>>>,
): LatencyProfiles {
  const initial = () =>
    new Map(Object.entries(first).map(([wire, latency]) => [wire, { ...DEFAULT_LATENCY, ...latency }]));
  let profiles = initial();
  const list = () => Object.fromEntries(profiles);
  return {
    of: (wire) => profiles.get(wire) ?? DEFAULT_LATENCY,
    change(change) {
      const { wire, ...changed } = latencyChange.parse(change);
      const values = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
      for (const [name, latency] of profiles) {
        if (coversWire(wire, name)) profiles.set(name, { ...latency, ...values });
      }
      return list();
    },
    list,
    reset() {
      profiles = initial();
    },
  };
}
