import { rows } from '../rows/rows.ts';
import { providerContract } from './contract.ts';

for (const row of rows) providerContract(row);
