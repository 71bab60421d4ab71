import { createProviders } from '../../../subgraphs/media/providers/registry.ts';

/** A kind of work of a provider, with the interval that the product asks it at. */
export interface Wire {
  readonly name: string;
  readonly pollMs: number;
  /** Milliseconds that such work runs, on the average. */
  readonly runsMs: number;
}

/** What such work usually takes at its provider: an image seconds, a video minutes. */
const RUNS_MS: Readonly<Record<string, number>> = { IMAGE: 20_000, VIDEO: 120_000 };

/** The images and videos of all providers that are asked for their status. */
export function wires(): readonly Wire[] {
  const unused = () => Promise.reject(new Error('only looked at'));
  const providers = createProviders({ http: { request: unused, download: unused, close: unused } });
  return Object.values(providers).flatMap(({ name, jobs = {} }) =>
    Object.entries(jobs).flatMap(([kind, job]) => {
      const runsMs = RUNS_MS[kind];
      return runsMs === undefined ? [] : [{ name: `${name} ${kind}`, pollMs: job.pollMs, runsMs }];
    }),
  );
}
