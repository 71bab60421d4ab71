import type { IncomingMessage } from 'node:http';

import { AppError } from '../../platform/errors.ts';

/** What the faces read of a request alike. */

/** The parameters of a path without their percent signs. NOT_FOUND where they are not well encoded. */
export function decodePathParams(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  try {
    return Object.fromEntries(
      Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch (cause) {
    throw new AppError('NOT_FOUND', 'the path is not well encoded', { cause });
  }
}

/** The token of X-Manage-Token, by which whoever made something without a credential may delete it; null without one. */
export function readManageToken({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  const token = headers['x-manage-token'];
  return typeof token === 'string' ? token : null;
}

/** The path and query of a file's address, without the path of PUBLIC_URL. */
export function fileAddress(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname.slice(pathname.lastIndexOf('/files/'))}${search}`;
}
