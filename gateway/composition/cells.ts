import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { type CellLinks, createCellLinks } from '../cells/cell-links.ts';
import { readCellsFile } from '../cells/cells-file.ts';

/** The links to the other cells that CELLS_FILE names; undefined without one. */
export function composeCells({ config, logger, lifecycle }: ProcessParts): CellLinks | undefined {
  const { own, file } = config.cells;
  if (file === null) return undefined;
  const links = createCellLinks({
    cells: readCellsFile(file, own),
    logger: logger.part('gateway'),
    isOpen: config.auth.mode === 'open',
  });
  lifecycle.add('links to other cells', () => links.close());
  return links;
}
