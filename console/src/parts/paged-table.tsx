import type { ReactNode } from 'react';

import type { Pages } from '../api/use-pages.ts';
import { MoreButton } from './buttons.tsx';
import { TableFrame } from './looks/table.tsx';
import { Problem } from './problem.tsx';

interface PagedTableProps {
  readonly label: string;
  readonly pages: Pages;
  /** In the place of the table while the list has nothing. */
  readonly empty: ReactNode;
  /** The heads of its columns. */
  readonly heads?: ReactNode;
  /** A row for each edge. */
  readonly children: ReactNode;
}

/** A list that is read page by page: its table or why there is none, and a button for the next page. */
export function PagedTable({ label, pages, empty, heads, children }: PagedTableProps) {
  const { list, edges, error, isLoading, more } = pages;
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      {list !== undefined && edges.length === 0 && empty}
      {edges.length > 0 && (
        <TableFrame label={label} aria-busy={isLoading}>
          <table>
            {heads !== undefined && (
              <thead>
                <tr>{heads}</tr>
              </thead>
            )}
            <tbody>{children}</tbody>
          </table>
        </TableFrame>
      )}
      <MoreButton isLoading={isLoading} onMore={more} />
    </>
  );
}
