import type { Answer } from '../../http/answer.ts';
import type { Wire } from '../../http/wire.ts';

/** How a wire takes its key in the header Authorization. */
export interface KeyOptions {
  /** The word before the key, as `Bearer`. */
  readonly scheme: string;
  /** The key; null: any is taken. */
  readonly secret: string | null;
  /** Paths that need no key. */
  readonly isOpen: (path: string) => boolean;
  /** The answer to a request without the key. */
  readonly refusal: () => Answer;
}

/** Makes the check of a key in the header Authorization. */
export function authorizeByKey({
  scheme,
  secret,
  isOpen,
  refusal,
}: KeyOptions): NonNullable<Wire['authorize']> {
  return ({ path, headers }) => {
    const credential = headers['authorization'];
    const isIn = secret === null ? credential !== undefined : credential === `${scheme} ${secret}`;
    return isIn || isOpen(path) ? { path, params: {} } : { answer: refusal() };
  };
}
