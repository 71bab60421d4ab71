import type { MachinesQuery } from '../../api/documents/operations.ts';

/** A machine of the pool. */
export type Machine = MachinesQuery['comfyServers'][number];
