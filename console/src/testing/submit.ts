import { fireEvent } from '@testing-library/preact';

/** Sends a form, by the Enter key as it were; the page must not be left for it. */
export function submit(form: Element | null | undefined): void {
  if (form === null || form === undefined) throw new Error('there is no form');
  if (fireEvent.submit(form)) throw new Error('the browser leaves the page with its form');
}
