import { describe, expect, it } from 'vitest';

import { findCapabilities } from '../environment/environment.ts';
import { useEnvironment } from '../environment/use-environment.ts';
import { jobContract } from './job-contract.ts';
import type { ContractRow } from './row.ts';
import { shortContract } from './short-contract.ts';

/** Runs the whole contract over one provider, against its stand-in, over real sockets with the real HTTP client. */
export function providerContract(row: ContractRow): void {
  describe(`the provider ${[row.provider, row.api].filter(Boolean).join(' ')}`, () => {
    it('goes by its own name, and its work is asked for neither hastily nor seldom', () => {
      const { name, jobs = {} } = findCapabilities(row.provider) ?? {};
      expect(name).toBe(row.provider);
      for (const { pollMs } of Object.values(jobs)) {
        expect(pollMs).toBeGreaterThanOrEqual(500);
        expect(pollMs).toBeLessThanOrEqual(10_000);
      }
    });
    const world = useEnvironment({ wire: row.provider, queuedMs: 20, runningMs: 60, progressSteps: 3 });
    for (const job of row.jobs) jobContract(row, job, world);
    for (const short of row.short) shortContract(row, short, world);
  });
}
