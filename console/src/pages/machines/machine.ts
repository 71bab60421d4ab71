import type { MachinesQuery } from '../../api/operations.ts';

/** A machine of the pool. */
export type Machine = MachinesQuery['comfyServers'][number];
