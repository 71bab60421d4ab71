import { providerContract } from './contract.ts';
import { rows } from './rows.ts';

for (const row of rows) providerContract(row);
