import { describe, expect, it } from 'vitest';

import { findCapabilities, type Environment } from '../environment/environment.ts';
import { useEnvironment } from '../environment/use-environment.ts';
import { jobContract } from './job-contract.ts';
import type { ContractRow } from './row.ts';
import { shortContract } from './short-contract.ts';

/** A provider, and where it is tried. */
export interface ProviderUnderTest {
  readonly row: ContractRow;
  /** Which of all providers it is: each tries another of the faults of a connection. */
  readonly number: number;
  readonly world: () => Environment;
}

/**
 * Runs the whole contract over one provider, against its stand-in, over real sockets with the real HTTP client. Each job and each call
 * that is answered at once has a world of its own, so that they run at the same time: most of their time they wait.
 */
export function providerContract(row: ContractRow, number: number): void {
  const api = [row.provider, row.api].filter(Boolean).join(' ');
  const inOwnWorld = (contract: (tested: ProviderUnderTest) => void) =>
    describe.concurrent(`the provider ${api}`, () => {
      const world = useEnvironment({ queuedMs: 20, runningMs: 60, progressSteps: 3 });
      contract({ row, number, world });
    });
  describe.concurrent(`the provider ${api}`, () => {
    it('goes by its own name, and its work is asked for neither hastily nor seldom', () => {
      const { name, jobs = {} } = findCapabilities(row.provider) ?? {};
      expect(name).toBe(row.provider);
      for (const { pollMs } of Object.values(jobs)) {
        expect(pollMs).toBeGreaterThanOrEqual(500);
        expect(pollMs).toBeLessThanOrEqual(10_000);
      }
    });
  });
  for (const job of row.jobs) inOwnWorld((tested) => jobContract(tested, job));
  for (const short of row.short) inOwnWorld((tested) => shortContract(tested, short));
}
