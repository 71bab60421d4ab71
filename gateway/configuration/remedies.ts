import { z } from 'zod';

/** Parts of the form whose messages are the remedy. */

/** The message of what is wrong or missing. */
export function must(remedy: string) {
  return {
    error: ({ input }: { readonly input?: unknown }) =>
      input === undefined ? `is missing: it ${remedy}` : remedy,
  };
}

/** A whole number. */
export function integer(least: number, most: number) {
  const remedy = must(`must be a whole number from ${least} to ${most}`);
  return z.int(remedy).min(least, remedy).max(most, remedy);
}

/** A URL of one of these schemes. */
export function address(schemes: readonly string[]) {
  const remedy = must(
    `must be an address that begins with ${schemes.map((one) => `${one}//`).join(' or ')}, without user name`,
  );
  return z.string(remedy).refine((value) => {
    const url = URL.parse(value);
    return url !== null && schemes.includes(url.protocol) && url.username === '' && url.password === '';
  }, remedy);
}
