import { useEnvironment } from '../environment/use-environment.ts';
import { providerContract } from './contract.ts';
import { rows } from './rows.ts';

// All of them in one world, which is as new before each test.
const world = useEnvironment({ queuedMs: 20, runningMs: 60, progressSteps: 3 });
for (const [number, row] of rows.entries()) providerContract({ row, number, world });
