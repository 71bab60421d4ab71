import { useState } from 'react';

/** As far as the server counts a list: one more says that there are more. */
const MOST_COUNTED = 10_000;

/** A total in words, such as `10,000+`. */
export function formatTotal(total: number): string {
  return total > MOST_COUNTED ? `${MOST_COUNTED.toLocaleString()}+` : total.toLocaleString();
}

/** How many there are: the server's total, and those of the `added` ones that it was told too early to hold. */
export function useTotal(total: number | null, added: number): number | null {
  const [counted, setCounted] = useState({ total, added: 0 });
  if (counted.total !== total) {
    setCounted({ total, added: counted.total === null ? 0 : added });
  }
  const held = counted.total === total ? counted.added : counted.total === null ? 0 : added;
  return total === null ? null : total + Math.max(0, added - held);
}
