import { describe } from 'vitest';

import { useEnvironment } from '../environment/use-environment.ts';
import { jobContract } from './job-contract.ts';
import type { ContractRow } from './row.ts';
import { shortContract } from './short-contract.ts';

/** Runs the whole contract over one provider, against its stand-in, over real sockets with the real HTTP client. */
export function providerContract(row: ContractRow): void {
  describe(`the provider ${[row.provider, row.api].filter(Boolean).join(' ')}`, () => {
    const world = useEnvironment({ wire: row.provider, queuedMs: 20, runningMs: 60, progressSteps: 3 });
    for (const job of row.jobs) jobContract(row, job, world);
    for (const short of row.short) shortContract(row, short, world);
  });
}
