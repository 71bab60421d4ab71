import type { Logger } from '../../platform/process/logger.ts';
import type { CallerLookup } from '../authentication/credentials.ts';
import type { FindElsewhere } from '../transports/websocket/elsewhere.ts';
import type { Cells } from './cells-file.ts';
import { askHomeCell } from './home-callers.ts';
import { operationElsewhere } from './operations-elsewhere.ts';
import { createCellProxy } from './pass-on.ts';
import { type CellSteps, passOnToCells } from './step.ts';

/** What a gateway does with the other cells. */
export interface CellLinks {
  readonly cells: Cells;
  /** Passes requests that are for another cell on to it. */
  readonly steps: CellSteps;
  /** Asks the home cell about credentials; null in the home cell itself. */
  readonly lookup: CallerLookup | null;
  /** Finds the cell that runs an operation of a WebSocket. */
  readonly elsewhere: FindElsewhere;
  close(): Promise<void>;
}

/** Makes the links; connections are made when they are first needed. */
export function createCellLinks({
  cells,
  logger,
  isOpen = false,
}: {
  readonly cells: Cells;
  readonly logger: Logger;
  /** Whether nobody needs a credential (default: no). */
  readonly isOpen?: boolean;
}): CellLinks {
  const proxy = createCellProxy({ cells, logger });
  const homeUrl = cells.home === cells.own ? undefined : cells.urls.get(cells.home);
  const home = homeUrl === undefined ? null : askHomeCell(homeUrl);
  return {
    cells,
    steps: passOnToCells({ cells, proxy, isOpen }),
    lookup: home?.lookup ?? null,
    elsewhere: (operation, socket) => operationElsewhere(cells, operation, socket),
    async close() {
      await Promise.all([proxy.close(), home?.close()]);
    },
  };
}
