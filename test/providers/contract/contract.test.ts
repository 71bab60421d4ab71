import { providerContract } from './contract.ts';
import { rows } from './rows.ts';

for (const [number, row] of rows.entries()) providerContract(row, number);
