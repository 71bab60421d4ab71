import { z } from 'zod';

import { coversWire } from '../faults/faults.ts';
import { DEFAULT_PACE } from '../jobs/latency-profile.ts';
import type { Pace } from '../jobs/latency-profile.ts';

const paceChange = z.strictObject({
  /** A wire's name, or `*` for all. */
  wire: z.string().default('*'),
  queuedMs: z.number().int().min(0).max(600_000).optional(),
  runningMs: z.number().int().min(0).max(600_000).optional(),
  progressSteps: z.number().int().min(1).max(100).optional(),
  concurrency: z.number().int().min(1).max(10_000).optional(),
  queueSize: z.number().int().min(0).max(100_000).optional(),
});

/** What is sent to /_control/pace: the wire, and what changes. */
export type PaceChange = z.input<typeof paceChange>;

/** Each wire's pace. */
export interface Paces {
  of(wire: string): Pace;
  /** Changes one wire's pace, or all; jobs that run keep the steps they began. Throws ZodError. */
  change(change: unknown): Record<string, Pace>;
  list(): Record<string, Pace>;
  reset(): void;
}

/** Every wire starts at its own first pace. */
export function createPaces(first: Readonly<Record<string, Partial<Pace>>>): Paces {
  const initial = () =>
    new Map(Object.entries(first).map(([wire, pace]) => [wire, { ...DEFAULT_PACE, ...pace }]));
  let paces = initial();
  const list = () => Object.fromEntries(paces);
  return {
    of: (wire) => paces.get(wire) ?? DEFAULT_PACE,
    change(change) {
      const { wire, ...given } = paceChange.parse(change);
      const values = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      for (const [name, pace] of paces) {
        if (coversWire(wire, name)) paces.set(name, { ...pace, ...values });
      }
      return list();
    },
    list,
    reset() {
      paces = initial();
    },
  };
}
