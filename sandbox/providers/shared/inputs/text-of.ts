/** The value if it is a text that is not blank, else null. */
export function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
